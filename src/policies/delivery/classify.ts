/** What can be told of a change from the review alone, before any read (delivery.md §2.3, §2.4 A). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, isRecord, sameJson, type ForeignRecord } from '../identity/foreign.ts';
import type { ObjectRef, PlainChange, StageName } from './change.ts';
import { DELIVERY_ANNOTATION_PREFIX, STAGE_LABEL, STAGE_NAMESPACE_ANNOTATION } from './names.ts';

/** Turns a replacement of the object on, for this object alone (flux-facts.md FF-29). */
export const FORCE_ANNOTATION = 'kustomize.toolkit.fluxcd.io/force';

/** Of an object, what no gate looks at: who wrote it, what the API server counts, what a controller found. */
const UNSEEN: ReadonlySet<string> = new Set(['metadata', 'status', 'apiVersion', 'kind']);

/** @returns the class of the change with whom it concerns; never throws. */
export function plainChangeOf(request: AdmissionRequest): PlainChange {
  const { operation, subResource = '', object, oldObject } = request;
  const ref = refOf(request);
  const stages = {
    object: ref,
    stage: stageOf(object, ref.namespace),
    oldStage: stageOf(oldObject, ref.namespace),
  };
  if (operation === 'DELETE') return { class: 'Delete', ...stages };
  // Rows 26 and 32: no status, no scale and no eviction is ever a gate's business, were it registered.
  if (subResource !== '') return { class: 'Same', ...stages };
  if (operation !== 'UPDATE' || !isRecord(object) || !isRecord(oldObject))
    return { class: 'Other', ...stages };
  if (!hasSameNames(object, oldObject)) return { class: 'Other', ...stages };
  const before = contentOf(oldObject);
  const after = contentOf(object);
  if (sameJson(before, after)) return { class: 'Same', ...stages };
  return { class: isSuspend(before, after) ? 'Suspend' : 'Other', ...stages };
}

/** Collections are deleted without a name (flux-facts.md FF-106); a generated one is there already (FF-107). */
function refOf({ kind, namespace, name, object, oldObject }: AdmissionRequest): ObjectRef {
  const named = [name, at(object, 'metadata', 'name'), at(oldObject, 'metadata', 'name')].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return {
    group: kind.group,
    kind: kind.kind,
    namespace: namespace ?? '',
    name: typeof named === 'string' ? named : '',
  };
}

/** The Stage that an object names; undefined where it names none. */
export function stageOf(object: unknown, namespace: string): StageName | undefined {
  const name = at(object, 'metadata', 'labels', STAGE_LABEL);
  if (typeof name !== 'string' || name === '') return undefined;
  const elsewhere = at(object, 'metadata', 'annotations', STAGE_NAMESPACE_ANNOTATION);
  return { namespace: typeof elsewhere === 'string' && elsewhere !== '' ? elsewhere : namespace, name };
}

/** Labels and annotations that count for a gate: all others are for people and other controllers (row 33). */
function hasSameNames(object: ForeignRecord, oldObject: ForeignRecord): boolean {
  return sameJson(countingMetadata(object), countingMetadata(oldObject));
}

function countingMetadata(object: ForeignRecord): unknown {
  const annotations = at(object, 'metadata', 'annotations');
  const counting = isRecord(annotations)
    ? Object.entries(annotations).filter(
        ([key]) => key.startsWith(DELIVERY_ANNOTATION_PREFIX) || key === FORCE_ANNOTATION,
      )
    : [];
  return [at(object, 'metadata', 'labels', STAGE_LABEL) ?? null, Object.fromEntries(counting)];
}

/** Null and absent are one thing to the API server. */
function contentOf(object: ForeignRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([key, value]) => !UNSEEN.has(key) && value !== null && value !== undefined,
    ),
  );
}

/** Row 8: nothing but `spec.suspend`, which becomes true. */
function isSuspend(before: Record<string, unknown>, after: Record<string, unknown>): boolean {
  const { spec: specBefore, ...restBefore } = before;
  const { spec: specAfter, ...restAfter } = after;
  if (!isRecord(specBefore) || !isRecord(specAfter)) return false;
  const { suspend: was, ...otherBefore } = specBefore;
  const { suspend: is, ...otherAfter } = specAfter;
  return was !== true && is === true && sameJson(otherBefore, otherAfter) && sameJson(restBefore, restAfter);
}
