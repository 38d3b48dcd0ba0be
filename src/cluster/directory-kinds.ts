/** Which kind a document of a directory is, where nobody can be asked: the kinds known here, its CRDs, or a guess. */
import * as kinds from './kinds.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';

const KNOWN: readonly Kind[] = Object.values(kinds).filter(
  (value): value is Kind => typeof value === 'object',
);

export class KindIndex {
  readonly #byGroupKind = new Map<string, Omit<Kind, 'version'>>();

  /** @param objects of the directory; CustomResourceDefinitions among them count. */
  constructor(objects: Iterable<KubeObject>) {
    for (const kind of KNOWN) this.#byGroupKind.set(`${kind.group}/${kind.kind}`, kind);
    for (const object of objects) {
      const kind = kindDefinedBy(object);
      if (kind !== undefined) this.#byGroupKind.set(`${kind.group}/${kind.kind}`, kind);
    }
  }

  /** An unknown kind is taken to be namespaced where the object names a namespace. */
  kindOf(object: KubeObject): Kind {
    const { group, version } = groupVersionOf(object.apiVersion);
    const known = this.#byGroupKind.get(`${group}/${object.kind}`);
    if (known !== undefined) return { ...known, version };
    const { namespace } = object.metadata;
    const namespaced = namespace !== undefined && namespace !== '';
    return { group, version, kind: object.kind, resource: pluralOf(object.kind), namespaced };
  }
}

export function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1) };
}

/** What a CustomResourceDefinition defines; undefined for every other object. */
export function kindDefinedBy(object: KubeObject): Omit<Kind, 'version'> | undefined {
  if (object.kind !== 'CustomResourceDefinition' || !object.apiVersion.startsWith('apiextensions.k8s.io/'))
    return;
  const spec = fieldsOf(object['spec']);
  const names = fieldsOf(spec['names']);
  const { group, scope } = spec;
  const { kind, plural } = names;
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof plural !== 'string') return;
  return { group, kind, resource: plural, namespaced: scope !== 'Cluster' };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The rule of apimachinery (meta.UnsafeGuessKindToResource). */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular === 'endpoints') return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
