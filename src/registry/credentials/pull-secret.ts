/**
 * Credentials of a Kubernetes pull secret (operator.md §3.3), for the one registry that they are meant for. Upstream sends
 * an Opaque secret without `registry` to whatever host a pull talks to; here it goes to the host of the reference that
 * names the secret and to no other.
 */
import { GateError, quote } from '../../errors.ts';
import type { Credential, CredentialSource } from '../credential.ts';
import { credentialIn, hostsIn } from './docker-config.ts';
import { credentialOf } from './login.ts';
import { registryHost } from './registry-host.ts';

export interface PullSecret {
  readonly namespace: string;
  readonly name: string;
  /** The Secret's own type; nothing counts as Opaque. */
  readonly type?: string | undefined;
  /** As the API gives it: Base64. */
  readonly data: Readonly<Record<string, string>>;
}

interface Target {
  /** Registry of the reference that names the secret. */
  readonly registry: string;
  readonly repository: string;
}

const DOCKER_CONFIG_TYPE = 'kubernetes.io/dockerconfigjson';

/** @throws GateError GATE_REGISTRY_AUTHENTICATION where the secret has not one of the formats, or is for another host. */
export function pullSecretCredentials(secret: PullSecret, target: Target): CredentialSource {
  const place = `pull secret ${secret.namespace}/${secret.name}`;
  const host = registryHost(target.registry);
  const type = secret.type ?? '';
  let find: (repository: string) => Credential | undefined;
  if (type === DOCKER_CONFIG_TYPE) find = fromDockerConfig(secret, target, place);
  else if (type === '' || type === 'Opaque') {
    const credential = fromOpaque(secret, host, place);
    find = () => credential;
  } else
    throw unusable(place, `its type ${quote(type)} is not supported: need Opaque or ${DOCKER_CONFIG_TYPE}`);
  return {
    name: place,
    async for(asked: string, repository: string): Promise<Credential | undefined> {
      return registryHost(asked) === host ? find(repository) : undefined;
    },
  };
}

function fromOpaque(secret: PullSecret, host: string, place: string): Credential {
  const bound = valueOf(secret, 'registry')?.trim();
  if (bound !== undefined && bound !== '' && registryHost(bound) !== host)
    throw unusable(
      place,
      `it is for ${quote(registryHost(bound))}, and the reference is on ${quote(host)}: name a secret for that host`,
    );
  const credential = credentialOf(
    {
      registryToken: valueOf(secret, 'token'),
      username: valueOf(secret, 'username'),
      password: valueOf(secret, 'password'),
    },
    place,
  );
  if (credential === undefined)
    throw unusable(place, 'need the key token, or the keys username and password');
  return credential;
}

/** @returns what it has for a repository of the target's host: entries may be for one alone (platform.md §1.3 rule 12). */
function fromDockerConfig(
  secret: PullSecret,
  target: Target,
  place: string,
): (repository: string) => Credential | undefined {
  const text = valueOf(secret, '.dockerconfigjson');
  if (text === undefined) throw unusable(place, 'need the key .dockerconfigjson');
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    throw unusable(place, 'its .dockerconfigjson is no JSON');
  }
  const find = (repository: string): Credential | undefined =>
    credentialIn(config, target.registry, repository, place);
  if (find(target.repository) !== undefined) return find;
  const known = hostsIn(config).slice(0, 10).map(quote).join(', ');
  throw unusable(
    place,
    `it has no entry for ${quote(registryHost(target.registry))}${known === '' ? '' : `, only for ${known}`}`,
  );
}

/** Secrets are often made with `echo`, whose line break nobody means. */
function valueOf({ data }: PullSecret, key: string): string | undefined {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) return undefined;
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function unusable(place: string, why: string): GateError {
  return new GateError('GATE_REGISTRY_AUTHENTICATION', `${place}: ${why}`);
}
