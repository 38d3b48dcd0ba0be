/** The registry of the recording, behind the seam of the client: repositories by what their names say of them. */
import { GateError } from '../../../src/errors.ts';
import { gzipSync } from 'node:zlib';
import type { Credential } from '../../../src/registry/credential.ts';
import type { PullSecret } from '../../../src/registry/credentials/pull-secret.ts';
import { pullSecretCredentials } from '../../../src/registry/credentials/pull-secret.ts';
import type { Manifest } from '../../../src/registry/client.ts';
import type { PullClient } from '../../../src/registry/pull.ts';
import {
  parseRegistryReference,
  type RegistryReference,
  type Repository,
} from '../../../src/registry/reference.ts';
import { tarOf } from '../../support/registry/tar.ts';
import type { Pushed } from './scenario.ts';

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const LAYER_TYPE = 'application/vnd.pacto.bundle.layer.v1.tar+gzip';

interface Stored {
  readonly manifest: Uint8Array;
  readonly layerDigest: string;
  readonly layer: Uint8Array;
}

/** Pushed bundles keep the digests that they were recorded with: what they are of is nothing of Pacto's. */
export class RecordedRegistry implements PullClient {
  readonly #tags: Map<string, Map<string, string>>;
  readonly #stored: Map<string, Stored>;
  readonly #credential: Credential | undefined;

  constructor(shared?: RecordedRegistry, credential?: Credential) {
    this.#tags = shared === undefined ? new Map() : shared.#tags;
    this.#stored = shared === undefined ? new Map() : shared.#stored;
    this.#credential = credential;
  }

  push({ ref, digest, files, media, symlink, raw }: Pushed): void {
    const { registry, repository, tag = '' } = parseRegistryReference(ref);
    const name = `${registry}/${repository}`;
    const entries = Object.entries(files).map(([name, data]) => ({ name, data }));
    const links = symlink === undefined ? [] : [{ name: symlink, type: '2', link: 'pacto.yaml' }];
    const layer = raw === undefined ? gzipSync(tarOf([...entries, ...links])) : Buffer.from(raw);
    const layerDigest = `${digest.slice(0, -4)}1a7e`;
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        config: { mediaType: 'application/vnd.oci.empty.v1+json', digest, size: 2 },
        layers: [{ mediaType: media ?? LAYER_TYPE, digest: layerDigest, size: layer.length }],
      }),
    );
    this.#stored.set(digest, { manifest, layerDigest, layer });
    const tags = this.#tags.get(name) ?? new Map<string, string>();
    this.#tags.set(name, tags.set(tag, digest));
  }

  withSecret(secret: PullSecret, reference: string): RecordedRegistry {
    const target = parseRegistryReference(reference);
    const source = pullSecretCredentials(secret, target);
    return new AskingRegistry(this, () => source.for(target.registry, target.repository));
  }

  async tags(repository: Repository): Promise<readonly string[]> {
    this.check(repository);
    const tags = this.#tags.get(nameOf(repository));
    if (tags === undefined) throw notFound();
    return [...tags.keys()];
  }

  async resolveTag(reference: RegistryReference): Promise<string> {
    this.check(reference);
    const digest = reference.digest ?? this.#tags.get(nameOf(reference))?.get(reference.tag ?? 'latest');
    if (digest === undefined || !this.#stored.has(digest)) throw notFound();
    return digest;
  }

  async manifest(reference: RegistryReference): Promise<Manifest> {
    const digest = await this.resolveTag(reference);
    return {
      bytes: this.#stored.get(digest)?.manifest ?? new Uint8Array(),
      mediaType: MANIFEST_TYPE,
      digest,
    };
  }

  async *blob(repository: Repository, { digest }: { readonly digest: string }): AsyncGenerator<Uint8Array> {
    this.check(repository);
    const stored = [...this.#stored.values()].find(({ layerDigest }) => layerDigest === digest);
    if (stored === undefined) throw notFound();
    yield stored.layer;
  }

  /** What the recording's registry did with each repository. */
  check({ registry, repository }: Repository): void {
    if (registry !== 'registry.test')
      throw new GateError('GATE_REGISTRY_UNREACHABLE', `${registry}: connection refused`);
    if (repository.startsWith('boom/')) throw new GateError('GATE_REGISTRY_UNREACHABLE', 'it answers 500');
    if (repository.startsWith('slow/')) throw new GateError('GATE_REGISTRY_UNREACHABLE', 'it answers 429');
    if (repository.startsWith('priv/') && !isLetIn(this.#credential))
      throw new GateError('GATE_REGISTRY_AUTHENTICATION', 'it answers 401');
  }
}

/** With credentials that are looked up when they are needed. */
class AskingRegistry extends RecordedRegistry {
  readonly #open: RecordedRegistry;
  readonly #find: () => Promise<Credential | undefined>;

  constructor(open: RecordedRegistry, find: () => Promise<Credential | undefined>) {
    super(open);
    this.#open = open;
    this.#find = find;
  }

  override async tags(repository: Repository): Promise<readonly string[]> {
    return (await this.#with()).tags(repository);
  }

  override async resolveTag(reference: RegistryReference): Promise<string> {
    return (await this.#with()).resolveTag(reference);
  }

  override async manifest(reference: RegistryReference): Promise<Manifest> {
    return (await this.#with()).manifest(reference);
  }

  override async *blob(
    repository: Repository,
    descriptor: { readonly digest: string },
  ): AsyncGenerator<Uint8Array> {
    yield* (await this.#with()).blob(repository, descriptor);
  }

  async #with(): Promise<RecordedRegistry> {
    return new RecordedRegistry(this.#open, await this.#find());
  }
}

function isLetIn(credential: Credential | undefined): boolean {
  return credential?.kind === 'basic' && credential.username === 'user' && credential.password === 'pass';
}

function nameOf({ registry, repository }: Repository): string {
  return `${registry}/${repository}`;
}

function notFound(): GateError {
  return new GateError('GATE_REGISTRY_NOT_FOUND', 'the registry does not have it');
}
