/** Policies decided as by an API server that has them: what it would look up comes from files, or from a cluster. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccessAnswer, AccessQuestion, Cluster } from '../cluster/cluster.ts';
import { NAMESPACE, type Kind } from '../cluster/kinds.ts';
import type { AdmissionRequest, KubeObject } from '../cluster/objects.ts';
import { GateError, quote } from '../errors.ts';
import { Cel } from '../policies/cel/cel.ts';
import type { AuthorizationAnswer, AuthorizationQuery } from '../policies/cel/signals.ts';
import type { Outcome } from '../policies/vap/answer.ts';
import type { Answers, Need, ParamsNeed } from '../policies/vap/needs.ts';
import { groupOf, policyKindOf, policyObjectsOf } from '../policies/vap/policy-objects.ts';
import { createPolicySet, type PolicySet } from '../policies/vap/policy-set.ts';
import type { ParamKind, Policy } from '../policies/vap/types.ts';
import { answerBindingWrite } from '../policies/vap/validate-binding.ts';
import { answerPolicyWrite } from '../policies/vap/validate-policy.ts';
import { decide, settle } from '../policies/vap/vap.ts';
import type { WriteAnswer } from '../policies/vap/write-answer.ts';
import { findParamKind } from '../webhooks/param-kinds.ts';
import { authorizationOf, notConverted, questionOf } from '../webhooks/policy-needs.ts';
import { bareNamespace, GivenObjects } from './given-objects.ts';

export interface NativePolicyParts {
  /** Policies, bindings, and whatever else they look at. */
  readonly objects: readonly KubeObject[];
  /** Minor of the API server that is imitated. */
  readonly minor: number;
  /** Kinds that are served beside those that the objects tell of. */
  readonly paramKinds?: readonly Kind[];
  /** Asked for what the objects do not say. */
  readonly cluster?: Pick<Cluster, 'get' | 'list'> | undefined;
  /** Answers the authorizer's questions; left out where nobody can. */
  readonly authorize?: (query: AuthorizationQuery) => AuthorizationAnswer | Promise<AuthorizationAnswer>;
  /** Told of each namespace of which nothing is known, once. */
  readonly onUnknownNamespace?: (name: string) => void;
}

/** What the API server would say to whoever writes one of the policies. */
export interface Refusal {
  readonly kind: string;
  readonly name: string;
  readonly answer: WriteAnswer;
}

/** Names of objects that are given without what makes them count. */
export interface Loose {
  readonly policiesWithoutBinding: readonly string[];
  readonly bindingsWithoutPolicy: readonly string[];
}

export class NativePolicies {
  /** Policies and bindings that cannot be written; they are decided by as if they had been stored. */
  readonly refused: readonly Refusal[];
  readonly loose: Loose;
  readonly given: GivenObjects;
  readonly #parts: NativePolicyParts;
  readonly #set: PolicySet;
  readonly #assumed = new Map<string, KubeObject>();

  /** @throws GateError GATE_INPUT_FILE where something in a policy or binding has a type that it may not have. */
  constructor(parts: NativePolicyParts) {
    const { objects, minor } = parts;
    const { policies, bindings, unreadable, others } = policyObjectsOf(objects);
    const [first] = unreadable;
    if (first !== undefined) {
      throw new GateError('GATE_INPUT_FILE', `${first.kind} ${quote(first.name)}: ${first.fault}`);
    }
    const cel = new Cel();
    this.#parts = parts;
    this.#set = createPolicySet({ cel, policies, bindings, minor });
    this.given = new GivenObjects(others);
    this.refused = objects.flatMap((object) => refusalOf(object, cel, minor));
    this.loose = {
      policiesWithoutBinding: missing(
        policies,
        bindings.map(({ policyName }) => policyName),
      ),
      bindingsWithoutPolicy: bindings
        .filter(({ policyName }) => !policies.some(({ name }) => name === policyName))
        .map(({ name }) => name),
    };
  }

  get isEmpty(): boolean {
    return this.#set.bound.length === 0;
  }

  /** @throws GateError where something could not be found out. */
  async decide(request: AdmissionRequest): Promise<Outcome> {
    return await settle(
      decide(this.#set, request),
      (need) => this.#lookUp(need),
      () => nextTurn(),
    );
  }

  async #lookUp(need: Need): Promise<Answers[keyof Answers]> {
    switch (need.need) {
      case 'namespace':
        return await this.#namespace(need.name);
      case 'paramKind':
        return (await this.#paramKind(need)) ?? null;
      case 'params':
        return await this.#params(need);
      case 'authorize':
        return await this.#authorize(need.query);
      case 'conversion':
        return notConverted(need.to);
    }
  }

  async #namespace(name: string): Promise<KubeObject | null> {
    const given = this.given.namespace(name);
    if (given !== undefined) return given;
    const { cluster, onUnknownNamespace } = this.#parts;
    if (cluster !== undefined) return (await cluster.get(NAMESPACE, { name })) ?? null;
    if (this.given.hasNamespaces) return null;
    let assumed = this.#assumed.get(name);
    if (assumed === undefined) {
      onUnknownNamespace?.(name);
      this.#assumed.set(name, (assumed = bareNamespace(name)));
    }
    return assumed;
  }

  async #paramKind(kind: ParamKind): Promise<Kind | undefined> {
    return findParamKind(this.#parts.paramKinds ?? [], kind) ?? (await this.given.paramKind(kind));
  }

  async #params(need: ParamsNeed): Promise<Answers['params']> {
    const given = this.given.params(need);
    const { cluster } = this.#parts;
    const kind = await this.#paramKind(need);
    if (cluster === undefined || kind === undefined || given.length > 0) return given;
    const { name, namespace } = need;
    const place = namespace === undefined ? {} : { namespace };
    if (name === undefined) return (await cluster.list(kind, place)).items;
    const object = await cluster.get(kind, { name, ...place });
    return object === undefined ? [] : [object];
  }

  async #authorize(query: AuthorizationQuery): Promise<AuthorizationAnswer> {
    const { authorize } = this.#parts;
    if (authorize !== undefined) return await authorize(query);
    throw new GateError(
      'GATE_UNSYNCED',
      `a policy asks whether ${quote(query.user.username)} may ${quote(query.verb)} something, and nobody can tell: give a cluster by --cluster-kubeconfig, or in a suite a table authorizer`,
    );
  }
}

function missing(policies: readonly Policy[], bound: readonly string[]): readonly string[] {
  return policies.map(({ name }) => name).filter((name) => !bound.includes(name));
}

function refusalOf(object: KubeObject, cel: Cel, minor: number): readonly Refusal[] {
  const answer = writeAnswerOf(object, cel, minor);
  return answer?.status === undefined
    ? []
    : [{ kind: object.kind, name: object.metadata.name ?? '', answer }];
}

/**
 * @param old the object as it is stored, of an update
 * @returns undefined for an object that is neither policy nor binding.
 */
export function writeAnswerOf(
  object: KubeObject,
  cel: Cel,
  minor: number,
  old?: KubeObject,
): WriteAnswer | undefined {
  const kind = policyKindOf(object);
  if (kind === undefined) return undefined;
  const options = { cel, minor, group: groupOf(object.apiVersion), ...(old === undefined ? {} : { old }) };
  return kind === 'ValidatingAdmissionPolicy'
    ? answerPolicyWrite(object, options)
    : answerBindingWrite(object, options);
}

/** Lets a cluster answer the authorizer's questions. */
export function authorizeBy(
  reviewAccess: (question: AccessQuestion) => Promise<AccessAnswer>,
): (query: AuthorizationQuery) => Promise<AuthorizationAnswer> {
  return async (query) => authorizationOf(await reviewAccess(questionOf(query)));
}
