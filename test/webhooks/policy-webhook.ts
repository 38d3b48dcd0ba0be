/** The webhook of policies that a test writes, without sources. */
import type { ReviewAccess } from '../../src/cluster/access-reviews.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import { policyObjectsOf } from '../../src/policies/vap/policy-objects.ts';
import { createPolicySet } from '../../src/policies/vap/policy-set.ts';
import { policiesWebhook } from '../../src/webhooks/policies.webhook.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';

/** A policy about ConfigMaps. */
export function aPolicy(name: string, spec: object): KubeObject {
  const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };
  return {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rules] }, ...spec },
  };
}

export function aBinding(policyName: string, spec: object = {}, name = `${policyName}-binding`): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  };
}

export interface PolicyWebhookGiven {
  readonly objects: readonly KubeObject[];
  readonly paramKinds?: readonly Kind[];
  readonly reviewAccess?: ReviewAccess;
}

export function webhookOf({ objects, paramKinds = [], reviewAccess }: PolicyWebhookGiven): Webhook {
  const { policies, bindings } = policyObjectsOf(objects);
  const set = createPolicySet({ cel: new Cel(), policies, bindings, minor: 36 });
  const snapshot = { policies, set };
  return policiesWebhook({
    current: () => snapshot,
    paramKinds,
    ...(reviewAccess === undefined ? {} : { reviewAccess }),
  });
}

/** A review of a ConfigMap `shop/a`. */
export function aReview(request: object = {}): {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: object;
} {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'u-1',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: { username: 'alice', groups: ['dev'] },
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'shop' },
        data: { size: '9' },
      },
      oldObject: null,
      dryRun: false,
      options: null,
      ...request,
    },
  };
}

export const shop: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels: { env: 'prod' } },
};

export interface PolicyResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly message: string;
    readonly reason: string;
    readonly code: number;
    readonly details?: unknown;
  };
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export function responseIn(body: string): PolicyResponse {
  return (JSON.parse(body) as { readonly response: PolicyResponse }).response;
}
