/** What the API server answers to whoever writes a policy or a binding (vap.md §2.1). */
import type { Cel } from '../cel/cel.ts';
import { invalid, invalidStatus, shownText, unreadableStatus } from './field-error.ts';
import type { FieldError, Written, WriteStatus } from './field-error.ts';
import type { Metadata, Read } from './read.ts';
import {
  metadataErrors,
  metadataUpdateErrors,
  nameFaults,
  nameOf,
  segmentFaults,
} from './validate-metadata.ts';

export interface WriteOptions {
  readonly cel: Cel;
  /** Minor of the API server that is imitated. */
  readonly minor: number;
  /** The object as it is stored: this is an update then. */
  readonly old?: unknown;
  /** API group of the object. Default: `admissionregistration.k8s.io`. */
  readonly group?: string;
}

export interface WriteAnswer {
  /** Undefined: the object may be stored. */
  readonly status: WriteStatus | undefined;
  /** In the API server's words; some come with a refusal too. */
  readonly warnings: readonly string[];
}

/** Names that the API server keeps for what it reads from files (vap.md V17). */
const STATIC_SUFFIX = '.static.k8s.io';
/** Minor that warns about such names, and minor that refuses them. */
const STATIC_WARNED_SINCE = 36;
const STATIC_REFUSED_SINCE = 37;
const STATIC_RULE = `names ending with "${STATIC_SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`;

/**
 * Work that is done bit by bit: whoever drives it may let others work at each step, for a policy may hold thousands of
 * expressions.
 */
export type InSteps<Result> = Generator<undefined, Result, undefined>;

/** Does all of it at once. */
export function atOnce<Result>(steps: InSteps<Result>): Result {
  let next = steps.next();
  while (next.done !== true) next = steps.next();
  return next.value;
}

/** Answers for one kind. */
export function* answerWrite<T>(
  object: unknown,
  kind: string,
  read: (object: unknown) => Read<T>,
  rules: (value: T, name: string, old: T | undefined) => InSteps<readonly FieldError[]>,
  { minor, old, group = 'admissionregistration.k8s.io' }: WriteOptions,
): InSteps<WriteAnswer> {
  const next = read(object);
  if (!next.ok) return { status: unreadableStatus(kind, next.fault), warnings: [] };
  const { value, metadata, warnings } = next;
  const stored = old === undefined ? undefined : read(old);
  if (stored?.ok === false) return { status: unreadableStatus(kind, stored.fault), warnings: [] };
  const written: Written = { group, kind, name: nameOf(metadata) };
  const errors = [
    ...(stored === undefined ? [] : updateErrors(metadata, stored.metadata)),
    ...metadataErrors(metadata, nameFaults),
    ...(yield* rules(value, written.name, stored?.value)),
  ];
  const isStatic = written.name.endsWith(STATIC_SUFFIX);
  if (isStatic && minor >= STATIC_REFUSED_SINCE && stored === undefined) {
    errors.push(invalid('metadata.name', shownText(written.name), STATIC_RULE));
  }
  if (errors.length > 0) return { status: invalidStatus(written, errors), warnings };
  const isWarned = isStatic && minor >= STATIC_WARNED_SINCE;
  return {
    status: undefined,
    warnings: isWarned ? [...warnings, `metadata.name: ${STATIC_RULE}`] : warnings,
  };
}

/** An update looks at the metadata twice: as every kind does, and as this one. */
function updateErrors(metadata: Metadata, old: Metadata): FieldError[] {
  return [...metadataErrors(metadata, segmentFaults), ...metadataUpdateErrors(metadata, old)];
}
