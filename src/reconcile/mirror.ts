/**
 * Revisions of all versions that a repository has, and whether a tag has come to name something else (operator.md §3.6).
 * Tags are compared by their digests; only what is new is pulled (operator.md §20, T11).
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import { CONTRACT_FILE } from '../policies/contract/bundle-files.ts';
import { compareVersions, parseVersion, type Version } from '../policies/contract/version.ts';
import { pullBundle, type PullClient } from '../registry/pull.ts';
import { parseRegistryReference, showReference, type RegistryReference } from '../registry/reference.ts';
import type { Pacto } from './api/pacto.ts';
import type { ContractReader } from './contract-reader.ts';
import type { ContractSource } from './contract-source.ts';
import { isUnavailable, plainReference } from './contract-source.ts';
import type { PlannedEvent, RevisionPlan } from './pass.ts';
import { planRevision, sourceOf } from './revision.ts';
import type { View } from './view.ts';

/** The highest versions of a repository; older ones have no part in what is deployed now. */
const TAGS = 100;
/** Of a digest, as upstream shows it: with its algorithm. */
const SHOWN_DIGEST = 12;
/** Failures that one event names. */
const NAMED_FAILURES = 3;

export interface Mirrored {
  /** To be ensured, in this order. */
  readonly revisions: readonly {
    readonly plan: RevisionPlan;
    /** What is said with it: the tag meant something else before. */
    readonly event: PlannedEvent | undefined;
  }[];
  /** What went wrong; undefined where nothing did. */
  readonly failure: PlannedEvent | undefined;
}

export interface MirrorParts {
  readonly source: Pick<ContractSource, 'access'>;
  readonly reader: Pick<ContractReader, 'read'>;
}

export interface MirrorOptions {
  readonly view: Pick<View, 'pullSecret' | 'revisions'>;
  readonly signal: AbortSignal;
  readonly nowMs: number;
}

const NOTHING: Mirrored = { revisions: [], failure: undefined };

/** Whether there is something to mirror: neither an inline contract nor a digest has tags. */
export function isMirrored({ spec }: Pick<Pacto, 'spec'>): boolean {
  const { oci, inline } = spec.contractRef;
  return oci !== '' && !oci.includes('@') && (inline === undefined || inline === '');
}

/** Writes nothing. Throws the signal's reason only. */
export async function mirror(pacto: Pacto, parts: MirrorParts, options: MirrorOptions): Promise<Mirrored> {
  if (!isMirrored(pacto)) return NOTHING;
  try {
    return await new Mirror(pacto, parts, options).run();
  } catch (error) {
    options.signal.throwIfAborted();
    return { revisions: [], failure: failureOf(pacto, [error]) };
  }
}

class Mirror {
  readonly #pacto: Pacto;
  readonly #parts: MirrorParts;
  readonly #options: MirrorOptions;

  constructor(pacto: Pacto, parts: MirrorParts, options: MirrorOptions) {
    this.#pacto = pacto;
    this.#parts = parts;
    this.#options = options;
  }

  async run(): Promise<Mirrored> {
    const { view, signal, nowMs } = this.#options;
    const { oci } = this.#pacto.spec.contractRef;
    const client = await this.#parts.source.access(this.#pacto, view);
    const { registry, repository } = parseRegistryReference(plainReference(oci));
    const known = [...(await view.revisions(this.#pacto))];
    const revisions: Mirrored['revisions'][number][] = [];
    const failures: unknown[] = [];
    for (const tag of newest(await client.tags({ registry, repository }, signal))) {
      try {
        const found = await this.#tag(client, { registry, repository, tag }, known, nowMs);
        if (found === undefined) continue;
        revisions.push(found);
        // The next tag may be of the same contract.
        if (found.plan.existing === undefined) known.push(found.plan.object);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
        // A registry that is away is away for the next tag as well.
        if (error instanceof GateError && error.code === 'GATE_REGISTRY_UNREACHABLE') break;
      }
    }
    return { revisions, failure: failures.length === 0 ? undefined : failureOf(this.#pacto, failures) };
  }

  async #tag(
    client: PullClient,
    reference: RegistryReference & { readonly tag: string },
    known: readonly KubeObject[],
    nowMs: number,
  ): Promise<Mirrored['revisions'][number] | undefined> {
    const ref = showReference(reference);
    const before = newestOf(known.filter((revision) => sourceOf(revision).oci === ref));
    const digestBefore = before && sourceOf(before).digest;
    // A revision that does not know its digest says nothing of whether it changed.
    if (before !== undefined && digestBefore === undefined) return undefined;
    const digest = await client.resolveTag(reference, this.#options.signal);
    if (digest === digestBefore) return undefined;
    const contract = await this.#pull(client, { ...reference, digest });
    const plan = planRevision(this.#pacto, { ...contract, resolvedRef: ref, digest }, known, nowMs);
    return {
      plan,
      event: digestBefore === undefined ? undefined : overwritten(reference.tag, digestBefore, digest),
    };
  }

  async #pull(
    client: PullClient,
    reference: RegistryReference & { readonly digest: string },
  ): Promise<{ readonly serviceName: string; readonly version: string; readonly sha256: string }> {
    const { registry, repository, digest } = reference;
    const { files } = await pullBundle(client, showReference({ registry, repository, digest }), {
      readContract: () => ({ ok: true, name: '', version: '', pactoVersion: '' }),
      chooseTag: () => undefined,
      signal: this.#options.signal,
    });
    const text = files.get(CONTRACT_FILE) ?? new Uint8Array();
    const sha256 = createHash('sha256').update(text).digest('hex');
    const read = await this.#parts.reader.read(`${sha256} ${digest} []`, { text, files, overrides: [] });
    if (!read.ok) throw new GateError('GATE_BUNDLE_INVALID', read.message);
    return { serviceName: read.service.name, version: read.service.version, sha256 };
  }
}

/** Tags that are versions, the highest first. */
function newest(tags: readonly string[]): readonly string[] {
  return tags
    .map((tag) => [tag, parseVersion(tag)] as const)
    .filter((entry): entry is readonly [string, Version] => entry[1] !== undefined)
    .sort(([, a], [, b]) => compareVersions(b, a))
    .slice(0, TAGS)
    .map(([tag]) => tag);
}

/** Of several of one tag the one that was made last (operator.md §18). */
function newestOf(revisions: readonly KubeObject[]): KubeObject | undefined {
  const createdMs = ({ metadata }: KubeObject): number =>
    // One that is still to be created is newer than all.
    metadata.creationTimestamp === undefined
      ? Number.POSITIVE_INFINITY
      : Date.parse(metadata.creationTimestamp);
  return revisions.toSorted((a, b) => createdMs(b) - createdMs(a))[0];
}

/** operator.md §7.2. */
function overwritten(tag: string, before: string, now: string): PlannedEvent {
  const shown = (digest: string): string => digest.slice(0, SHOWN_DIGEST);
  return {
    type: 'Warning',
    reason: 'TagOverwritten',
    message: `Tag ${tag} was force-pushed (digest changed from ${shown(before)} to ${shown(now)})`,
  };
}

/** One for all tags of a pass. */
function failureOf({ spec }: Pacto, errors: readonly unknown[]): PlannedEvent {
  const named = errors.slice(0, NAMED_FAILURES).map((error) => messageOf(error));
  const more = errors.length > NAMED_FAILURES ? [`and ${String(errors.length - NAMED_FAILURES)} more`] : [];
  return {
    type: 'Warning',
    reason: errors.some((error) => isUnavailable(error)) ? 'ContractUnavailable' : 'ContractInvalid',
    message: `Revision mirror failed for ${quote(spec.contractRef.oci).slice(1, -1)}: ${[...named, ...more].join('; ')}`,
  };
}
