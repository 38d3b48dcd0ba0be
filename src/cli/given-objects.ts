/** Objects from files that stand for what is in a cluster while policies are evaluated: namespaces, parameters, CRDs. */
import { kindDefinedBy } from '../cluster/directory-kinds.ts';
import { apiVersionOf, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { NAMESPACE_NAME_LABEL } from '../policies/entry.ts';
import type { Answers, ParamsNeed } from '../policies/vap/needs.ts';
import type { ParamKind } from '../policies/vap/types.ts';
import { targetOf } from './admission-review.ts';
import { loadOpenApiTypes } from './openapi.ts';

export class GivenObjects {
  /** Kinds of the CustomResourceDefinitions among the objects. */
  readonly customKinds: readonly Kind[];
  readonly #objects: readonly KubeObject[];
  readonly #namespaces: ReadonlyMap<string, KubeObject>;
  #builtIn: Promise<ReadonlySet<string>> | undefined;

  constructor(objects: readonly KubeObject[]) {
    this.#objects = objects;
    this.customKinds = objects.flatMap(customKindsOf);
    const namespaces = objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
    this.#namespaces = new Map(
      namespaces.map((namespace) => [namespace.metadata.name ?? '', withNameLabel(namespace)]),
    );
  }

  /** Whether anything is said about namespaces. */
  get hasNamespaces(): boolean {
    return this.#namespaces.size > 0;
  }

  namespaces(): readonly KubeObject[] {
    return [...this.#namespaces.values()];
  }

  namespace(name: string): KubeObject | undefined {
    return this.#namespaces.get(name);
  }

  /** A kind is served if Kubernetes has it, if it is defined here, or if there is an object of it. */
  async paramKind({ apiVersion, kind }: ParamKind): Promise<Kind | undefined> {
    const custom = this.customKinds.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
    if (custom !== undefined) return custom;
    const sample = this.#objects.find((one) => one.kind === kind && one.apiVersion === apiVersion);
    this.#builtIn ??= builtInKinds();
    const isBuiltIn = (await this.#builtIn).has(`${apiVersion} ${kind}`);
    if (!isBuiltIn && sample === undefined) return undefined;
    const { kind: found } = targetOf({ apiVersion, kind, metadata: {} }, { subresource: undefined });
    // Nothing but the object itself says so of a custom resource without its definition.
    const namespaced = isBuiltIn ? found.namespaced : (sample?.metadata.namespace ?? '') !== '';
    return { ...found, namespaced };
  }

  /** What the need does not select is dropped by whoever asks. */
  params({ apiVersion, kind, namespace }: ParamsNeed): Answers['params'] {
    return this.#objects
      .filter((one) => one.kind === kind && one.apiVersion === apiVersion)
      .map((one) => (namespace === undefined || one.metadata.namespace !== undefined ? one : inDefault(one)));
  }
}

/** As kubectl creates objects that name no namespace. */
function inDefault(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}

/** A namespace of which nothing but its name is known. */
export function bareNamespace(name: string): KubeObject {
  return withNameLabel({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
}

/** The API server keeps this label on every Namespace. */
function withNameLabel(namespace: KubeObject): KubeObject {
  const { metadata } = namespace;
  const labels = { ...metadata.labels, [NAMESPACE_NAME_LABEL]: metadata.name ?? '' };
  return { ...namespace, metadata: { ...metadata, labels } };
}

function customKindsOf(object: KubeObject): readonly Kind[] {
  const defined = kindDefinedBy(object);
  if (defined === undefined) return [];
  const { versions } = object['spec'] as { readonly versions?: unknown };
  if (!Array.isArray(versions)) return [];
  return (versions as readonly unknown[]).flatMap((version) =>
    typeof version === 'object' && version !== null && 'name' in version && typeof version.name === 'string'
      ? [{ ...defined, version: version.name }]
      : [],
  );
}

async function builtInKinds(): Promise<ReadonlySet<string>> {
  const { resources } = await loadOpenApiTypes();
  return new Set(resources.map((served) => `${apiVersionOf(served)} ${served.kind}`));
}
