/**
 * Revisions of all versions that a repository has, and whether a tag has come to name something else (operator.md §3.6).
 * Tags are compared by their digests; only what is new is pulled (operator.md §20, T11).
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf } from '../errors.ts';
import { versionOfTag } from '../policies/contract/best-tag.ts';
import { CONTRACT_FILE } from '../policies/contract/bundle-files.ts';
import { compareVersions, type Version } from '../policies/contract/version.ts';
import { WeightedCache } from '../registry/cache.ts';
import { pullBundle } from '../registry/pull.ts';
import { parseRegistryReference, showReference, type RegistryReference } from '../registry/reference.ts';
import type { Pacto } from './api/pacto.ts';
import type { ContractReader } from './contract-reader.ts';
import { contractKey } from './contract-reading.ts';
import type { Access, MirrorRound } from './contract-source.ts';
import { isUnavailable, plainReference, shownReference } from './contract-source.ts';
import type { PlannedEvent, RevisionPlan } from './pass.ts';
import { planRevision, sourceOf } from './revision.ts';
import type { View } from './view.ts';

/** The highest versions of a repository; older ones have no part in what is deployed now. */
const TAGS = 100;
/** Of a digest, as upstream shows it: with its algorithm. */
const SHOWN_DIGEST = 12;
/** Tags, and bundles that break, of which rounds know: some hundred bytes each. */
const REMEMBERED = 20_000;
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
  readonly source: MirrorRound;
  readonly reader: Pick<ContractReader, 'read'>;
  readonly memory: MirrorMemory;
}

/** What rounds know of the ones before; a process that begins anew says some of it once more. */
export class MirrorMemory {
  readonly #accepted = new WeightedCache<string>(REMEMBERED);
  readonly #broken = new WeightedCache<GateError>(REMEMBERED);

  /** The revision is there: what the tag names now is known, also where an older revision has its content. */
  accept({ uid }: Pick<Pacto, 'uid'>, { object }: RevisionPlan): void {
    const { oci = '', digest = '' } = sourceOf(object);
    this.#accepted.set(`${uid} ${oci}`, digest, 1);
  }

  isAccepted({ uid }: Pick<Pacto, 'uid'>, ref: string, digest: string): boolean {
    return this.#accepted.get(`${uid} ${ref}`) === digest;
  }

  /** Why a bundle makes no revision: its digest says that it is the same one, so that nobody pulls it again. */
  breaks(exactRef: string, fault: GateError): void {
    this.#broken.set(exactRef, fault, 1);
  }

  faultOf(exactRef: string): GateError | undefined {
    return this.#broken.get(exactRef);
  }
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
    const access = await this.#parts.source.access(this.#pacto, view);
    const { registry, repository } = parseRegistryReference(plainReference(oci));
    const known = [...(await view.revisions(this.#pacto))];
    const revisions: Mirrored['revisions'][number][] = [];
    const failures: unknown[] = [];
    for (const tag of newest(await access.client.tags({ registry, repository }, signal))) {
      try {
        const found = await this.#tag(access, { registry, repository, tag }, known, nowMs);
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
    access: Access,
    reference: RegistryReference & { readonly tag: string },
    known: readonly KubeObject[],
    nowMs: number,
  ): Promise<Mirrored['revisions'][number] | undefined> {
    const ref = showReference(reference);
    const before = newestOf(known.filter((revision) => oneSpelling(sourceOf(revision).oci) === ref));
    const digestBefore = before && sourceOf(before).digest;
    // A revision that does not know its digest says nothing of whether it changed.
    if (before !== undefined && digestBefore === undefined) return undefined;
    const digest = await access.client.resolveTag(reference, this.#options.signal, digestBefore);
    if (digest === digestBefore || this.#parts.memory.isAccepted(this.#pacto, ref, digest)) return undefined;
    // Another tag of the same bundle, such as `v1.0.0` beside `1.0.0`.
    if (before === undefined && known.some((revision) => sourceOf(revision).digest === digest))
      return undefined;
    const contract = await this.#pull(access, { ...reference, digest });
    const plan = planRevision(this.#pacto, { ...contract, resolvedRef: ref, digest }, known, nowMs);
    return {
      plan,
      event: digestBefore === undefined ? undefined : overwritten(reference.tag, digestBefore, digest),
    };
  }

  async #pull(
    access: Access,
    { registry, repository, digest }: RegistryReference & { readonly digest: string },
  ): Promise<Pulled> {
    const { memory } = this.#parts;
    const exactRef = showReference({ registry, repository, digest });
    const fault = memory.faultOf(exactRef);
    if (fault !== undefined) throw fault;
    try {
      return await this.#pullNow(access, exactRef, digest);
    } catch (error) {
      // What was too hard to read may have met a busy machine.
      const isForGood =
        error instanceof GateError &&
        error.code === 'GATE_BUNDLE_INVALID' &&
        error.fields['isTooHard'] !== true;
      if (isForGood) memory.breaks(exactRef, error);
      throw error;
    }
  }

  async #pullNow({ client, cache }: Access, exactRef: string, digest: string): Promise<Pulled> {
    const { files } = await pullBundle(client, exactRef, {
      readContract: () => ({ ok: true, name: '', version: '', pactoVersion: '' }),
      chooseTag: () => undefined,
      ...(cache !== undefined && { cache }),
      signal: this.#options.signal,
    });
    const text = files.get(CONTRACT_FILE) ?? new Uint8Array();
    const sha256 = createHash('sha256').update(text).digest('hex');
    const job = { text, files, overrides: [] };
    const read = await this.#parts.reader.read(
      contractKey({ sha256, digest }, []),
      job,
      this.#options.signal,
    );
    if (!read.ok)
      throw new GateError('GATE_BUNDLE_INVALID', `${exactRef}: ${read.message}`, {
        fields: { isTooHard: read.isTooHard === true },
      });
    return { serviceName: read.service.name, version: read.service.version, sha256 };
  }
}

interface Pulled {
  readonly serviceName: string;
  readonly version: string;
  readonly sha256: string;
}

/** As this program writes it: another one may have written `docker.io/cart` for `index.docker.io/library/cart`. */
export function oneSpelling(oci: string | undefined): string | undefined {
  if (oci === undefined) return undefined;
  try {
    return showReference(parseRegistryReference(oci));
  } catch {
    // No reference, and so none of this tag.
    return undefined;
  }
}

/** Tags that are versions, the highest first. */
function newest(tags: readonly string[]): readonly string[] {
  return tags
    .map((tag) => [tag, versionOfTag(tag)] as const)
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
    message: `Revision mirror failed for ${shownReference(spec.contractRef.oci).slice(1, -1)}: ${[...named, ...more].join('; ')}`,
  };
}
