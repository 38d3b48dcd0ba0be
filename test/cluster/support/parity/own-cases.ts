/** Cases of our own, for what is not recorded: differences that no webhook can avoid, and namespaces that go away. */
import type { KubeObject } from '../../../../src/cluster/objects.ts';
import type { ApiRequest } from '../api-client.ts';
import { namespaceOf } from '../policy-cases.ts';
import { targetOf } from './kubectl-command.ts';
import type { ParityCase } from './parity-case.ts';

const USER = { username: 'alice@example.com', groups: ['platform:admins', 'system:authenticated'] };
const CONFIG_MAPS = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };
const WIDGETS = { ...CONFIG_MAPS, apiGroups: ['things.example.com'], resources: ['widgets'] };

interface Own {
  readonly id: string;
  readonly allowed: boolean;
  readonly terminating?: boolean;
  /** The rest of each policy's spec, beside rules and namespace; the actions are those of its binding. */
  readonly policies: readonly {
    readonly rule?: object;
    readonly match?: object;
    readonly actions: readonly string[];
    readonly spec: object;
  }[];
  readonly request: Omit<ApiRequest, 'as'>;
  /** What is there before. */
  readonly old?: KubeObject;
}

const GROUP = 'admissionregistration.k8s.io';

function caseOf({ id, allowed, terminating = false, policies, request, old }: Own): ParityCase {
  const namespace = namespaceOf({ id });
  const { group, version, resource, namespace: within } = targetOf(request.path);
  const names = policies.map((_, index) => `${id}-${index}.example.com`);
  const own = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  return {
    id,
    family: 'own',
    allowed,
    terminating,
    policies: policies.map(({ rule = CONFIG_MAPS, match = own, spec }, index) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: names[index] },
      spec: { matchConstraints: { resourceRules: [rule], ...match }, ...spec },
    })),
    bindings: policies.map(({ actions }, index) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: `${id}-${index}` },
      spec: { policyName: names[index], validationActions: actions },
    })),
    params: [],
    namespaces: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }],
    // Only what tells what must be there before.
    review: {
      request: { resource: { group, version, resource }, namespace: within, oldObject: old ?? null },
    } as unknown as ParityCase['review'],
    request: { ...request, user: USER },
    answer: { allowed, status: null, warnings: [], auditAnnotations: {} },
  };
}

function configMap(id: string): KubeObject {
  const metadata = { name: 'settings', namespace: namespaceOf({ id }) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { level: 'info' } };
}

function configMaps(id: string): string {
  return `/api/v1/namespaces/${namespaceOf({ id })}/configmaps`;
}

function typeOf(expression: string): string {
  return `type(${expression}) == double ? 'double' : 'int'`;
}

const PHASE =
  "'phase ' + namespaceObject.status.phase + ', deleted ' + string(has(namespaceObject.metadata.deletionTimestamp))";

export const OWN_CASES: readonly ParityCase[] = [
  caseOf({
    id: 'webhook-configuration',
    allowed: false,
    policies: [
      {
        rule: { ...CONFIG_MAPS, apiGroups: [GROUP], resources: ['validatingwebhookconfigurations'] },
        match: { objectSelector: { matchLabels: { case: 'webhook-configuration' } } },
        actions: ['Deny'],
        spec: { validations: [{ expression: 'false', message: 'guarded' }] },
      },
    ],
    request: {
      method: 'POST',
      path: `/apis/${GROUP}/v1/validatingwebhookconfigurations?dryRun=All`,
      body: {
        apiVersion: `${GROUP}/v1`,
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'shop-guard', labels: { case: 'webhook-configuration' } },
      },
    },
  }),
  caseOf({
    id: 'integral-double',
    allowed: true,
    policies: [
      {
        rule: WIDGETS,
        actions: ['Deny'],
        spec: {
          auditAnnotations: [
            { key: 'whole', valueExpression: typeOf('object.spec.whole') },
            { key: 'fraction', valueExpression: typeOf('object.spec.fraction') },
          ],
        },
      },
    ],
    request: {
      method: 'POST',
      path: `/apis/things.example.com/v1/namespaces/${namespaceOf({ id: 'integral-double' })}/widgets?dryRun=All`,
      body: {
        apiVersion: 'things.example.com/v1',
        kind: 'Widget',
        metadata: { name: 'w1', namespace: namespaceOf({ id: 'integral-double' }) },
        // A token with a fraction, although the number has none.
        spec: { whole: Object(1) as unknown, fraction: 0.5 },
      },
    },
  }),
  caseOf({
    id: 'failures-of-two-policies',
    allowed: true,
    policies: ['first', 'second'].map((message) => ({
      actions: ['Audit'],
      spec: { validations: [{ expression: 'false', message }] },
    })),
    request: {
      method: 'POST',
      path: `${configMaps('failures-of-two-policies')}?dryRun=All`,
      body: configMap('failures-of-two-policies'),
    },
  }),
  caseOf({
    id: 'terminating-namespace-create',
    allowed: false,
    terminating: true,
    policies: [
      { actions: ['Deny'], spec: { validations: [{ expression: 'false', messageExpression: PHASE }] } },
    ],
    request: {
      method: 'POST',
      path: `${configMaps('terminating-namespace-create')}?dryRun=All`,
      body: configMap('terminating-namespace-create'),
    },
  }),
  caseOf({
    id: 'terminating-namespace-delete',
    allowed: false,
    terminating: true,
    policies: [
      {
        actions: ['Deny', 'Audit'],
        spec: {
          validations: [
            {
              expression: "namespaceObject.status.phase == 'Active'",
              messageExpression: PHASE,
              reason: 'Forbidden',
            },
          ],
        },
      },
    ],
    old: configMap('terminating-namespace-delete'),
    request: {
      method: 'DELETE',
      path: `${configMaps('terminating-namespace-delete')}/settings?dryRun=All`,
      body: {},
    },
  }),
];
