/**
 * Docker's and Podman's files of credentials (contract.md §11.6 source 4, platform.md §1.3 rule 12). Keys are hosts,
 * URLs such as `https://index.docker.io/v1/`, hosts with a path, or `*.example.com` as the kubelet takes them; of those
 * that fit, the longest counts.
 */
import { quote } from '../../errors.ts';
import type { Credential, CredentialSource } from '../credential.ts';
import { ExpiringCache } from '../cache.ts';
import { readCredentialFile } from './credential-file.ts';
import { askHelper, type HelperOptions } from './credential-helper.ts';
import { credentialOf, ownField, textField } from './login.ts';
import { registryHost } from './registry-host.ts';

/** As long as the shortest tokens live (platform.md §1.3 rule 7). */
const HELPER_TTL_MS = 60_000;

interface DockerConfigFile {
  readonly path: string;
  /** Somebody configured it: see readCredentialFile. */
  readonly mustBeThere: boolean;
}

/**
 * @param files in order; the first with something for the host counts.
 * @param helpers undefined where no program may be started (`registry.credentialHelpers`).
 */
export function dockerConfigCredentials(
  files: readonly DockerConfigFile[],
  helpers: HelperOptions | undefined,
): CredentialSource {
  // A client asks for each request; a helper is a program to start.
  const answers =
    helpers &&
    new ExpiringCache<Credential | undefined>({
      clock: helpers.clock,
      ttlMs: HELPER_TTL_MS,
      maxEntries: 100,
    });
  return {
    name: 'docker config',
    async for(host: string, repository: string): Promise<Credential | undefined> {
      for (const { path, mustBeThere } of files) {
        const config = await readCredentialFile(path, mustBeThere);
        const found =
          (helpers && (await answers?.get(`${path} ${host}`, () => fromHelper(config, host, helpers)))) ??
          credentialIn(config, host, repository, 'the docker config');
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async unused(host: string): Promise<string | undefined> {
      if (helpers !== undefined) return undefined;
      for (const { path, mustBeThere } of files) {
        const found = helperFor(await readCredentialFile(path, mustBeThere), host);
        if (found !== undefined)
          return `${quote(path)} names the credential helper ${quote(found.helper)}, and registry.credentialHelpers is off`;
      }
      return undefined;
    },
  };
}

/**
 * What a docker config says about a repository, from its own entries alone.
 * @param place for messages.
 * @throws GateError GATE_REGISTRY_AUTHENTICATION where the entry that fits cannot be used.
 */
export function credentialIn(
  config: unknown,
  host: string,
  repository: string,
  place: string,
): Credential | undefined {
  const auths = ownField(config, 'auths');
  if (typeof auths !== 'object' || auths === null) return undefined;
  const fitting = Object.keys(auths)
    .map((key) => ({ key, weight: weightOf(key, registryHost(host), repository) }))
    .filter(({ weight }) => weight >= 0)
    .toSorted((a, b) => b.weight - a.weight);
  for (const { key } of fitting) {
    const entry = ownField(auths, key);
    const credential = credentialOf(
      {
        username: textField(entry, 'username'),
        password: textField(entry, 'password'),
        auth: textField(entry, 'auth'),
        identityToken: textField(entry, 'identitytoken'),
        registryToken: textField(entry, 'registrytoken'),
      },
      place,
    );
    // `{}` stands for "a helper knows".
    if (credential !== undefined) return credential;
  }
  return undefined;
}

/** Hosts that a docker config has entries for, in its order, for messages. */
export function hostsIn(config: unknown): readonly string[] {
  const auths = ownField(config, 'auths');
  return typeof auths === 'object' && auths !== null
    ? [...new Set(Object.keys(auths).map(registryHost))]
    : [];
}

/** @returns a negative number where the key does not fit; more for a longer path, then for a plain host. */
function weightOf(key: string, host: string, repository: string): number {
  const path = key
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^[^/]*\/?/, '')
    .replace(/^v[12](?:\/|$)/, '')
    .replace(/\/+$/, '');
  if (path !== '' && path !== repository && !repository.startsWith(`${path}/`)) return -1;
  const keyHost = registryHost(key);
  if (keyHost === host) return 2 * path.length + 1;
  return keyHost.includes('*') && fitsPattern(keyHost, host) ? 2 * path.length : -1;
}

/** As the kubelet: `*` within one label, as many labels, the same port. */
function fitsPattern(pattern: string, host: string): boolean {
  const [patternLabels, patternPort] = labelsOf(pattern);
  const [labels, port] = labelsOf(host);
  return (
    patternPort === port &&
    patternLabels.length === labels.length &&
    patternLabels.every((label, at) => fitsLabel(label, labels[at] ?? ''))
  );
}

function labelsOf(host: string): readonly [readonly string[], string | undefined] {
  const [name = '', port] = host.split(':', 2);
  return [name.split('.'), port];
}

/** Without a regular expression: the pattern is somebody else's. */
function fitsLabel(pattern: string, label: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === label;
  const last = rest.pop() ?? '';
  if (label.length < first.length + last.length || !label.startsWith(first) || !label.endsWith(last))
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = label.indexOf(part, at);
    if (found === -1 || found + part.length > label.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

async function fromHelper(
  config: unknown,
  host: string,
  options: HelperOptions,
): Promise<Credential | undefined> {
  const found = helperFor(config, host);
  return found && askHelper(found.helper, found.server, options);
}

/** @returns which helper the config names for the host, and what it files the host under. */
function helperFor(
  config: unknown,
  host: string,
): { readonly helper: string; readonly server: string } | undefined {
  const perHost = ownField(config, 'credHelpers');
  const named = Object.keys(typeof perHost === 'object' && perHost !== null ? perHost : {}).find(
    (key) => registryHost(key) === registryHost(host),
  );
  const helper = named === undefined ? textField(config, 'credsStore') : textField(perHost, named);
  if (helper === undefined || helper === '') return undefined;
  // Docker Hub is filed under the URL of its first API.
  const server = registryHost(host) === 'index.docker.io' ? 'https://index.docker.io/v1/' : (named ?? host);
  return { helper, server };
}
