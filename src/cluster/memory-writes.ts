/** How memory.ts writes: which fields a caller may set, what a version or uid forbids, and when generation moves. */
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { GateError, quote } from '../errors.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';

export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

export function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

/** @throws GateError GATE_CLUSTER_INVALID */
export function nameOf(object: KubeObject): string {
  const { name } = object.metadata;
  if (isSet(name)) return name;
  throw invalid(`metadata.name: ${object.kind} needs a name`);
}

/** `Lease "agents/node-a"`, `Node "node-a"`. */
export function describe(kind: Kind, key: string): string {
  return `${kind.kind} ${quote(key.replace(/^\//, ''))}`;
}

export function invalid(message: string): GateError {
  return new GateError('GATE_CLUSTER_INVALID', message);
}

export function notFound(verb: string, kind: Kind, key: string): GateError {
  return new GateError(
    'GATE_CLUSTER_NOT_FOUND',
    `${verb} ${describe(kind, key)}: there is none; create it first`,
  );
}

export function conflict(verb: string, kind: Kind, key: string, why: string): GateError {
  return new GateError('GATE_CLUSTER_CONFLICT', `${verb} ${describe(kind, key)}: ${why}; read it again`);
}

export function unreachable(): GateError {
  return new GateError('GATE_CLUSTER_UNREACHABLE', 'cluster: connection lost; try again');
}

/** Leases alone, of the kinds known here, may be created by a PUT (coordination/lease strategy, AllowCreateOnUpdate). */
export function createsOnUpdate(kind: Kind): boolean {
  return kind.group === 'coordination.k8s.io' && kind.kind === 'Lease';
}

/**
 * Whether a PUT without resourceVersion is taken: by most of the old kinds, never by Leases, ServiceAccounts and custom
 * resources (AllowUnconditionalUpdate of their strategies).
 */
function replacesUnconditionally(kind: Kind): boolean {
  return (kind.group === '' && kind.kind !== 'ServiceAccount') || kind.group === 'apps';
}

/** Kinds whose objects carry no generation, although they have a spec. */
function tracksGeneration(kind: Kind): boolean {
  return kind.group !== '' && kind.group !== 'coordination.k8s.io';
}

/** @throws GateError GATE_CLUSTER_CONFLICT, and GATE_CLUSTER_INVALID where a resourceVersion is needed. */
export function checkPreconditions(
  verb: string,
  kind: Kind,
  key: string,
  wanted: ObjectMeta,
  current: KubeObject,
): void {
  if (isSet(wanted.uid) && wanted.uid !== current.metadata.uid) {
    throw conflict(verb, kind, key, 'it has another uid');
  }
  if (!isSet(wanted.resourceVersion) || wanted.resourceVersion === '0') {
    if (replacesUnconditionally(kind)) return;
    throw invalid(`metadata.resourceVersion: must be set to replace a ${kind.kind}; read it first`);
  }
  if (wanted.resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(verb, kind, key, 'it has changed since it was read');
  }
}

/** @returns metadata without fields that are null, which mean the same as absent ones (`kubectl -o yaml` writes them). */
export function setFieldsOf(metadata: ObjectMeta): ObjectMeta {
  return Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** What a caller of create cannot choose. */
const SYSTEM_FIELDS = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]);
const STATUS = new Set(['status']);
const NOT_WANTED = new Set(['metadata', 'status']);

/** @returns what a new object starts as: what a caller cannot set is left out. */
export function creationOf(kind: Kind, object: KubeObject): KubeObject {
  const metadata = without(setFieldsOf(object.metadata), SYSTEM_FIELDS);
  // A kubelet registers its Node with a status; every other kind starts without one.
  const kept = kind.group === '' && kind.kind === 'Node' ? object : without(object, STATUS);
  return withDefaults(kind, { ...(kept as KubeObject), metadata });
}

/** @returns the object that a PUT of the main resource makes of `current`: its status and system fields stay. */
export function replacementOf(kind: Kind, object: KubeObject, current: KubeObject): KubeObject {
  const kept = current.metadata as ObjectMeta & { deletionGracePeriodSeconds?: unknown };
  const metadata = {
    ...setFieldsOf(object.metadata),
    uid: kept.uid,
    creationTimestamp: kept.creationTimestamp,
    deletionTimestamp: kept.deletionTimestamp,
    deletionGracePeriodSeconds: kept.deletionGracePeriodSeconds,
    generation: kept.generation,
  };
  const added = metadata.finalizers?.find((finalizer) => !(kept.finalizers ?? []).includes(finalizer));
  if (kept.deletionTimestamp !== undefined && added !== undefined) {
    throw invalid(`metadata.finalizers: ${quote(added)} cannot be added while the object is being deleted`);
  }
  const next = { ...object, status: current['status'], metadata: metadata as ObjectMeta };
  return withGeneration(kind, withDefaults(kind, next), current);
}

/** Generation counts changes of what is wanted: everything beside metadata and status. */
export function withGeneration(kind: Kind, next: KubeObject, current: KubeObject | undefined): KubeObject {
  if (!tracksGeneration(kind)) return next;
  const before = current?.metadata.generation;
  const moved = current !== undefined && !isDeepStrictEqual(wantedPart(next), wantedPart(current));
  const generation = before === undefined ? 1 : before + (moved ? 1 : 0);
  return { ...next, metadata: { ...next.metadata, generation } };
}

function wantedPart(object: KubeObject): object {
  return without(object, NOT_WANTED);
}

function without(fields: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !names.has(name) && value !== undefined),
  );
}

/** The one default that selectors of policies and webhooks stand on: a Namespace is labelled with its name. */
export function withDefaults(kind: Kind, object: KubeObject): KubeObject {
  const { name, labels } = object.metadata;
  if (kind.group !== '' || kind.kind !== 'Namespace' || name === undefined) return object;
  return {
    ...object,
    metadata: { ...object.metadata, labels: { ...labels, 'kubernetes.io/metadata.name': name } },
  };
}

/** Letters of generated name ends, without vowels and look-alikes (apimachinery, util/rand). */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** A generated name has at most 63 characters (apiserver, storage/names). */
const GENERATED_BASE_LENGTH = 63 - SUFFIX_LENGTH;

export function generatedName(generateName: string): string {
  const letters = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)],
  );
  return `${generateName.slice(0, GENERATED_BASE_LENGTH)}${letters.join('')}`;
}
