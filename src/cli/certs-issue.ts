import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { GateError, messageOf, quote } from '../errors.ts';
import type { TlsPair } from '../http/certificate.ts';
import { makeDirectory } from '../make-directory.ts';
import { readInputFile } from './input-file.ts';
import { addOutputOption, EXIT, sayUsage, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
  readonly out: string;
  readonly days: number;
  readonly caCert?: string;
  readonly caKey?: string;
  readonly force?: true;
  readonly output: OutputFormat;
}

/** As the http room's own default for a leaf. */
const DEFAULT_DAYS = 90;
/** The longest that clients of today accept in a leaf they did not issue: 825 days (Apple, 2019), rounded up. */
const MAX_DAYS = 830;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .option('--dns <names>', 'DNS names of the certificate, repeated or with commas', collect)
    .option('--ip <addresses>', 'IP addresses of the certificate, repeated or with commas', collect)
    .option('--out <dir>', 'where the files are written', '.')
    .option('--days <number>', 'days the certificate is valid', parseDays, DEFAULT_DAYS)
    .option('--ca-cert <file>', 'use this CA certificate instead of a new one (with --ca-key)')
    .option('--ca-key <file>', 'private key of --ca-cert, on ECDSA P-256')
    .option('--force', 'overwrite files that are there');
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Writes tls.crt and tls.key, and a new CA as ca.crt and ca.key unless one is given. Files are readable by their owner
alone. Keep ca.key away from the server: it is needed for the next certificate only.

Examples:
  pacto-gate certs issue --dns pacto-gate.pacto-system.svc --out certs/generated
  pacto-gate certs issue --dns gate.example.com --ip 10.0.0.7 --ca-cert ca.crt --ca-key ca.key --days 30`,
  );
  command.action(async (options: Options) => {
    finish(sayUsage(around, command, problemsOf(options)) ? EXIT.usage : await issue(options, around));
  });
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((item) => item.trim())];
}

function parseDays(value: string): number {
  const days = Number(value);
  if (!/^\d{1,4}$/.test(value) || days < 1 || days > MAX_DAYS)
    throw new InvalidArgumentError(`need a whole number from 1 to ${String(MAX_DAYS)}`);
  return days;
}

function problemsOf({ caCert, caKey, dns = [], ip = [] }: Options): readonly string[] {
  // A certificate holds no zone of an address (RFC 5280 §4.2.1.6).
  const wrong = ip.filter((address) => isIP(address) === 0 || address.includes('%'));
  return [
    ...((caCert === undefined) === (caKey === undefined)
      ? []
      : ['--ca-cert and --ca-key: need both or neither']),
    ...wrong.map(
      (address) =>
        `--ip: need IP addresses, found ${quote(address)}${address.includes('%') ? ' with a zone' : ''}`,
    ),
    ...(dns.length + ip.length === 0 ? ['need --dns or --ip'] : []),
  ];
}

async function issue(options: Options, around: Surroundings): Promise<ExitCode> {
  const { dns = [], ip = [] } = options;
  const { issueAuthority, issueLeaf } = await import('../http/issue.ts');
  const { inspectCertificate } = await import('../http/certificate.ts');
  const nowMs = around.clock.now();
  const given = await readAuthority(options);
  const authority = given ?? (await issueAuthority({ nowMs }));
  const leaf = await issueLeaf(authority, {
    nowMs,
    dnsNames: dns,
    ipAddresses: ip,
    validDays: options.days,
  });
  const files: [name: string, text: string][] = [
    ['tls.crt', leaf.certPem],
    ['tls.key', leaf.keyPem],
  ];
  if (given === undefined) files.push(['ca.crt', authority.certPem], ['ca.key', authority.keyPem]);
  const written = await writeAll(options.out, files, options.force === true);

  const facts = inspectCertificate(leaf.certPem);
  const notAfter = new Date(facts.notAfterMs).toISOString();
  const caBundle = Buffer.from(authority.certPem).toString('base64');
  const result = {
    files: written,
    notAfter,
    dnsNames: facts.dnsNames,
    ipAddresses: facts.ipAddresses,
    caBundle,
  };
  const text = [
    ...written.map((file) => `wrote ${file}`),
    `valid until ${notAfter} for ${[...facts.dnsNames, ...facts.ipAddresses].join(', ')}`,
    `caBundle: ${caBundle}`,
  ].join('\n');
  await show(around, options.output, result, text);
  return EXIT.ok;
}

async function readAuthority(options: Options): Promise<TlsPair | undefined> {
  if (options.caCert === undefined || options.caKey === undefined) return undefined;
  const { checkPair, inspectCertificate } = await import('../http/certificate.ts');
  const pair = { certPem: await readInputFile(options.caCert), keyPem: await readInputFile(options.caKey) };
  // Expiry of a CA is judged where it signs; here the pair alone matters, so it is asked for at a time of its life.
  checkPair(pair, inspectCertificate(pair.certPem).notBeforeMs, `${options.caCert} and ${options.caKey}`);
  return pair;
}

/** Writes everything beside its place first, then puts it there in one step each: no half-written key is ever read. */
async function writeAll(
  directory: string,
  files: readonly [name: string, text: string][],
  force: boolean,
): Promise<readonly string[]> {
  const temporary: string[] = [];
  const placed: string[] = [];
  try {
    await makeDirectory(directory, 0o700);
    for (const [name, text] of files) {
      const path = join(directory, `.${name}.${randomUUID()}`);
      temporary.push(path);
      const handle = await open(path, 'wx', 0o600);
      try {
        await handle.writeFile(text);
      } finally {
        await handle.close();
      }
    }
    if (force) await refuseDirectories(directory, files);
    for (const [index, [name]] of files.entries()) {
      const path = join(directory, name);
      const from = temporary[index] ?? '';
      // A link fails where anything is there, so that nobody's key is lost.
      await (force ? rename(from, path) : link(from, path));
      placed.push(path);
    }
    return placed;
  } catch (error) {
    if (error instanceof GateError) throw error;
    if (!force) for (const path of placed) await rm(path, { force: true });
    throw new GateError('GATE_INPUT_FILE', `directory ${directory}: ${whyNotWritten(error)}`, {
      cause: error,
    });
  } finally {
    for (const path of temporary) await rm(path, { force: true });
  }
}

/** Before the first file is replaced: a new certificate without its key is worth nothing. */
async function refuseDirectories(
  directory: string,
  files: readonly [name: string, text: string][],
): Promise<void> {
  for (const [name] of files) {
    const facts = await lstat(join(directory, name)).catch(() => undefined);
    if (facts?.isDirectory() === true)
      throw new GateError(
        'GATE_INPUT_FILE',
        `directory ${directory}: ${name} is a directory, need a file: move it away, or give another --out`,
      );
  }
}

function whyNotWritten(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EEXIST':
      return 'a file to be written is already there: give another --out, or --force';
    case 'ENOTDIR':
      return 'a file stands where a directory is needed: give another --out';
    default:
      return `cannot be written: ${messageOf(error)}`;
  }
}
