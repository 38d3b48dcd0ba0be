import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import { GateError } from '../errors.ts';
import { checkBundle, inspectCertificate, type CertificateFacts } from '../http/certificate.ts';
import { readInputFile } from './input-file.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly key?: string;
  readonly ca?: string;
  readonly output: OutputFormat;
}

interface Inspected {
  readonly file: string;
  readonly facts: CertificateFacts;
  /** Empty where it serves. */
  readonly problems: readonly string[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument('<files...>', 'PEM files, each with one certificate or several')
    .option('--key <file>', 'check that this private key belongs to the first certificate of each file')
    .option('--ca <file>', 'check that the first certificate of each file was issued by one of these');
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Exits with 1 when a certificate has expired or is not valid yet, or a check fails.

Examples:
  pacto-gate certs inspect tls.crt --key tls.key --ca ca.crt
  kubectl get secret pacto-gate-tls -o jsonpath='{.data.tls\\.crt}' | base64 -d > tls.crt; pacto-gate certs inspect tls.crt`,
  );
  command.action(async (files: readonly string[], options: Options) => {
    finish(await inspect(files, options, around));
  });
}

async function inspect(files: readonly string[], options: Options, around: Surroundings): Promise<ExitCode> {
  const nowMs = around.clock.now();
  const keyPem = options.key === undefined ? undefined : await readInputFile(options.key);
  const authorities = options.ca === undefined ? undefined : await readCertificates(options.ca);
  const results: Inspected[] = [];
  for (const file of files) {
    for (const [index, pem] of (await readCertificates(file)).entries()) {
      const facts = inspectCertificate(pem);
      const problems = timeProblems(facts, nowMs);
      // A chain file starts with the leaf: key and issuer are its alone.
      if (index === 0 && keyPem !== undefined) problems.push(...keyProblems(pem, keyPem, options.key ?? ''));
      if (index === 0 && authorities !== undefined) problems.push(...issuerProblems(pem, authorities));
      results.push({ file, facts, problems });
    }
  }
  await show(
    around,
    options.output,
    results.map((result) => forMachines(result)),
    results.map((result) => forPeople(result, nowMs)).join('\n\n'),
  );
  return results.every((result) => result.problems.length === 0) ? EXIT.ok : EXIT.no;
}

async function readCertificates(file: string): Promise<readonly string[]> {
  const text = await readInputFile(file);
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0)
    throw new GateError('GATE_INPUT_FILE', `file ${file}: holds no PEM certificate: give a certificate`);
  checkBundle(text, `file ${file}`, 'GATE_INPUT_FILE');
  return blocks;
}

function timeProblems(facts: CertificateFacts, nowMs: number): string[] {
  if (nowMs >= facts.notAfterMs) return [`expired at ${iso(facts.notAfterMs)}: issue a new one`];
  if (nowMs < facts.notBeforeMs) return [`not valid before ${iso(facts.notBeforeMs)}: check the clocks`];
  return [];
}

function keyProblems(pem: string, keyPem: string, file: string): string[] {
  let key;
  try {
    key = createPrivateKey(keyPem);
  } catch {
    // The library's own words may quote the file.
    return [`${file} is no readable private key: need an unencrypted PEM key`];
  }
  return new X509Certificate(pem).checkPrivateKey(key) ? [] : [`${file} is the key of another certificate`];
}

function issuerProblems(pem: string, authorities: readonly string[]): string[] {
  const leaf = new X509Certificate(pem);
  const issued = authorities.some((text) => {
    const authority = new X509Certificate(text);
    return authority.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
  });
  return issued ? [] : ['was issued by none of the given CAs'];
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A day that has begun counts as left, so that a certificate for 90 days has 90 when it is new. */
function lifeOf({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number): string {
  const leftMs = notAfterMs - nowMs;
  if (leftMs <= 0) return `expired ${daysIn(Math.floor(-leftMs / DAY_MS))} ago`;
  if (nowMs < notBeforeMs) return 'not valid yet';
  return `${daysIn(leftMs < DAY_MS ? 0 : Math.ceil(leftMs / DAY_MS))} left`;
}

function daysIn(days: number): string {
  if (days === 0) return 'less than 1 day';
  return days === 1 ? '1 day' : `${String(days)} days`;
}

function forMachines({ file, facts, problems }: Inspected): Record<string, unknown> {
  const { notBeforeMs, notAfterMs, ...rest } = facts;
  return { file, ...rest, notBefore: iso(notBeforeMs), notAfter: iso(notAfterMs), problems };
}

function forPeople({ file, facts, problems }: Inspected, nowMs: number): string {
  return plain(
    [
      `${file}: ${facts.subject === '' ? 'no subject' : facts.subject}${facts.isCA ? ' (CA)' : ''}`,
      `  issuer       ${facts.issuer}`,
      `  names        ${[...facts.dnsNames, ...facts.ipAddresses].join(', ') || 'none'}`,
      `  valid        ${iso(facts.notBeforeMs)} to ${iso(facts.notAfterMs)} (${lifeOf(facts, nowMs)})`,
      `  key          ${facts.keyType}`,
      `  fingerprint  ${facts.fingerprint}`,
      ...problems.map((problem) => `  PROBLEM      ${problem}`),
    ].join('\n'),
  );
}
