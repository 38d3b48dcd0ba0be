/** What keeps policies from being enforced as their writers will have meant them. */
import type { KubeObject } from '../cluster/objects.ts';
import type { Cel } from '../policies/cel/cel.ts';
import type { PolicyKind } from '../policies/vap/policy-objects.ts';
import type { PolicySet } from '../policies/vap/policy-set.ts';
import { neverAsked } from '../policies/vap/reach.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { bindingWrite } from '../policies/vap/validate-binding.ts';
import { policyWrite } from '../policies/vap/validate-policy.ts';
import type { WriteAnswer } from '../policies/vap/write-answer.ts';

export interface PolicyProblem {
  readonly kind: PolicyKind;
  readonly name: string;
  readonly message: string;
  /** One half of a pair, which is written before or taken away after the other: often for a moment, and no fault. */
  readonly isHalf: boolean;
}

/** The newest release whose rules are known. */
const NEWEST_MINOR = 37;

/** Looks at each object once, for as long as it is the same. */
export class PolicyProblems {
  readonly #cel: Cel;
  /** A release takes in new expressions what the one before had, so the one after takes all that is compiled here. */
  readonly #minor: number;
  readonly #known = new WeakMap<KubeObject, readonly string[]>();

  /** @param minor of the API server that is imitated */
  constructor(cel: Cel, minor: number) {
    this.#cel = cel;
    this.#minor = Math.min(minor + 1, NEWEST_MINOR);
  }

  /** In steps of an expression: whoever takes them lets others work in between. */
  *find(
    { policies, bindings, problems }: SourcedPolicies,
    set: Pick<PolicySet, 'problems' | 'bound'>,
  ): Generator<void, readonly PolicyProblem[]> {
    const found: PolicyProblem[] = problems.map(({ kind, name, message, cause }) => ({
      kind,
      name,
      message,
      isHalf: cause === 'unbound' || cause === 'no-policy',
    }));
    const add = (kind: PolicyKind, name: string, message: string): void => {
      found.push({ kind, name, message, isHalf: false });
    };
    for (const { policy: name, field, error } of set.problems)
      add(POLICY, name, `${field} does not compile: ${error}`);
    for (const { compiled } of set.bound) {
      const { name, matchConstraints } = compiled.policy;
      const message = matchConstraints && neverAsked(matchConstraints);
      if (message !== undefined) add(POLICY, name, message);
    }
    const uncompiled = new Set(set.problems.map(({ policy, field }) => `${policy} ${field}`));
    for (const { policy, object } of policies)
      for (const message of yield* this.#refusals(POLICY, object, (field) =>
        uncompiled.has(`${policy.name} ${field}`),
      ))
        add(POLICY, policy.name, message);
    for (const { binding, object } of bindings)
      for (const message of yield* this.#refusals(BINDING, object, () => false))
        add(BINDING, binding.name, message);
    return found;
  }

  /** Nobody asked an API server about what lies in a file or a ConfigMap. */
  *#refusals(
    kind: PolicyKind,
    object: KubeObject,
    isSaid: (field: string) => boolean,
  ): Generator<void, readonly string[]> {
    const known = this.#known.get(object);
    if (known !== undefined) return known;
    const write = kind === POLICY ? policyWrite : bindingWrite;
    const answer = yield* write(object, { cel: this.#cel, minor: this.#minor });
    const refusals = refusalsIn(answer, isSaid);
    this.#known.set(object, refusals);
    return refusals;
  }
}

const POLICY = 'ValidatingAdmissionPolicy';
const BINDING = 'ValidatingAdmissionPolicyBinding';

function refusalsIn(
  { status, warnings }: WriteAnswer,
  isSaid: (field: string) => boolean,
): readonly string[] {
  const causes = (status?.details?.causes ?? []).filter(({ field }) => !isSaid(field));
  return [
    ...causes.map(({ field, message }) => `an API server would refuse it: ${field}: ${message}`),
    ...warnings.map((warning) => `an API server would drop something: ${warning}`),
  ];
}
