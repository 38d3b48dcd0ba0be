/** A request as the matching rules see it: in the version in which it was made, whatever a review was converted to. */
import type {
  AdmissionRequest,
  GroupVersionKind,
  GroupVersionResource,
  Operation,
} from '../../cluster/objects.ts';
import { labelsOf, member, type Labels } from './label-selector.ts';

export class Attributes {
  readonly request: AdmissionRequest;
  /** Of the request itself. */
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Empty for a DELETE of a collection. */
  readonly name: string;
  /** Of a Namespace its own name; empty for what is cluster-scoped. */
  readonly namespace: string;
  readonly operation: Operation;
  /** Undefined: not looked at yet. */
  #labels: readonly (Labels | undefined)[] | undefined;

  constructor(request: AdmissionRequest) {
    this.request = request;
    this.resource = request.requestResource ?? request.resource;
    this.kind = request.requestKind ?? request.kind;
    this.subresource = request.requestSubResource ?? request.subResource ?? '';
    this.name = request.name ?? '';
    this.namespace = request.namespace ?? '';
    this.operation = request.operation;
  }

  /** Of the object and the old object, as far as they have metadata. */
  get labels(): readonly (Labels | undefined)[] {
    this.#labels ??= [labelsOf(this.request.object), labelsOf(this.request.oldObject)];
    return this.#labels;
  }
}

export function sameResource(a: GroupVersionResource, b: GroupVersionResource): boolean {
  return a.resource === b.resource && a.version === b.version && a.group === b.group;
}

export function sameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.kind === b.kind && a.version === b.version && a.group === b.group;
}

/** The namespace whose object the expressions see; empty where there is none (vap.md D10). */
export function expressionNamespace(attributes: Attributes): string {
  const { group, version, kind } = attributes.kind;
  // A Namespace names itself as its namespace.
  return kind === 'Namespace' && version === 'v1' && group === '' ? '' : attributes.namespace;
}

/** The name in a refusal (vap.md A03). */
export function nameInAnswer(attributes: Attributes): string {
  if (attributes.name !== '') return attributes.name;
  const object = attributes.request.object ?? null;
  if (object === null) return 'Unknown';
  const metadata = member(object, 'metadata');
  if (metadata === undefined) return 'Unknown/errorGettingName';
  for (const key of ['name', 'generateName']) {
    const name = member(metadata, key);
    if (typeof name === 'string' && name !== '') return name;
  }
  return 'Unknown';
}
