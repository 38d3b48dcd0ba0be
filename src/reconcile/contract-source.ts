/** Where a Pacto's contract comes from: its own text, or a bundle of a registry (operator.md §3.3). */
import { createHash } from 'node:crypto';
import { linkSignals } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import { bestTag } from '../policies/contract/best-tag.ts';
import { CONTRACT_FILE, type BundleFiles } from '../policies/contract/bundle-files.ts';
import type { BundleCache } from '../registry/bundle-cache.ts';
import type { PullSecret } from '../registry/credentials/pull-secret.ts';
import { pullBundle, type PullClient } from '../registry/pull.ts';
import { parseRegistryReference, showReference } from '../registry/reference.ts';
import type { Pacto } from './api/pacto.ts';
import { RegistryOutages } from './registry-outages.ts';
import { shareAnswers } from './shared-answers.ts';
import { shortText } from './short-text.ts';
import { SlowRegistries } from './slow-registries.ts';
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
  /** What is kept of the repository does not count: the registry is asked now. */
  readonly isFresh?: true;
}

export interface ContractSource {
  /**
   * The contract that a Pacto names, unread.
   * @throws GateError GATE_OVERLOADED where its registry is slow and others wait for it, so that nothing is known of the
   *   contract; the signal's reason. Nothing else.
   */
  obtain(
    pacto: Pick<Pacto, 'namespace' | 'spec'>,
    options: ObtainOptions,
  ): Promise<ObtainedContract | NoContract>;
  /** For one round of the mirror: Pactos of one repository share what it says of its tags. */
  round(): MirrorRound;
  /**
   * Somebody pushed there: what its references meant counts no more.
   * @param repository with or without scheme, tag and digest; one that is none is not known.
   */
  forget(repository: string): void;
}

export interface MirrorRound {
  /**
   * How a Pacto's registry is asked.
   * @throws SecretFault where its pull secret cannot be used, GateError for a reference that is none.
   */
  access(pacto: Pick<Pacto, 'namespace' | 'spec'>, view: Pick<View, 'pullSecret'>): Promise<Access>;
}

export interface Access {
  readonly client: PullClient;
  /** Undefined where the credentials are the Pacto's own. */
  readonly cache: BundleCache | undefined;
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
const LOGIN = 'a reference holds no credentials: take them out, change them, and name a pull secret';

/** What of a registry's faults says something of what was asked for, and not of the registry. */
const BROKEN: ReadonlySet<string> = new Set(['GATE_REGISTRY_REFERENCE', 'GATE_BUNDLE_INVALID']);

/** @param registries opened at the first reference: inline contracts need none. */
export function createContractSource(
  registries: () => Promise<SourceRegistries>,
  clock: Clock,
): ContractSource {
  return new Source(registries, clock);
}

class Source implements ContractSource {
  readonly #open: () => Promise<SourceRegistries>;
  readonly #clock: Clock;
  readonly #outages: RegistryOutages;
  readonly #slow: SlowRegistries;

  constructor(open: () => Promise<SourceRegistries>, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
    this.#outages = new RegistryOutages(clock);
    this.#slow = new SlowRegistries(clock);
  }

  async obtain(
    pacto: Pick<Pacto, 'namespace' | 'spec'>,
    options: ObtainOptions,
  ): Promise<ObtainedContract | NoContract> {
    const { oci, inline } = pacto.spec.contractRef;
    if (inline !== undefined && inline !== '') return inlineContract(inline);
    if (oci === '')
      return broken(
        'no contract source specified: set either spec.contractRef.oci or spec.contractRef.inline',
      );
    return await this.#fromRegistry(pacto, options);
  }

  round(): MirrorRound {
    let shared: PullClient | undefined;
    return {
      access: async (pacto, view) => {
        const access = await this.#access(pacto, view);
        if (access.cache === undefined) return access;
        shared ??= shareAnswers(access.client, this.#clock);
        return { ...access, client: shared };
      },
    };
  }

  forget(repository: string): void {
    let name: string;
    try {
      name = repositoryIn(plainReference(repository));
    } catch {
      // Nothing was ever pulled from what is no repository.
      return;
    }
    // Where registries cannot be opened nothing is kept, and who asks is told why.
    this.#open().then(
      ({ cache }) => cache.forget(name),
      () => undefined,
    );
  }

  async #fromRegistry(
    pacto: Pick<Pacto, 'namespace' | 'spec'>,
    { view, signal, isFresh }: ObtainOptions,
  ): Promise<ObtainedContract | NoContract> {
    const reference = plainReference(pacto.spec.contractRef.oci);
    const limit = linkSignals([signal]);
    const timer = this.#clock.setTimer(PULL_MS, () => {
      const seconds = String(PULL_MS / 1_000);
      limit.abort(
        new GateError(
          'GATE_REGISTRY_UNREACHABLE',
          `the registry took longer than ${seconds} s; try again later`,
        ),
      );
    });
    let leave: (() => void) | undefined;
    try {
      const { client, cache } = await this.#access(pacto, view);
      const { registry } = parseRegistryReference(reference);
      // Who only hears that it is away waits for nothing.
      if (!this.#outages.isAway(registry)) leave = this.#slow.enter(registry);
      if (isFresh === true) cache?.forget(repositoryIn(reference));
      const pulled = await pullBundle(client, reference, {
        // It is read apart, and off this thread where it is large.
        readContract: () => ({ ok: true, name: '', version: '', pactoVersion: '' }),
        chooseTag: (tags) => bestTag(tags),
        ...(cache !== undefined && { cache }),
        signal: limit.signal,
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
      if (error instanceof GateError && error.code === 'GATE_OVERLOADED') throw error;
      if (error instanceof SecretFault) return { ...unavailable(error.message), isOfSecret: true };
      const message = `failed to pull ${shownReference(reference)}: ${messageOf(error)}`;
      return isUnavailable(error) ? unavailable(message) : broken(message);
    } finally {
      leave?.();
      timer.cancel();
      limit.release();
    }
  }

  async #access(
    { namespace, spec }: Pick<Pacto, 'namespace' | 'spec'>,
    view: Pick<View, 'pullSecret'>,
  ): Promise<Access> {
    const { pullSecretRef, oci } = spec.contractRef;
    if (hasLogin(plainReference(oci))) throw new GateError('GATE_REGISTRY_REFERENCE', LOGIN);
    const registries = await this.#open();
    if (pullSecretRef === undefined)
      return { client: this.#outages.guard(registries.client), cache: registries.cache };
    const secret = { namespace, name: pullSecretRef };
    const client = await withSecret(registries, secret, plainReference(oci), view);
    // What its own credentials open is not for everybody (operator.md §3.3).
    return { client: this.#outages.guard(client), cache: undefined };
  }
}

function inlineContract(inline: string): ObtainedContract {
  const text = Buffer.from(inline);
  return { ok: true, text, sha256: sha256(text), files: undefined, resolvedRef: '', digest: '' };
}

/** Whether a fault is of the registry or of the way to it, and says nothing of what was asked for (operator.md §3.2, step 6). */
export function isUnavailable(error: unknown): boolean {
  return !(error instanceof GateError && BROKEN.has(error.code));
}

/** @throws SecretFault, GateError GATE_REGISTRY_REFERENCE. */
async function withSecret(
  registries: SourceRegistries,
  name: NamespacedName,
  reference: string,
  view: Pick<View, 'pullSecret'>,
): Promise<PullClient> {
  try {
    const secret = await view.pullSecret(name);
    if (secret === undefined) throw new Error(`there is no secret ${quote(name.name)} in its namespace`);
    return registries.withPullSecret(pullSecretOf(name, secret), reference);
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

/** @throws GateError GATE_REGISTRY_REFERENCE. */
function repositoryIn(reference: string): string {
  const { registry, repository } = parseRegistryReference(reference);
  return showReference({ registry, repository });
}

/** `user:password@` before the host: no reference, and nothing for a message. */
function hasLogin(reference: string): boolean {
  return /^[^/]*@[^/]*\//.test(reference);
}

/** Quoted, without the credentials that some write into it. */
export function shownReference(oci: string): string {
  const reference = plainReference(oci);
  return quote(hasLogin(reference) ? reference.replace(/^[^/]*@/, '…@') : reference);
}

function broken(message: string): NoContract {
  return { ok: false, failure: 'broken', message: shortText(message, MESSAGE_LENGTH) };
}

function unavailable(message: string): NoContract {
  return { ok: false, failure: 'unavailable', message: shortText(message, MESSAGE_LENGTH) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
