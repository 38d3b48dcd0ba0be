/** Where a Pacto's contract comes from: its own text, or a bundle of a registry (operator.md §3.3). */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import { bestTag } from '../policies/contract/best-tag.ts';
import { CONTRACT_FILE, type BundleFiles } from '../policies/contract/bundle-files.ts';
import type { BundleCache } from '../registry/bundle-cache.ts';
import type { PullSecret } from '../registry/credentials/pull-secret.ts';
import { pullBundle, type PullClient } from '../registry/pull.ts';
import type { Pacto } from './api/pacto.ts';
import type { NamespacedName, View } from './view.ts';

export interface ObtainedContract {
  readonly ok: true;
  /** The contract's own text, as it came. */
  readonly text: Uint8Array;
  /** Of the text, in hexadecimal: what a revision is named by. */
  readonly sha256: string;
  /** Undefined for an inline contract. */
  readonly files: BundleFiles | undefined;
  /** As resolved, without `oci://`; empty for an inline contract. */
  readonly resolvedRef: string;
  /** Of the manifest; empty for an inline contract. */
  readonly digest: string;
}

export interface NoContract {
  readonly ok: false;
  /** operator.md §3.2, step 6. */
  readonly failure: 'unavailable' | 'broken';
  readonly message: string;
  /** The reference was not looked at: its pull secret is the fault (operator.md §3.2, step 4). */
  readonly isOfSecret?: true;
}

export interface ObtainOptions {
  /** Reads the pull secret. */
  readonly view: Pick<View, 'pullSecret'>;
  readonly signal: AbortSignal;
}

export interface ContractSource {
  /**
   * The contract that a Pacto names, unread.
   * @throws nothing but the signal's reason
   */
  obtain(
    pacto: Pick<Pacto, 'namespace' | 'spec'>,
    options: ObtainOptions,
  ): Promise<ObtainedContract | NoContract>;
  /**
   * The client with which a Pacto's registry is asked.
   * @throws SecretFault where its pull secret cannot be used, GateError for a reference that is none.
   */
  access(pacto: Pick<Pacto, 'namespace' | 'spec'>, view: Pick<View, 'pullSecret'>): Promise<PullClient>;
}

export interface SourceRegistries {
  readonly client: PullClient;
  readonly cache: BundleCache;
  /** @throws GateError GATE_REGISTRY_AUTHENTICATION where the secret cannot be used for the reference. */
  withPullSecret(secret: PullSecret, reference: string): PullClient;
}

/** A registry that takes longer says so at the next look: nobody's verdict waits for it for minutes. */
const PULL_MS = 30_000;
const MESSAGE_LENGTH = 1_024;

/** What of a registry's faults says something of what was asked for, and not of the registry. */
const BROKEN: ReadonlySet<string> = new Set(['GATE_REGISTRY_REFERENCE', 'GATE_BUNDLE_INVALID']);

/** @param registries opened at the first reference: inline contracts need none. */
export function createContractSource(
  registries: () => Promise<SourceRegistries>,
  clock: Clock,
): ContractSource {
  return {
    async obtain(pacto, options) {
      const { oci, inline } = pacto.spec.contractRef;
      if (inline !== undefined && inline !== '') return inlineContract(inline);
      if (oci === '')
        return broken(
          'no contract source specified: set either spec.contractRef.oci or spec.contractRef.inline',
        );
      return await fromRegistry(pacto, { open: registries, clock }, options);
    },
    access: async (pacto, view) => (await accessOf(pacto, registries, view)).client,
  };
}

function inlineContract(inline: string): ObtainedContract {
  const text = Buffer.from(inline);
  return { ok: true, text, sha256: sha256(text), files: undefined, resolvedRef: '', digest: '' };
}

async function fromRegistry(
  pacto: Pick<Pacto, 'namespace' | 'spec'>,
  { open, clock }: { readonly open: () => Promise<SourceRegistries>; readonly clock: Clock },
  { view, signal }: ObtainOptions,
): Promise<ObtainedContract | NoContract> {
  const reference = plainReference(pacto.spec.contractRef.oci);
  const limit = new AbortController();
  const timer = clock.setTimer(PULL_MS, () => {
    limit.abort(new Error(`the registry took longer than ${String(PULL_MS / 1_000)} s`));
  });
  try {
    const access = await accessOf(pacto, open, view);
    const pulled = await pullBundle(access.client, reference, {
      // It is read apart, and off this thread where it is large.
      readContract: () => ({ ok: true, name: '', version: '', pactoVersion: '' }),
      chooseTag: (tags) => bestTag(tags),
      ...(access.cache !== undefined && { cache: access.cache }),
      signal: AbortSignal.any([signal, limit.signal]),
    });
    const text = pulled.files.get(CONTRACT_FILE) ?? new Uint8Array();
    return {
      ok: true,
      text,
      sha256: sha256(text),
      files: pulled.files,
      resolvedRef: pulled.ref,
      digest: pulled.digest,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SecretFault) return { ...unavailable(error.message), isOfSecret: true };
    const message = `failed to pull ${quote(reference)}: ${messageOf(error)}`;
    return isUnavailable(error) ? unavailable(message) : broken(message);
  } finally {
    timer.cancel();
  }
}

/** Whether a fault is of the registry or of the way to it, and says nothing of what was asked for (operator.md §3.2, step 6). */
export function isUnavailable(error: unknown): boolean {
  return !(error instanceof GateError && BROKEN.has(error.code));
}

interface Access {
  readonly client: PullClient;
  readonly cache: BundleCache | undefined;
}

async function accessOf(
  { namespace, spec }: Pick<Pacto, 'namespace' | 'spec'>,
  open: () => Promise<SourceRegistries>,
  view: Pick<View, 'pullSecret'>,
): Promise<Access> {
  const { pullSecretRef, oci } = spec.contractRef;
  const registries = await open();
  if (pullSecretRef === undefined) return { client: registries.client, cache: registries.cache };
  return await withSecret(registries, { namespace, name: pullSecretRef }, plainReference(oci), view);
}

/** With credentials of its own a pull shares nothing: what they open is not for everybody (operator.md §3.3). */
async function withSecret(
  registries: SourceRegistries,
  name: NamespacedName,
  reference: string,
  view: Pick<View, 'pullSecret'>,
): Promise<Access> {
  try {
    const secret = await view.pullSecret(name);
    if (secret === undefined) throw new Error(`there is no secret ${quote(name.name)} in its namespace`);
    return { client: registries.withPullSecret(pullSecretOf(name, secret), reference), cache: undefined };
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_REGISTRY_REFERENCE') throw error;
    throw new SecretFault(`failed to read pull secret ${quote(name.name)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

class SecretFault extends Error {
  override readonly name = 'SecretFault';
}

function pullSecretOf({ namespace, name }: NamespacedName, secret: KubeObject): PullSecret {
  const { type, data } = secret;
  const entries = Object.entries((data ?? {}) as Record<string, unknown>);
  return {
    namespace,
    name,
    ...(typeof type === 'string' && { type }),
    data: Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  };
}

/** Without its scheme; percent escapes are undone first (operator.md §1.1.1). What cannot be undone stays, and is refused. */
export function plainReference(oci: string): string {
  let text = oci;
  try {
    text = decodeURIComponent(oci);
  } catch {
    // No escape: the reference is read as it is.
  }
  return text.replace(/^oci:\/\//, '');
}

function broken(message: string): NoContract {
  return { ok: false, failure: 'broken', message: message.slice(0, MESSAGE_LENGTH) };
}

function unavailable(message: string): NoContract {
  return { ok: false, failure: 'unavailable', message: message.slice(0, MESSAGE_LENGTH) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
