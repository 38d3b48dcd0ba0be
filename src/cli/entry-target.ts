/** Where the entries that a command writes point: options, or the section installer of the configuration. */
import { InvalidArgumentError, type Command } from 'commander';
import { targetOf as configuredTarget } from '../app/target.ts';
import type { Config } from '../config.ts';
import { publicBundle } from '../http/certificate.ts';
import type { ClientTarget } from '../policies/entry.ts';
import { readInputFile } from './input-file.ts';

export interface TargetOptions {
  readonly service?: ServiceTarget;
  readonly url?: string;
  readonly caFile?: string;
}

interface ServiceTarget {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export function addTargetOptions(command: Command): void {
  command
    .option(
      '--service <namespace/name[:port]>',
      'Service in front of the server (port 443 if left out; default: installer.service)',
      parseService,
    )
    .option('--url <url>', 'https URL of the server, instead of --service (default: installer.url)', parseUrl)
    .option(
      '--ca-file <file>',
      'CA certificates that the API server is to trust, PEM (default: installer.caFile)',
    );
}

/** Either of them says it, and not both: what the options say goes before the configuration. */
export function targetOf({ service, url }: TargetOptions, config: Config): ClientTarget {
  if (service !== undefined) return { service };
  return url === undefined ? (configuredTarget(config) ?? { url: '' }) : { url };
}

/** @throws GateError GATE_INPUT_FILE */
export async function bundleOf(options: TargetOptions, { installer }: Config): Promise<string | undefined> {
  const file = options.caFile ?? installer.caFile;
  if (file === undefined) return undefined;
  return publicBundle(await readInputFile(file), `file ${file}`, 'GATE_INPUT_FILE');
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
