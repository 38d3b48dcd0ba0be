/** The part of an object that every kind shares, checked before it is trusted to have the shape of KubeObject. */
import { GateError, quote } from '../errors.ts';
import type { Kind } from './kinds.ts';
import { apiVersionOf } from './kinds.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';

/** DNS-1123 subdomain of at most 253 characters: what nearly all kinds want for a name. */
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME_LENGTH = 253;
/** DNS-1123 label: what a namespace is called. */
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Checks an object against the kind it is written as: apiVersion and kind, and the types of the metadata fields.
 * @throws GateError GATE_CLUSTER_INVALID, naming the field.
 */
export function checkEnvelope(kind: Kind, object: KubeObject): void {
  const apiVersion = apiVersionOf(kind);
  if (object.apiVersion !== apiVersion || object.kind !== kind.kind) {
    const found = `${object.apiVersion} ${object.kind}`;
    throw invalid(
      `object is not of the kind it is written as (found ${quote(found)}, need "${apiVersion} ${kind.kind}")`,
    );
  }
  checkMetadata(object.metadata);
  checkNamespace(kind, object.metadata.namespace);
}

/** @throws GateError GATE_CLUSTER_INVALID where a namespace is missing, not wanted, or not a DNS label. */
export function checkNamespace(kind: Kind, namespace: string | undefined): void {
  // Null, as YAML's `namespace:` without a value, means the same as absent.
  const given = typeof namespace === 'string' && namespace !== '';
  if (kind.namespaced && !given) throw invalid(`metadata.namespace: ${kind.kind} needs a namespace`);
  if (!kind.namespaced && given)
    throw invalid(`metadata.namespace: ${kind.kind} has no namespace; leave it out`);
  if (given && !LABEL.test(namespace)) {
    throw invalid(
      `metadata.namespace: ${quote(namespace)} is not a DNS label (lower-case letters, digits, hyphens)`,
    );
  }
}

/** @throws GateError GATE_CLUSTER_INVALID */
export function checkName(kind: Kind, name: string): void {
  // Role names and the like hold colons: for them only what would break a URL path is refused.
  const free = kind.group === 'rbac.authorization.k8s.io';
  const ok = free ? /^(?!\.{1,2}$)[^/%\0]+$/.test(name) : name.length <= NAME_LENGTH && SUBDOMAIN.test(name);
  if (!ok)
    throw invalid(
      `metadata.name: ${quote(name)} is not a name that ${kind.kind} can have; use a DNS subdomain`,
    );
}

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isStringMap: Check = (value) => isObject(value) && Object.values(value as object).every(isString);

const METADATA_CHECKS: Readonly<Record<keyof ObjectMeta, readonly [Check, string]>> = {
  name: [isString, 'a string'],
  generateName: [isString, 'a string'],
  namespace: [isString, 'a string'],
  uid: [isString, 'a string'],
  resourceVersion: [isString, 'a string'],
  generation: [Number.isSafeInteger, 'an integer'],
  creationTimestamp: [isString, 'a string'],
  deletionTimestamp: [isString, 'a string'],
  labels: [isStringMap, 'a map of strings (quote numbers and booleans)'],
  annotations: [isStringMap, 'a map of strings (quote numbers and booleans)'],
  finalizers: [(value) => Array.isArray(value) && value.every(isString), 'a list of strings'],
  ownerReferences: [(value) => Array.isArray(value) && value.every(isObject), 'a list of objects'],
};

function checkMetadata(metadata: unknown): void {
  if (!isObject(metadata)) throw invalid('metadata: an object is needed');
  for (const [field, [check, need]] of Object.entries(METADATA_CHECKS)) {
    if (!Object.hasOwn(metadata as object, field)) continue;
    const value = (metadata as Record<string, unknown>)[field];
    if (value !== undefined && value !== null && !check(value))
      throw invalid(`metadata.${field}: ${need} is needed`);
  }
}

function invalid(message: string): GateError {
  return new GateError('GATE_CLUSTER_INVALID', message);
}
