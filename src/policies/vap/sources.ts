/**
 * Where policies come from: objects of every source become one set of policies and bindings, and what is wrong with
 * them (design decision 17). Of one name the first counts: files in their order, custom resources, ConfigMaps by
 * namespace, name and key. A binding may come from another source than its policy.
 */
import type { KubeObject } from '../../cluster/objects.ts';
import { quote } from '../quote.ts';
import { CANARY_NAME } from './entry-name.ts';
import { policyKindOf, readOf, type PolicyKind } from './policy-objects.ts';
import type { Read } from './read.ts';
import type { Binding, ParamKind, Policy } from './types.ts';

export type PolicySource =
  | { readonly source: 'file'; readonly path: string }
  | {
      readonly source: 'configMap';
      readonly namespace: string;
      readonly name: string;
      readonly key: string;
    }
  | { readonly source: 'customResource' };

export interface SourcedObject {
  readonly object: KubeObject;
  readonly source: PolicySource;
}

export interface SourcedPolicy extends SourcedObject {
  readonly policy: Policy;
}

export interface SourcedBinding extends SourcedObject {
  readonly binding: Binding;
}

/**
 * `unreadable`: the object takes part in nothing, and what it would say is not known. `duplicate`: another of its name
 * comes first. `reserved`: its name is that of the canary, and the object takes part in nothing. `unbound`: a policy that never runs. `no-policy`: a binding of nothing. `param-kind`: the policy may not
 * have this paramKind, so that its failure policy decides.
 */
export type SourceProblemCause =
  'unreadable' | 'duplicate' | 'reserved' | 'unbound' | 'no-policy' | 'param-kind';

/** Why an object is not enforced as whoever wrote it will have meant it. */
export interface SourceProblem {
  readonly kind: PolicyKind;
  /** Empty where the object has none. */
  readonly name: string;
  readonly source: PolicySource;
  readonly cause: SourceProblemCause;
  readonly message: string;
}

/** What is in force. */
export interface SourcedPolicies {
  /** By name. */
  readonly policies: readonly SourcedPolicy[];
  readonly bindings: readonly SourcedBinding[];
  readonly problems: readonly SourceProblem[];
}

export interface CollectOptions {
  /** Whether a policy may have this paramKind; left out: every one. */
  readonly allowsParamKind?: (kind: ParamKind) => boolean;
  /** What was read of objects before: the same object is not read twice. Whoever collects again passes the same one. */
  readonly known?: WeakMap<KubeObject, Read<Policy> | Read<Binding>>;
}

/** @param objects in any order, but those of files in theirs; what is neither policy nor binding is passed over. */
export function collectPolicies(
  objects: readonly SourcedObject[],
  options: CollectOptions = {},
): SourcedPolicies {
  const collector = new Collector(options);
  for (const object of inOrder(objects)) collector.take(object);
  return collector.finish();
}

/** As a person would name it: `ConfigMap "pacto-system/policies" key "labels.yaml"`. */
export function sourceText(source: PolicySource): string {
  switch (source.source) {
    case 'file':
      return `file ${quote(source.path)}`;
    case 'customResource':
      return 'the custom resource';
    case 'configMap':
      return `ConfigMap ${quote(`${source.namespace}/${source.name}`)} key ${quote(source.key)}`;
  }
}

const RANKS = { file: 0, customResource: 1, configMap: 2 } as const;

function inOrder(objects: readonly SourcedObject[]): SourcedObject[] {
  // The sort is stable: within a source, the order of reading.
  return objects.toSorted((a, b) => compareSources(a.source, b.source));
}

function compareSources(a: PolicySource, b: PolicySource): number {
  if (a.source !== 'configMap' || b.source !== 'configMap') return RANKS[a.source] - RANKS[b.source];
  return compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.key, b.key);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byName<T>(named: ReadonlyMap<string, T>): readonly T[] {
  return [...named].toSorted(([a], [b]) => compare(a, b)).map(([, one]) => one);
}

class Collector {
  readonly #options: CollectOptions;
  readonly #policies = new Map<string, SourcedPolicy>();
  readonly #bindings = new Map<string, SourcedBinding>();
  readonly #problems: SourceProblem[] = [];

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  take({ object, source }: SourcedObject): void {
    const kind = policyKindOf(object);
    if (kind === undefined) return;
    const { name = '' } = object.metadata;
    if (name === CANARY_NAME) {
      const message =
        'left out: by this name the installer proves what enforces policies; choose another one';
      this.#problem({ kind, name, source, cause: 'reserved', message });
      return;
    }
    const read = this.#read(kind, object);
    if (!read.ok) {
      this.#problem({ kind, name, source, cause: 'unreadable', message: `left out: ${read.fault}` });
      return;
    }
    const first = (kind === 'ValidatingAdmissionPolicy' ? this.#policies : this.#bindings).get(name);
    if (first !== undefined) {
      const message = `left out: there is another of this name, of ${sourceText(first.source)}`;
      this.#problem({ kind, name, source, cause: 'duplicate', message });
    } else if (kind === 'ValidatingAdmissionPolicy')
      this.#policies.set(name, { policy: read.value as Policy, object, source });
    else this.#bindings.set(name, { binding: read.value as Binding, object, source });
  }

  finish(): SourcedPolicies {
    const bound = new Set(this.#bindings.values().map(({ binding }) => binding.policyName));
    const { allowsParamKind } = this.#options;
    for (const { policy, source } of this.#policies.values()) {
      const { name, paramKind } = policy;
      const problem = { kind: 'ValidatingAdmissionPolicy', name, source } as const;
      if (!bound.has(name)) this.#problem({ ...problem, cause: 'unbound', message: 'has no binding' });
      if (paramKind !== undefined && allowsParamKind?.(paramKind) === false) {
        const text = quote(`${paramKind.apiVersion}/${paramKind.kind}`);
        const message = `its paramKind ${text} is not in policies.paramKinds`;
        this.#problem({ ...problem, cause: 'param-kind', message });
      }
    }
    for (const { binding, source } of this.#bindings.values()) {
      const { name, policyName } = binding;
      if (this.#policies.has(policyName)) continue;
      this.#problem({
        kind: 'ValidatingAdmissionPolicyBinding',
        name,
        source,
        cause: 'no-policy',
        message: `there is no policy ${quote(policyName)}`,
      });
    }
    return {
      policies: byName(this.#policies),
      bindings: byName(this.#bindings),
      problems: this.#problems,
    };
  }

  #read(kind: PolicyKind, object: KubeObject): Read<Policy> | Read<Binding> {
    const { known } = this.#options;
    const before = known?.get(object);
    if (before !== undefined) return before;
    const read = readOf(kind, object);
    known?.set(object, read);
    return read;
  }

  #problem(problem: SourceProblem): void {
    this.#problems.push(problem);
  }
}
