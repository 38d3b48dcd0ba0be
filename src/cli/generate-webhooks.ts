import { InvalidArgumentError, type Command } from 'commander';
import { entriesOf } from '../app-entries.ts';
import { RULE_SECTIONS } from '../config-keys.ts';
import { GateError } from '../errors.ts';
import { checkBundle, plainBundle } from '../http/certificate.ts';
import type { ClientTarget } from '../policies/entry.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { readInputFile } from './input-file.ts';
import { addOutputOption, EXIT, say, show, toYaml, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly service?: ServiceTarget;
  readonly url?: string;
  readonly caFile?: string;
  readonly kubeVersion?: number;
  readonly timeoutSeconds: number;
  readonly output: OutputFormat;
}

interface ServiceTarget {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The API server's own default and bounds (webhook-operations.md W04). */
const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 30;
/**
 * Every entry selects namespaces by the label kubernetes.io/metadata.name. Before this minor a cluster may not set it
 * (KEP-2161: stable in 1.22), and an entry would then select nothing and enforce nothing.
 */
const FIRST_MINOR = 22;
const LAST_MINOR = 99;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .option(
      '--service <namespace/name[:port]>',
      'Service in front of the server (port 443 if left out)',
      parseService,
    )
    .option('--url <url>', 'https URL of the server, instead of --service', parseUrl)
    .option('--ca-file <file>', 'CA certificates that the API server is to trust, PEM')
    .option(
      '--kube-version <version>',
      `of the API server, for example 1.29; 1.${String(FIRST_MINOR)} at least (default: 1.28 or later)`,
      parseVersion,
    )
    .option(
      '--timeout-seconds <number>',
      `how long the API server waits, 1 to ${String(MAX_TIMEOUT_SECONDS)}`,
      parseTimeout,
      DEFAULT_TIMEOUT_SECONDS,
    );
  const given = addConfigOptions(command, RULE_SECTIONS);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
The same input gives the same bytes. Apply them when the server is ready, not before: entries with failure policy Fail
and no server behind them refuse what they select.

Examples:
  pacto-gate generate webhooks --service pacto-system/pacto-gate --ca-file ca.crt | kubectl apply --server-side -f -
  pacto-gate generate webhooks --url https://10.0.0.7:9443 --ca-file ca.crt --kube-version 1.27`,
  );
  command.action(async (options: Options) => {
    finish(await generate(command, given, options, around));
  });
}

async function generate(
  command: Command,
  given: GivenConfig,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const { service, url } = options;
  const problems =
    (service === undefined) === (url === undefined)
      ? [service === undefined ? 'need --service or --url' : '--service and --url: need one of them']
      : [];
  const config = await given.read(around, command, problems);
  if (config === undefined) return EXIT.usage;
  const target: ClientTarget = service === undefined ? { url: url ?? '' } : { service };
  const caBundle = options.caFile === undefined ? undefined : await readBundle(options.caFile);
  const { identity } = entriesOf(config, {
    target,
    timeoutSeconds: options.timeoutSeconds,
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(options.kubeVersion === undefined ? {} : { kubeMinor: options.kubeVersion }),
  });
  const { configuration, notes } = identity;
  for (const note of notes) say(around, note);
  if (caBundle === undefined)
    say(
      around,
      'no --ca-file: the API server then trusts only what its own machine trusts. Give the CA of the server',
    );
  if (configuration.webhooks.length === 0) {
    say(
      around,
      'identity.enabled is false, which switches off all three rules of node identity: nothing needs an entry',
    );
    return EXIT.usage;
  }
  const text = `${HEADER}${(await toYaml(configuration)).trimEnd()}`;
  await show(around, options.output, configuration, text);
  return EXIT.ok;
}

const HEADER =
  '# Made by pacto-gate generate webhooks. Apply it when the server is ready, and delete it before the server.\n';

async function readBundle(file: string): Promise<string> {
  const pem = await readInputFile(file);
  checkBundle(pem, `file ${file}`);
  // A key beside the certificates would be published to everybody who may read webhook configurations.
  if (pem.includes('PRIVATE KEY'))
    throw new GateError(
      'GATE_INPUT_FILE',
      `file ${file}: holds a private key: give the CA certificates alone`,
    );
  return plainBundle(pem);
}

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const SERVICE = new RegExp(`^(${LABEL})/(${LABEL})(?::(\\d{1,5}))?$`);

function parseService(text: string): ServiceTarget {
  const [, namespace, name, port = '443'] = SERVICE.exec(text) ?? [];
  if (namespace === undefined || name === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new InvalidArgumentError('need namespace/name or namespace/name:port');
  return { namespace, name, port: Number(port) };
}

/** As the API server validates it: https, a host, and neither user, query nor fragment. */
function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw new InvalidArgumentError('need an https URL without user, query and fragment');
  return text;
}

function parseVersion(text: string): number {
  const [, minor] = /^v?1\.(\d{1,2})(?:[.+-].*)?$/.exec(text) ?? [];
  if (minor === undefined || Number(minor) > LAST_MINOR)
    throw new InvalidArgumentError('need a version like 1.29');
  if (Number(minor) < FIRST_MINOR)
    throw new InvalidArgumentError(
      `need 1.${String(FIRST_MINOR)} or later: before that, namespaces need not have the label kubernetes.io/metadata.name, by which every entry selects, so that nothing would be enforced`,
    );
  return Number(minor);
}

function parseTimeout(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > MAX_TIMEOUT_SECONDS)
    throw new InvalidArgumentError(`need a whole number from 1 to ${String(MAX_TIMEOUT_SECONDS)}`);
  return Number(text);
}
