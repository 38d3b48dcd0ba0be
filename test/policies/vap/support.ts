/** Policies, bindings, requests and evidence, each with everything that a test does not care about. */
import type { AdmissionRequest, KubeObject } from '../../../src/cluster/objects.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import type { Outcome } from '../../../src/policies/vap/answer.ts';
import type { Evidence, Need } from '../../../src/policies/vap/needs.ts';
import {
  createPolicySet,
  type PolicySet,
  type PolicySetOptions,
} from '../../../src/policies/vap/policy-set.ts';
import type {
  Binding,
  LabelSelector,
  MatchResources,
  NamedRule,
  Policy,
} from '../../../src/policies/vap/types.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';

const cel = new Cel();

export function selector(
  matchLabels: Readonly<Record<string, string>> = {},
  matchExpressions: LabelSelector['matchExpressions'] = [],
): LabelSelector {
  return { matchLabels, matchExpressions };
}

export function rule(change: Partial<NamedRule> = {}): NamedRule {
  return {
    resourceNames: [],
    operations: ['*'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    scope: '*',
    ...change,
  };
}

export function matchResources(change: Partial<MatchResources> = {}): MatchResources {
  return {
    namespaceSelector: selector(),
    objectSelector: selector(),
    resourceRules: [rule()],
    excludeResourceRules: [],
    matchPolicy: 'Equivalent',
    ...change,
  };
}

export function policy(change: Partial<Policy> = {}): Policy {
  return {
    name: 'p.example.com',
    matchConstraints: matchResources(),
    validations: [{ expression: 'false', message: 'no' }],
    failurePolicy: 'Fail',
    auditAnnotations: [],
    matchConditions: [],
    variables: [],
    ...change,
  };
}

export function binding(change: Partial<Binding> = {}): Binding {
  return { name: 'b', policyName: 'p.example.com', validationActions: ['Deny'], ...change };
}

export function request(change: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: 'u',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'cm',
    namespace: 'shop',
    operation: 'CREATE',
    userInfo: { username: 'alice' },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm', namespace: 'shop' } },
    oldObject: null,
    dryRun: false,
    options: null,
    ...change,
  };
}

export function namespace(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** The namespace `shop` exists, nothing else is known. */
export function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    namespace: (name) => (name === 'shop' ? namespace('shop') : null),
    paramKind: () => undefined,
    params: () => undefined,
    authorize: () => undefined,
    conversion: () => undefined,
    ...change,
  };
}

export function policySet(
  policies: readonly Policy[],
  bindings: readonly Binding[] = policies.map(({ name }) => binding({ name: `${name}-b`, policyName: name })),
  change: Partial<PolicySetOptions> = {},
): PolicySet {
  return createPolicySet({ cel, policies, bindings, minor: 36, ...change });
}

/** Of an evaluation that lacks nothing. */
export function outcomeOf(result: Outcome | Need): Outcome {
  if ('need' in result) throw new Error(`needs ${JSON.stringify(result)}`);
  return result;
}

export function decideOne(
  one: Policy,
  {
    of = request(),
    known = evidence(),
    by = binding(),
  }: { of?: AdmissionRequest; known?: Evidence; by?: Binding } = {},
): Outcome {
  return outcomeOf(evaluate(policySet([one], [by]), of, known));
}

/** The message of a refusal, without who refused. */
export function refusal({ verdict }: Outcome): string | undefined {
  return verdict.allowed ? undefined : verdict.message.replace(/^.*? denied request: /s, '');
}
