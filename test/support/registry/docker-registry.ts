/**
 * Real registries for tests: docker-registry processes on loopback that share one folder of blobs, so that what went
 * in by one door can be asked for at every other (platform.md §1.4).
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRegistryTools } from '../../../scripts/registrytools/tools.ts';
import type { TlsPair } from '../../../src/http/certificate.ts';
import { pollUntil } from '../../cluster/support/polling.ts';
import { createProcessGuard, tailOf, type ProcessGuard } from '../../cluster/support/processes.ts';
import type { TokenServer } from './token-server.ts';

/** The user of every registry here that wants one. The password is no secret: its hash is below. */
export const USER = { username: 'gate', password: 'correct-horse-0' } as const;

/** bcrypt of the password, the only hash that docker-registry takes; the least cost, so that it answers at once. */
const HTPASSWD = `${USER.username}:$2b$04$5bmw/nGdK8tLEIWYQDpaOu77r/XJ1NLDquERL2hqooTAS4yIcUFey\n`;

/** It starts in under a second; a loaded machine needs longer. */
const START_TIMEOUT_MS = 30_000;

/** Port 0 is asked for: the log says which one it became. */
const LISTENING = /listening on (127\.0\.0\.1:\d+)/;

export interface RegistryOptions {
  /** @defaultValue anonymous: everybody may pull and push. */
  readonly authentication?: 'anonymous' | 'basic' | { readonly tokens: TokenServer };
  /** Serves https with this certificate; plain http without. */
  readonly tls?: TlsPair;
}

export interface DockerRegistry {
  /** `127.0.0.1:PORT`: the registry part of a reference. */
  readonly host: string;
  /** `http://127.0.0.1:PORT` or https. */
  readonly origin: string;
  readonly secure: boolean;
  readonly pid: number;
}

export interface RegistrySite {
  /** A folder for the test's own files too; removed at the end. */
  readonly directory: string;
  /** @throws Error with the end of the registry's log when it does not start. */
  start(options?: RegistryOptions): Promise<DockerRegistry>;
  /** Ends each registry by its own process id and removes the folder. */
  close(): Promise<void>;
}

/** Opens a folder in which registries are started; they do not outlive the test process, however it ends. */
export async function openRegistrySite(): Promise<RegistrySite> {
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-registry-'));
  const guard = await createProcessGuard(directory);
  mkdirSync(join(directory, 'blobs'));
  let started = 0;
  return {
    directory,
    start: (options = {}) => startRegistry(directory, guard, `registry-${(started += 1)}`, options),
    close: () => guard.close(),
  };
}

async function startRegistry(
  directory: string,
  guard: ProcessGuard,
  name: string,
  options: RegistryOptions,
): Promise<DockerRegistry> {
  const tools = findRegistryTools();
  if (tools.problem !== undefined) throw new Error(`cannot start a registry: ${tools.problem}`);
  const own = join(directory, name);
  mkdirSync(own);
  const configuration = join(own, 'config.yml');
  // JSON is YAML.
  writeFileSync(configuration, JSON.stringify(describeRegistry(directory, own, options)));
  const logFile = join(own, 'log');
  const server = await guard.start(name, tools.dockerRegistry, ['serve', configuration], logFile);
  const host = await pollUntil(`${name} to listen`, START_TIMEOUT_MS, async () => {
    const ending = server.ending();
    if (ending !== undefined)
      throw new Error(`${name} ended with ${ending}; the end of its log:\n${tailOf(logFile)}`);
    return LISTENING.exec(readFileSync(logFile, 'utf8'))?.[1];
  });
  const secure = options.tls !== undefined;
  return { host, origin: `${secure ? 'https' : 'http'}://${host}`, secure, pid: server.pid };
}

/** The configuration file (`docker-registry` documents it as registry/configuration). */
function describeRegistry(directory: string, own: string, { authentication, tls }: RegistryOptions): unknown {
  return {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(directory, 'blobs') },
      delete: { enabled: true },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: '127.0.0.1:0',
      // Signs the state of uploads; one for all, since they share uploads too.
      secret: 'shared',
      ...(tls === undefined ? {} : { tls: writePair(own, tls) }),
    },
    ...describeAuthentication(own, authentication ?? 'anonymous'),
  };
}

function describeAuthentication(
  own: string,
  authentication: Required<RegistryOptions>['authentication'],
): Readonly<Record<string, unknown>> {
  if (authentication === 'anonymous') return {};
  if (authentication === 'basic') {
    const path = join(own, 'htpasswd');
    writeFileSync(path, HTPASSWD);
    return { auth: { htpasswd: { realm: 'registry of a test', path } } };
  }
  const { tokens } = authentication;
  const rootcertbundle = join(own, 'token-authority.pem');
  writeFileSync(rootcertbundle, tokens.authorityPem);
  return {
    auth: {
      token: { realm: tokens.realm, service: tokens.service, issuer: tokens.issuer, rootcertbundle },
    },
  };
}

function writePair(own: string, { certPem, keyPem }: TlsPair): { certificate: string; key: string } {
  const certificate = join(own, 'certificate.pem');
  const key = join(own, 'key.pem');
  writeFileSync(certificate, certPem);
  writeFileSync(key, keyPem, { mode: 0o600 });
  return { certificate, key };
}
