/**
 * References to what a registry holds: read strictly, because their parts become part of a URL (platform.md §1.3
 * rule 1). What a contract may write is laxer (contract.md §9.2); this is the stricter reading of the client.
 */
import { GateError, quote } from '../errors.ts';
import { isDigest } from './digests.ts';

export interface Repository {
  /** Host and, where it is not the scheme's own, port, in lower case: `ghcr.io`, `10.0.0.7:5000`, `[::1]:5000`. */
  readonly registry: string;
  /** Path below the registry: `acme/shop`. */
  readonly repository: string;
}

export interface RegistryReference extends Repository {
  readonly tag?: string;
  /** Where both are there, the digest identifies (contract.md §9.2). */
  readonly digest?: string;
}

/** What Docker Hub is called, and where its API answers (contract.md §11.4). */
const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_HOST = 'index.docker.io';

/** OCI distribution specification 1.1, Pulling manifests. */
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const REPOSITORY_LENGTH = 255;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const HOST_LABELS = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const HOST_LENGTH = 253;
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([0-9]{1,5}))?$/;

/** Whether the text may be a tag. */
export function isTag(text: string): boolean {
  return TAG.test(text);
}

/**
 * Reads `registry/repository[:tag][@digest]`, with or without `oci://`. A first part without `.`, `:` or the name
 * `localhost` is no registry but part of a repository on Docker Hub (operator.md §3.3), whose official repositories lie
 * below `library/`.
 * @throws GateError GATE_REGISTRY_REFERENCE
 */
export function parseRegistryReference(text: string): RegistryReference {
  const location = text.startsWith('oci://') ? text.slice('oci://'.length) : text;
  const at = location.indexOf('@');
  const digest = at < 0 ? '' : location.slice(at + 1);
  const named = at < 0 ? location : location.slice(0, at);
  const colon = named.lastIndexOf(':');
  const isTagged = colon > named.lastIndexOf('/');
  const tag = isTagged ? named.slice(colon + 1) : '';
  const path = isTagged ? named.slice(0, colon) : named;
  const slash = path.indexOf('/');
  const first = slash < 0 ? '' : path.slice(0, slash);
  const isHost = /[.:]/.test(first) || first.toLowerCase() === 'localhost';
  return checkReference({
    registry: isHost ? first : DOCKER_HUB,
    repository: isHost ? path.slice(slash + 1) : path,
    ...(tag !== '' && { tag }),
    ...(digest !== '' && { digest }),
  });
}

/**
 * The same reference in its one spelling.
 * @throws GateError GATE_REGISTRY_REFERENCE where a part cannot be what it should.
 */
export function checkReference(reference: RegistryReference): RegistryReference {
  const { tag, digest } = reference;
  if (tag !== undefined && !isTag(tag)) throw malformed('tag', tag, 'at most 128 of A-Z a-z 0-9 . _ -');
  if (digest !== undefined && !isDigest(digest))
    throw malformed('digest', digest, 'sha256: and 64, or sha512: and 128 lower-case hexadecimal digits');
  return {
    ...checkRepository(reference),
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
}

/** As checkReference, of the repository alone. */
export function checkRepository({ registry, repository }: Repository): Repository {
  const host = checkRegistry(registry);
  const path = host === DOCKER_HUB_HOST && !repository.includes('/') ? `library/${repository}` : repository;
  if (path.length > REPOSITORY_LENGTH || !REPOSITORY.test(path))
    throw malformed('repository', repository, 'lower-case names joined with /, at most 255 characters');
  return { registry: host, repository: path };
}

function checkRegistry(registry: string): string {
  const given = registry.toLowerCase();
  const [, host = '', port] = HOST_AND_PORT.exec(given) ?? [];
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  const isHost = host.startsWith('[') || (host.length <= HOST_LENGTH && HOST_LABELS.test(host));
  // URLs read `0x7f.1` and `2130706433` as addresses: a host that changes when it is read hides one.
  if (!isPort || !isHost || URL.parse(`https://${host}/`)?.hostname !== host)
    throw malformed('registry', registry, 'a host name or address, and a port where it is not 443');
  if (given === DOCKER_HUB) return DOCKER_HUB_HOST;
  return port === undefined ? host : `${host}:${Number(port)}`;
}

/** `registry/repository:tag` or `registry/repository@digest`, for messages. */
export function showReference({ registry, repository, tag, digest }: RegistryReference): string {
  const name = `${registry}/${repository}`;
  if (digest !== undefined) return `${name}@${digest}`;
  return tag === undefined ? name : `${name}:${tag}`;
}

/**
 * What comes after `/manifests/`.
 * @throws GateError GATE_REGISTRY_REFERENCE where the reference has neither tag nor digest.
 */
export function manifestName(reference: RegistryReference): string {
  const name = reference.digest ?? reference.tag;
  if (name === undefined)
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${showReference(reference)}: neither a tag nor a digest; name one`,
    );
  return name;
}

function malformed(part: string, value: string, wanted: string): GateError {
  return new GateError(
    'GATE_REGISTRY_REFERENCE',
    `${quote(value)} is not a ${part} of a registry reference: needed is ${wanted}`,
  );
}
