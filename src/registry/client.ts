/** The one door to OCI registries: what is read is verified, what is asked is limited (platform.md §1.3). */
import { GateError } from '../errors.ts';
import { readBlob, type BlobDescriptor, type BlobOptions } from './blobs.ts';
import type { CredentialSource } from './credential.ts';
import { digestOf, isDigest } from './digests.ts';
import { type Subject, wrongAnswer } from './failures.ts';
import { HostList } from './hosts.ts';
import { type RegistryOptions, type RegistrySettings, settingsOf } from './options.ts';
import { type Descriptor, listReferrers } from './referrers.ts';
import {
  checkReference,
  checkRepository,
  manifestName,
  type RegistryReference,
  type Repository,
  showReference,
} from './reference.ts';
import { listTags } from './tags.ts';
import { type Ask, Transport, type Whole } from './transport.ts';
import { isThere, putBlob, putManifest } from './uploads.ts';

export interface Manifest {
  /** As they came: what the digest is of. */
  readonly bytes: Uint8Array;
  /** What the registry says it is, without parameters. */
  readonly mediaType: string;
  readonly digest: string;
}

/**
 * All four, on HEAD too: docker-registry answers 404 for what it would have to send otherwise (rule 2). And whatever else
 * has the tag: a tag of another type that is said to be missing would be written over.
 */
const ACCEPT = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  '*/*',
].join(', ');

const MEDIA_TYPE = /^[a-zA-Z0-9!#$&^_.+-]{1,127}\/[a-zA-Z0-9!#$&^_.+-]{1,127}$/;

/**
 * All methods throw GateError: GATE_REGISTRY_REFERENCE, …_AUTHENTICATION, …_NOT_FOUND, …_UNREACHABLE, …_REFUSED or
 * …_ANSWER, as docs/errors.md tells them apart; and the reason of a signal that aborts.
 */
export class RegistryClient {
  readonly #settings: RegistrySettings;
  readonly #transport: Transport;
  readonly #sources: readonly CredentialSource[];
  readonly #allow: HostList | undefined;

  /** @throws GateError GATE_CONFIG_INVALID where a CA or proxy cannot be used. */
  constructor(options: RegistryOptions, shared?: { readonly transport: Transport }) {
    this.#settings = settingsOf(options);
    this.#transport = shared?.transport ?? new Transport(this.#settings);
    this.#sources = options.sources ?? [];
    this.#allow = options.allow === undefined ? undefined : new HostList(options.allow);
  }

  /** The same client with other credentials; connections are shared, tokens are not. Closing either closes both. */
  withSources(sources: readonly CredentialSource[]): RegistryClient {
    return new RegistryClient({ ...this.#settings, sources }, { transport: this.#transport });
  }

  /**
   * The digest that the tag has now. It is the registry's word until the manifest is read by it.
   * @param known what it was before: a registry need not look it up again where it is the same (rule 10).
   */
  async resolveTag(reference: RegistryReference, signal?: AbortSignal, known?: string): Promise<string> {
    const checked = this.#checked(reference);
    const isKnown = known !== undefined && isDigest(known);
    const answer = await this.#transport.whole(
      {
        ...this.#manifestAsk(checked, signal),
        method: 'HEAD',
        headers: { accept: ACCEPT, ...(isKnown && { 'if-none-match': `"${known}"` }) },
        // Some do not know HEAD.
        alsoFine: [304, 405],
      },
      0,
    );
    if (answer.status === 304) {
      if (isKnown) return known;
      throw wrongAnswer(subjectOf(checked), 'is said to be unchanged, which was not asked');
    }
    const told = answer.status === 405 ? undefined : toldDigest(answer, subjectOf(checked));
    if (told === undefined) return (await this.manifest(checked, signal)).digest;
    if (checked.digest !== undefined && told !== checked.digest)
      throw wrongAnswer(subjectOf(checked), 'has another digest than the one asked for');
    return told;
  }

  /** The manifest or index, verified against the digest of the reference, or of the answer (rule 3). */
  async manifest(reference: RegistryReference, signal?: AbortSignal): Promise<Manifest> {
    const checked = this.#checked(reference);
    const subject = subjectOf(checked);
    const answer = await this.#transport.whole(
      { ...this.#manifestAsk(checked, signal), method: 'GET', headers: { accept: ACCEPT } },
      this.#settings.limits.manifestBytes,
    );
    const told = toldDigest(answer, subject);
    const digest = digestOf(answer.bytes, checked.digest ?? told);
    if (checked.digest !== undefined && digest !== checked.digest)
      throw wrongAnswer(subject, 'has another digest than the one asked for');
    if (told !== undefined && told !== digestOf(answer.bytes, told))
      throw wrongAnswer(subject, 'does not have the digest that the registry says');
    const [type = ''] = (answer.header('content-type') ?? '').split(';');
    const mediaType = type.trim();
    if (!MEDIA_TYPE.test(mediaType)) throw wrongAnswer(subject, 'has no media type');
    return { bytes: answer.bytes, mediaType, digest };
  }

  /**
   * The pieces of a blob. The last one comes only after size and digest are verified, so that who has read `size` bytes
   * has read the right ones; when it throws, nothing that came may be used (rule 4).
   */
  async *blob(
    repository: Repository,
    descriptor: BlobDescriptor,
    options: BlobOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    const checked = this.#checkedRepository(repository);
    const maxBytes = Math.min(options.maxBytes ?? Infinity, this.#settings.limits.blobBytes);
    yield* readBlob(this.#transport, checked, descriptor, maxBytes, this.#call(options.signal));
  }

  /** Each tag once, in the order of the registry. */
  async tags(repository: Repository, signal?: AbortSignal): Promise<readonly string[]> {
    const checked = this.#checkedRepository(repository);
    return listTags(this.#transport, checked, this.#settings.limits, this.#call(signal));
  }

  /**
   * What refers to a manifest, of one type of artifact or of any; from registries without that question by the tag that
   * stands for it (OCI distribution specification 1.1, Listing Referrers).
   */
  async referrers(
    reference: RegistryReference,
    artifactType?: string,
    signal?: AbortSignal,
  ): Promise<readonly Descriptor[]> {
    const checked = this.#checked(reference);
    const { registry, repository, digest } = checked;
    if (digest === undefined)
      throw new GateError(
        'GATE_REGISTRY_REFERENCE',
        `${showReference(checked)}: referrers are of a digest; resolve the tag first`,
      );
    const subject = { registry, repository, digest };
    return listReferrers(this.#transport, subject, artifactType, this.#settings.limits, this.#call(signal));
  }

  /** Whether the repository has the blob, and nothing has to be sent. */
  async hasBlob(repository: Repository, digest: string, signal?: AbortSignal): Promise<boolean> {
    const { registry, repository: path } = this.#checked({ ...repository, digest });
    return isThere(this.#transport, { registry, repository: path }, digest, this.#call(signal));
  }

  /**
   * @param digest what it must be; without, its sha256.
   * @returns its digest.
   */
  async pushBlob(
    repository: Repository,
    bytes: Uint8Array,
    digest?: string,
    signal?: AbortSignal,
  ): Promise<string> {
    const checked = this.#checked({ ...repository, digest: digest ?? digestOf(bytes) });
    return putBlob(this.#transport, checked, bytes, this.#call(signal));
  }

  /** Under the tag of the reference, or under its digest where it has no tag. @returns its digest. */
  async pushManifest(
    reference: RegistryReference,
    bytes: Uint8Array,
    mediaType: string,
    signal?: AbortSignal,
  ): Promise<string> {
    return putManifest(this.#transport, this.#checked(reference), bytes, mediaType, this.#call(signal));
  }

  /** Breaks what is under way and closes every connection. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #checked(reference: RegistryReference): RegistryReference {
    const checked = checkReference(reference);
    this.#checkAllowed(checked);
    return checked;
  }

  #checkedRepository(repository: Repository): Repository {
    const checked = checkRepository(repository);
    this.#checkAllowed(checked);
    return checked;
  }

  #checkAllowed(repository: Repository): void {
    const { registry } = repository;
    const names = registry === 'index.docker.io' ? [registry, 'docker.io'] : [registry];
    if (this.#allow === undefined || names.some((name) => this.#allow?.hasRegistry(name) === true)) return;
    throw new GateError(
      'GATE_REGISTRY_REFUSED',
      `${showReference(repository)}: the host ${registry} is not in registry.allow; nothing was sent there`,
    );
  }

  #call(signal: AbortSignal | undefined): Pick<Ask, 'sources' | 'signal'> {
    return { sources: this.#sources, signal };
  }

  #manifestAsk(
    reference: RegistryReference,
    signal: AbortSignal | undefined,
  ): Omit<Ask, 'method' | 'headers'> {
    return {
      ...this.#call(signal),
      repository: reference,
      at: `manifests/${manifestName(reference)}`,
      action: 'pull',
      subject: subjectOf(reference),
    };
  }
}

function subjectOf(reference: RegistryReference): Subject {
  return { reference: showReference(reference), wanted: 'the manifest' };
}

function toldDigest(answer: Whole, subject: Subject): string | undefined {
  const told = answer.header('docker-content-digest');
  if (told !== undefined && !isDigest(told)) throw wrongAnswer(subject, 'comes with a digest that is none');
  return told;
}
