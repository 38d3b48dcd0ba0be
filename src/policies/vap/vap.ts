/**
 * The door of the room: decides about requests as ValidatingAdmissionPolicy of the API server does.
 *
 *   const set = createPolicySet({ cel, policies, bindings, minor: 36 });      // policy-set.ts, once
 *   const outcome = evaluate(set, request, known);                            // everything is known
 *   const outcome = await settle(decide(set, request), lookUp, pause);        // or find out what is needed
 */
import type { AdmissionRequest, KubeObject } from '../../cluster/objects.ts';
import type { Activation } from '../cel/activation.ts';
import { bindAuthorizer } from '../cel/libraries/authorizer.ts';
import type { Value } from '../cel/values.ts';
import { AnswerBuilder, type Outcome } from './answer.ts';
import { Attributes, expressionNamespace, sameKind, sameResource } from './attributes.ts';
import { evaluateOne, type Activations } from './evaluate.ts';
import { Inquiry, type Steps } from './inquiry.ts';
import { matches, mayMatch, namespaceForSelector, type Match, type Matched } from './match.ts';
import { answerFrom, type Equivalent, type Evidence, type Need, type Pause } from './needs.ts';
import { chooseParams, planParams, unknownParamKind } from './params.ts';
import type { BoundPolicy, PolicySet } from './policy-set.ts';
import { namespaceValue, requestValue, wholeNamespaceValue } from './request-value.ts';
import type { Binding, MatchResources } from './types.ts';

export interface DecideOptions {
  /** Only this policy: that of a webhook entry. */
  readonly policy?: string;
  /** Asked now and then within long expressions; true ends them with an error. */
  readonly interrupted?: () => boolean;
}

/**
 * Evaluates what is known.
 *
 * @returns the first thing that is not, if something is missing; evaluate again then.
 */
export function evaluate(
  set: PolicySet,
  request: AdmissionRequest,
  known: Evidence,
  options: DecideOptions = {},
): Outcome | Need {
  const steps = decide(set, request, options);
  let next = steps.next();
  while (next.done !== true) {
    const step = next.value;
    const answer = step.need === 'pause' ? null : answerFrom(known, step);
    if (answer === undefined && step.need !== 'pause') return step;
    next = steps.next(answer);
  }
  return next.value;
}

/**
 * Runs an evaluation to its end.
 *
 * @param lookUp answers a need; what it throws ends the evaluation
 * @param pause lets others work
 */
export async function settle(
  steps: Steps<Outcome>,
  lookUp: (need: Need) => Promise<unknown>,
  pause: () => Promise<void>,
): Promise<Outcome> {
  let next = steps.next();
  while (next.done !== true) {
    const step: Need | Pause = next.value;
    if (step.need === 'pause') {
      await pause();
      next = steps.next();
    } else {
      next = steps.next(await lookUp(step));
    }
  }
  return next.value;
}

/** Resources about which policies are never asked (vap.md O03), as `group/resource`. */
const NEVER: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
]);

/** Evaluates, and asks on the way for what it needs. */
export function* decide(
  set: PolicySet,
  request: AdmissionRequest,
  options: DecideOptions = {},
): Steps<Outcome> {
  const attributes = new Attributes(request);
  const answer = new AnswerBuilder(attributes, set.minor);
  const { resource, operation } = attributes;
  if (NEVER.has(`${resource.group}/${resource.resource}`)) return answer.finish();
  const equivalents = equivalentsOf(set, attributes);
  const decision = new RequestDecision(set, attributes, equivalents, answer, options);
  const resources = [resource, ...equivalents.map((other) => other.resource)];
  for (const bound of set.candidates(operation, resources)) {
    if (options.policy !== undefined && bound.compiled.policy.name !== options.policy) continue;
    const gone = yield* decision.policy(bound);
    if (gone !== undefined) return answer.namespaceGone(gone);
  }
  return answer.finish();
}

/** A review that was converted tells of one equivalent by itself. */
function equivalentsOf(set: PolicySet, attributes: Attributes): readonly Equivalent[] {
  const { request, resource, subresource } = attributes;
  const known = set.equivalents(resource, subresource);
  const isKnown = [resource, ...known.map((other) => other.resource)].some((other) =>
    sameResource(other, request.resource),
  );
  return isKnown ? known : [...known, { resource: request.resource, kind: request.kind }];
}

/** Objects of the request in one version. */
interface Objects {
  readonly object: Value;
  readonly oldObject: Value;
}

class RequestDecision {
  readonly #set: PolicySet;
  readonly #attributes: Attributes;
  readonly #equivalents: readonly Equivalent[];
  readonly #answer: AnswerBuilder;
  readonly #options: DecideOptions;
  readonly #inquiry = new Inquiry();
  /** `request` by the version in which policies see it. */
  readonly #requestValues = new Map<string, Value>();
  #bound: Pick<Activation, 'authorizer' | 'requestResource'> | undefined;

  constructor(
    set: PolicySet,
    attributes: Attributes,
    equivalents: readonly Equivalent[],
    answer: AnswerBuilder,
    options: DecideOptions,
  ) {
    this.#set = set;
    this.#attributes = attributes;
    this.#equivalents = equivalents;
    this.#answer = answer;
    this.#options = options;
  }

  /** @returns the name of the request's namespace where it had to exist and does not */
  *policy(bound: BoundPolicy): Steps<string | undefined> {
    const { policy } = bound.compiled;
    const { matchConstraints, paramKind } = policy;
    if (matchConstraints === undefined) {
      this.#answer.misconfigured(
        policy,
        undefined,
        'policy contained no match constraints, a required field',
      );
      return undefined;
    }
    // Where there are thousands, looking at them is work too.
    yield* this.#inquiry.worked(0);
    const matched = yield* this.#match(matchConstraints);
    if (matched === undefined) return undefined;
    if ('error' in matched) {
      this.#answer.misconfigured(policy, undefined, matched.error);
      return undefined;
    }
    const served = paramKind === undefined ? undefined : yield* this.#inquiry.paramKind(paramKind);
    if (paramKind !== undefined && served === null) {
      this.#answer.misconfigured(policy, undefined, unknownParamKind(paramKind));
      return undefined;
    }
    for (const binding of bound.bindings) {
      yield* this.#inquiry.worked(0);
      const gone = yield* this.#binding(bound, binding, matched, served ?? undefined);
      if (gone !== undefined) return gone;
    }
    return undefined;
  }

  *#match(match: MatchResources): Steps<Match> {
    const context = { attributes: this.#attributes, equivalents: this.#equivalents };
    const name = namespaceForSelector(match, this.#attributes);
    if (name === undefined) return matches(match, { ...context, namespace: null });
    if (!mayMatch(match, context)) return matches(match, { ...context, namespace: null });
    return matches(match, { ...context, namespace: yield* this.#inquiry.namespace(name) });
  }

  *#binding(
    { compiled }: BoundPolicy,
    binding: Binding,
    matched: Matched,
    served: { readonly namespaced: boolean } | undefined,
  ): Steps<string | undefined> {
    const { policy } = compiled;
    const match = binding.matchResources === undefined ? matched : yield* this.#match(binding.matchResources);
    if (match === undefined) return undefined;
    if ('error' in match) {
      this.#answer.misconfigured(policy, binding, match.error);
      return undefined;
    }
    const params = yield* this.#params(compiled.policy.paramKind, served, binding);
    if (typeof params === 'string') {
      this.#answer.misconfigured(policy, binding, params);
      return undefined;
    }
    const objects = params.length === 0 ? undefined : yield* this.#objects(matched);
    if (objects !== undefined && 'error' in objects) {
      this.#answer.misconfigured(policy, binding, `failed to convert object version: ${objects.error}`);
      return undefined;
    }
    const namespaceName = expressionNamespace(this.#attributes);
    let namespace: KubeObject | null = null;
    if (namespaceName !== '') {
      namespace = yield* this.#inquiry.namespace(namespaceName);
      if (namespace === null) return namespaceName;
    }
    for (const param of params) {
      if (objects === undefined) continue;
      const activations = this.#activations(matched, objects, param, namespace);
      const findings = yield* evaluateOne(compiled, activations, this.#inquiry);
      for (const failing of findings.failing) this.#answer.failed(policy, binding, failing);
      for (const annotation of findings.annotations) {
        if ('error' in annotation) this.#answer.annotationFailed(policy, binding, annotation.error);
        else this.#answer.annotate(policy, annotation.key, annotation.value);
      }
    }
    return undefined;
  }

  /** @returns one null for an evaluation without parameters; a text where they cannot be had */
  *#params(
    paramKind: BoundPolicy['compiled']['policy']['paramKind'],
    served: { readonly namespaced: boolean } | undefined,
    { paramRef }: Binding,
  ): Steps<readonly (KubeObject | null)[] | string> {
    const plan = planParams(paramKind, served, paramRef, this.#attributes.namespace);
    if (plan.plan === 'error') return plan.error;
    if (plan.plan === 'none' || paramRef === undefined) return [null];
    return chooseParams(yield* this.#inquiry.params(plan.read), plan.read, paramRef);
  }

  /** The objects in the version that was matched (vap.md M09, M11). */
  *#objects({ kind }: Matched): Steps<Objects | { readonly error: string }> {
    const { request } = this.#attributes;
    if (sameKind(kind, request.kind)) return objectsOf(request);
    const conversion = yield* this.#inquiry.conversion(kind);
    return 'error' in conversion ? conversion : objectsOf(conversion);
  }

  #activations(
    { resource, kind }: Matched,
    objects: Objects,
    param: KubeObject | null,
    namespace: KubeObject | null,
  ): Activations {
    const { interrupted } = this.#options;
    const common: Activation = {
      ...objects,
      params: param as Value,
      request: this.#requestValue({ resource, kind }),
      namespaceObject: namespaceValue(namespace, this.#set.minor),
      ...(interrupted === undefined ? {} : { interrupted }),
    };
    const bound = (this.#bound ??= this.#authorizer());
    return {
      conditions: () => ({
        ...common,
        ...bound,
        request: this.#requestValue({ resource: this.#attributes.resource, kind }),
        namespaceObject: null,
      }),
      validations: () => ({ ...common, ...bound }),
      messages: () => common,
      annotations: () => ({ ...common, namespaceObject: wholeNamespaceValue(namespace) }),
    };
  }

  #requestValue({ resource, kind }: Matched): Value {
    const key = `${resource.group}/${resource.version}/${resource.resource} ${kind.group}/${kind.version}/${kind.kind}`;
    let value = this.#requestValues.get(key);
    if (value === undefined) {
      value = requestValue(this.#attributes, resource, kind);
      this.#requestValues.set(key, value);
    }
    return value;
  }

  #authorizer(): Pick<Activation, 'authorizer' | 'requestResource'> {
    const { resource, subresource, namespace, name, request } = this.#attributes;
    const { username = '', uid = '', groups = [], extra = {} } = request.userInfo;
    return bindAuthorizer(
      { username, uid, groups, extra },
      { group: resource.group, resource: resource.resource, subresource, namespace, name },
      (query) => this.#inquiry.authorization(query),
    );
  }
}

function objectsOf(from: { readonly object: unknown; readonly oldObject: unknown }): Objects {
  return { object: (from.object ?? null) as Value, oldObject: (from.oldObject ?? null) as Value };
}
