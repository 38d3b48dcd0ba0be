/** A registry in memory with the client's own methods: what is asked of it is counted. */
import { GateError } from '../../../src/errors.ts';
import type { Manifest } from '../../../src/registry/client.ts';
import { digestOf } from '../../../src/registry/digests.ts';
import type { PackedBundle } from '../../../src/registry/pack.ts';
import type { PullClient } from '../../../src/registry/pull.ts';
import type { PushClient } from '../../../src/registry/push.ts';
import type { RegistryReference, Repository } from '../../../src/registry/reference.ts';

export interface Stored {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export class MemoryRegistry implements PullClient, PushClient {
  /** `registry/repository` is left out: one repository is enough. */
  readonly blobs = new Map<string, Uint8Array>();
  readonly manifests = new Map<string, Stored>();
  readonly tagged = new Map<string, string>();
  /** What was asked, such as `resolve 1.0.0`. */
  readonly asked: string[] = [];
  /** Thrown by resolveTag instead of an answer. */
  refusal: GateError | undefined;

  add(packed: PackedBundle, tag?: string): void {
    for (const blob of [packed.layer, packed.config]) this.blobs.set(blob.digest, blob.bytes);
    this.addManifest(packed.manifest, tag);
  }

  /** @returns its digest. */
  addManifest(stored: Stored, tag?: string): string {
    const digest = digestOf(stored.bytes);
    this.manifests.set(digest, stored);
    if (tag !== undefined) this.tagged.set(tag, digest);
    return digest;
  }

  async resolveTag({ tag, digest }: RegistryReference): Promise<string> {
    this.asked.push(`resolve ${digest ?? tag ?? ''}`);
    if (this.refusal !== undefined) throw this.refusal;
    const found = digest ?? this.tagged.get(tag ?? '');
    if (found === undefined || !this.manifests.has(found)) throw missing();
    return found;
  }

  async manifest({ tag, digest }: RegistryReference): Promise<Manifest> {
    this.asked.push(`manifest ${digest ?? tag ?? ''}`);
    const name = digest ?? this.tagged.get(tag ?? '') ?? '';
    const stored = this.manifests.get(name);
    if (stored === undefined) throw missing();
    return { ...stored, digest: name };
  }

  async *blob(_repository: Repository, descriptor: { readonly digest: string }): AsyncGenerator<Uint8Array> {
    this.asked.push(`blob ${descriptor.digest}`);
    const bytes = this.blobs.get(descriptor.digest);
    if (bytes === undefined) throw missing();
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  }

  async tags(): Promise<readonly string[]> {
    this.asked.push('tags');
    return [...this.tagged.keys()];
  }

  async hasBlob(_repository: Repository, digest: string): Promise<boolean> {
    return this.blobs.has(digest);
  }

  async pushBlob(_repository: Repository, bytes: Uint8Array): Promise<string> {
    const digest = digestOf(bytes);
    this.asked.push(`push blob ${digest}`);
    this.blobs.set(digest, bytes);
    return digest;
  }

  async pushManifest({ tag }: RegistryReference, bytes: Uint8Array, mediaType: string): Promise<string> {
    this.asked.push(`push manifest ${tag ?? ''}`);
    return this.addManifest({ bytes, mediaType }, tag);
  }
}

function missing(): GateError {
  return new GateError('GATE_REGISTRY_NOT_FOUND', 'the registry does not have it');
}
