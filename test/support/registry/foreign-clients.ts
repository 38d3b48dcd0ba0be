/** skopeo and oras: clients that others wrote, run as a user would, with nothing of this machine's own settings. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findRegistryTools } from '../../../scripts/registrytools/tools.ts';

/** Each answers in well under a second; a loaded machine needs longer. */
const TIMEOUT_MS = 60_000;

/** How a client reaches a registry. */
export interface Access {
  readonly secure: boolean;
  readonly user?: { readonly username: string; readonly password: string };
}

export interface ForeignClients {
  /** Runs skopeo. @returns its standard output; @throws Error with its words when it fails. */
  skopeo(args: readonly string[]): Promise<string>;
  /** Runs oras in `directory`, to which the files it pushes and pulls are relative. */
  oras(args: readonly string[], directory?: string): Promise<string>;
  /** Options for the source, the destination, or the one registry of a skopeo command. */
  skopeoAccess(access: Access, side?: 'src' | 'dest'): string[];
  orasAccess(access: Access): string[];
}

/**
 * @param directory gets their home folders.
 * @param caPem what they trust instead of the machine's authorities.
 */
export function foreignClients(directory: string, caPem: string): ForeignClients {
  const tools = findRegistryTools();
  const home = join(directory, 'clients');
  const certificates = join(home, 'certificates');
  mkdirSync(certificates, { recursive: true });
  const ca = join(certificates, 'ca.crt');
  writeFileSync(ca, caPem);
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, LD_LIBRARY_PATH: tools.libraries };
  const run = async (program: string, args: readonly string[], cwd: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { cwd, env, timeout: TIMEOUT_MS });
    return stdout;
  };
  return {
    skopeo: (args) => run(tools.skopeo, ['--insecure-policy', ...args], home),
    oras: (args, directory = home) => run(tools.oras, args, directory),
    skopeoAccess({ secure, user }, side) {
      const prefix = side === undefined ? '' : `${side}-`;
      const transport = secure ? [`--${prefix}cert-dir`, certificates] : [`--${prefix}tls-verify=false`];
      const who = user ? [`--${prefix}creds`, `${user.username}:${user.password}`] : [`--${prefix}no-creds`];
      return [...transport, ...who];
    },
    orasAccess({ secure, user }) {
      const transport = secure ? ['--ca-file', ca] : ['--plain-http'];
      const who = user ? ['--username', user.username, '--password', user.password] : [];
      return [...transport, ...who];
    },
  };
}
