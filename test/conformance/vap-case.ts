/** A case about a request, as test/golden/vap/README.md and the kubescape set describe it. */
import type { AdmissionRequest, KubeObject } from '../../src/cluster/objects.ts';
import type { Cel } from '../../src/policies/cel/cel.ts';
import type { Outcome } from '../../src/policies/vap/answer.ts';
import { sameKind } from '../../src/policies/vap/attributes.ts';
import type { Conversion, Evidence, Need } from '../../src/policies/vap/needs.ts';
import { createPolicySet, type PolicySet } from '../../src/policies/vap/policy-set.ts';
import { readBinding, readPolicy, type Read } from '../../src/policies/vap/read.ts';
import { evaluate } from '../../src/policies/vap/vap.ts';
import { rbacAuthorizer, type RbacObject } from './rbac.ts';
import { recordedConversion, recordedEquivalents, recordedParamKind } from './vap-recording.ts';

/** Minor of the API server that answered. */
const RECORDED_MINOR = 36;

export interface RecordedStatus {
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details: unknown;
}

export interface Review {
  readonly request: AdmissionRequest;
}

export interface RequestCase {
  readonly id: string;
  readonly policies: readonly unknown[];
  readonly bindings: readonly unknown[];
  readonly params: readonly KubeObject[];
  readonly namespaces: readonly KubeObject[];
  readonly review: Review | null;
  readonly moreReviews?: readonly Review[];
  readonly policyReview?: Review | null;
  readonly numberTypeLost?: unknown;
  readonly rbac?: readonly RbacObject[];
  readonly unordered?: boolean;
  readonly answer: {
    readonly allowed: boolean;
    readonly status: RecordedStatus | null;
    readonly warnings: readonly string[];
    readonly auditAnnotations: Readonly<Record<string, string>>;
  };
}

export function policySetOf(recorded: RequestCase, cel: Cel): PolicySet {
  return createPolicySet({
    cel,
    policies: recorded.policies.map((policy) => valueOf(readPolicy(policy))),
    bindings: recorded.bindings.map((binding) => valueOf(readBinding(binding))),
    minor: RECORDED_MINOR,
    equivalents: recordedEquivalents,
  });
}

function valueOf<T>(read: Read<T>): T {
  if (!read.ok) throw new Error(read.fault);
  return read.value;
}

/** What we answer to each of these reviews. */
export function outcomesOf(
  recorded: RequestCase,
  reviews: readonly Review[],
  set: PolicySet,
): readonly Outcome[] {
  return reviews.map(({ request }) => {
    const outcome = evaluate(set, request, evidenceOf(recorded, request));
    if ('need' in outcome) throw new Error(`nothing known about ${JSON.stringify(outcome)}`);
    return outcome;
  });
}

export function evidenceOf(recorded: RequestCase, request: AdmissionRequest): Evidence {
  return {
    namespace: (name) => recorded.namespaces.find((one) => one.metadata.name === name) ?? null,
    paramKind: recordedParamKind,
    params: ({ apiVersion, kind }) =>
      recorded.params.filter((one) => one.apiVersion === apiVersion && one.kind === kind),
    authorize: rbacAuthorizer(recorded.rbac ?? []),
    conversion: (to) => conversionOf(recorded, request, to),
  };
}

function conversionOf(
  { policyReview }: RequestCase,
  request: AdmissionRequest,
  to: Extract<Need, { need: 'conversion' }>['to'],
): Conversion | undefined {
  const converted = policyReview?.request;
  if (converted !== undefined && sameKind(converted.kind, to)) return converted;
  return recordedConversion(request, to);
}
