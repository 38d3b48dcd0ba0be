/** The policies in force with their bindings, compiled, and found by what a request is about. */
import type { GroupVersionResource, Operation } from '../../cluster/objects.ts';
import type { Cel } from '../cel/cel.ts';
import { PolicyCompiler, problemsOf, runSteps, type CompiledPolicy, type CompileProblem } from './compile.ts';
import type { EquivalentsOf } from './needs.ts';
import type { Binding, NamedRule, Policy } from './types.ts';

export interface PolicySetOptions {
  readonly cel: Cel;
  readonly policies: readonly Policy[];
  /** Those of policies that do not exist are left out, and policies without a binding never run (vap.md O05). */
  readonly bindings: readonly Binding[];
  /** Minor of the API server that is imitated: of its environment, and of what its answers look like. */
  readonly minor: number;
  /** Default: no resource has another version. */
  readonly equivalents?: EquivalentsOf;
  /** The set before this one: what is the same is not compiled again. */
  readonly previous?: PolicySet;
}

/** A policy in force. */
export interface BoundPolicy {
  readonly compiled: CompiledPolicy;
  /** By name. */
  readonly bindings: readonly Binding[];
}

export interface PolicySet {
  readonly minor: number;
  /** By name. */
  readonly bound: readonly BoundPolicy[];
  /** Expressions that do not compile; of policies without a binding too. */
  readonly problems: readonly CompileProblem[];
  readonly equivalents: EquivalentsOf;
  /**
   * Policies that may be about a request, by name: whoever is not among them is not.
   *
   * @param resources of the request, and its equivalents
   */
  candidates(operation: Operation, resources: readonly GroupVersionResource[]): readonly BoundPolicy[];
  /** What `previous` is for. */
  readonly compiler: PolicyCompiler;
}

export function createPolicySet(options: PolicySetOptions): PolicySet {
  return runSteps(policySetSteps(options));
}

/** The same in steps of an expression or a policy: whoever takes them lets others work in between. */
export function* policySetSteps(options: PolicySetOptions): Generator<void, PolicySet> {
  const { cel, minor, previous, equivalents = noEquivalents } = options;
  const earlier = previous?.minor === minor ? previous.compiler.programs : undefined;
  const compiler = new PolicyCompiler(cel, minor, earlier);
  const bindings = new Map<string, Binding[]>();
  // Native order is that of a map; ours is by name (vap.md O06).
  for (const binding of [...options.bindings].sort(byName)) {
    const known = bindings.get(binding.policyName);
    if (known === undefined) bindings.set(binding.policyName, [binding]);
    else known.push(binding);
  }
  const bound: BoundPolicy[] = [];
  const problems: CompileProblem[] = [];
  for (const policy of [...options.policies].sort(byName)) {
    const compiled = yield* compiler.steps(policy);
    problems.push(...problemsOf(compiled));
    const own = bindings.get(policy.name);
    if (own !== undefined) bound.push({ compiled, bindings: own });
    yield;
  }
  compiler.finish();
  const index = new PolicyIndex(bound);
  return {
    minor,
    bound,
    problems,
    equivalents,
    compiler,
    candidates: (operation, resources) => index.find(operation, resources),
  };
}

function noEquivalents(): readonly [] {
  return [];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Answers that are kept at most: kinds of requests, whose number only a hostile caller makes large. */
const KEPT_ANSWERS = 4096;

/** Finds policies by operation, group and resource of their rules. */
class PolicyIndex {
  readonly #bound: readonly BoundPolicy[];
  /** Positions of policies by `operation group/resource`, each of the three perhaps `*`. */
  readonly #positions = new Map<string, Set<number>>();
  /** Those that match everything, and those that cannot tell what they match. */
  readonly #always: readonly number[];
  readonly #found = new Map<string, readonly BoundPolicy[]>();

  constructor(bound: readonly BoundPolicy[]) {
    this.#bound = bound;
    const always: number[] = [];
    for (const [position, { compiled }] of bound.entries()) {
      const rules = compiled.policy.matchConstraints?.resourceRules ?? [];
      if (rules.length === 0) always.push(position);
      for (const rule of rules) this.#add(rule, position);
    }
    this.#always = always;
  }

  #add({ operations, apiGroups, resources }: NamedRule, position: number): void {
    for (const operation of operations) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          const key = keyOf(operation, group, resource.replace(/\/.*$/s, ''));
          const positions = this.#positions.get(key);
          if (positions === undefined) this.#positions.set(key, new Set([position]));
          else positions.add(position);
        }
      }
    }
  }

  find(operation: Operation, resources: readonly GroupVersionResource[]): readonly BoundPolicy[] {
    const key = resources.map(({ group, resource }) => keyOf(operation, group, resource)).join('\n');
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const positions = new Set(this.#always);
    for (const { group, resource } of resources) {
      for (const anyOperation of [operation, '*']) {
        for (const anyGroup of [group, '*']) {
          for (const anyResource of [resource, '*']) {
            const found = this.#positions.get(keyOf(anyOperation, anyGroup, anyResource)) ?? [];
            for (const position of found) positions.add(position);
          }
        }
      }
    }
    const found = this.#bound.filter((_, position) => positions.has(position));
    if (this.#found.size >= KEPT_ANSWERS) this.#found.clear();
    this.#found.set(key, found);
    return found;
  }
}

function keyOf(operation: string, group: string, resource: string): string {
  return `${operation} ${group}/${resource}`;
}
