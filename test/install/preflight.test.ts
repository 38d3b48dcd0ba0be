import { describe, expect, it } from 'vitest';
import { NATIVE_POLICY, NATIVE_POLICY_BINDING } from '../../src/cluster/kinds.ts';
import { GateError } from '../../src/errors.ts';
import {
  APPLICATION,
  DEPLOYMENT,
  HELM_RELEASE,
  KUSTOMIZATION,
} from '../../src/install/preflight/recovery-kinds.ts';
import { anObject } from '../support/builders.ts';
import { codesOf } from './support/preflight-case.ts';
import { ENTRY, GATE_NAMESPACE, POLICIES, soundGate } from './support/sound-gate.ts';

describe('preflight', () => {
  it('finds nothing wrong with a gate as it should be', async () => {
    const report = await soundGate().run();
    expect(codesOf(report)).toEqual([]);
    expect(report.unknown).toEqual([]);
    expect(report.rights).toEqual([]);
    const other = report.steps.filter(({ outcome }) => outcome !== 'possible');
    // Whoever writes a custom policy is checked by the gate.
    expect(other.map(({ id }) => id)).toEqual(['cure-custom-policy-update', 'cure-custom-binding-update']);
  });
});

describe('what preflight may not read', () => {
  it('is unknown, with the rights that are needed, and is never called fine', async () => {
    const gate = soundGate();
    gate.cluster.refuseCalls(new GateError('GATE_CLUSTER_FORBIDDEN', 'cannot list: forbidden'), ['list']);
    const report = await gate.run();
    expect(report.steps).toEqual([]);
    expect(report.unknown.map(({ what }) => what)).toEqual([
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'namespaces',
      'validatingadmissionpolicies',
      `deployments of namespace ${GATE_NAMESPACE}`,
      `networkpolicies of namespace ${GATE_NAMESPACE}`,
    ]);
    expect(report.rights).toContainEqual({
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['validatingwebhookconfigurations'],
      verbs: ['list'],
    });
  });

  it('is unknown where a kind is not served only if the answer says something else', async () => {
    const gate = soundGate();
    gate.cluster.refuseCalls(new GateError('GATE_CLUSTER_UNREACHABLE', 'cannot list: no answer'), ['list']);
    expect((await gate.run()).unknown).toHaveLength(6);
    const other = soundGate();
    other.cluster.refuseCalls(new GateError('GATE_CLUSTER_UNSUPPORTED', 'cannot list: 404'), ['list']);
    expect((await other.run()).unknown).toEqual([]);
  });

  it('is unknown where a condition asks the authorizer', async () => {
    const gate = soundGate();
    gate.change(POLICIES, ENTRY, {
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['nodes'], scope: '*' }],
      matchConditions: [
        { name: 'ask', expression: "!authorizer.group('').resource('nodes').check('breakglass').allowed()" },
      ],
    });
    const { steps, unknown } = await gate.run();
    expect(steps.filter(({ outcome }) => outcome === 'unknown').map(({ id }) => id)).toEqual([
      'node-create',
      'node-update',
      'node-delete',
    ]);
    expect(unknown).toHaveLength(3);
    expect(unknown[0]).toEqual({
      what: 'whether a kubelet registers its Node',
      why: `a match condition of ${ENTRY} asks the authorizer`,
    });
  });
});

describe("native policies of the gate's own", () => {
  const run = async (rule: object, spec: object, binding: object = {}): Promise<readonly string[]> => {
    const gate = soundGate();
    const labels = { 'gate.pacto.trianalab.io/managed-by': 'pacto-gate' };
    const name = 'native.example.com';
    const match = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], ...rule };
    const policy = { matchConstraints: { resourceRules: [match] }, ...spec };
    gate.put(NATIVE_POLICY, anObject(NATIVE_POLICY, { name, labels }, { spec: policy }));
    const bound = { policyName: name, validationActions: ['Deny'], ...binding };
    gate.put(NATIVE_POLICY_BINDING, anObject(NATIVE_POLICY_BINDING, { name, labels }, { spec: bound }));
    return (await gate.run()).findings.map(({ what }) => what);
  };
  const never = { validations: [{ expression: 'false' }] };

  it.each([
    [
      'the deletion of custom policies',
      { apiGroups: ['gate.pacto.trianalab.io'] },
      'refuses cure-custom-policy-delete, cure-custom-binding-delete',
    ],
    [
      'ConfigMaps',
      { apiGroups: [''], resources: ['configmaps'], operations: ['DELETE'] },
      `refuses cure-configmap-delete-${GATE_NAMESPACE}`,
    ],
  ])('lock where they refuse %s', async (_what, rule, want) => {
    expect(await run(rule, never)).toEqual([want]);
  });

  it.each<[string, object, object, object?]>([
    ['are about something else', { apiGroups: ['apps'] }, never],
    ['allow it', {}, { validations: [{ expression: 'true' }] }],
    ['only warn', {}, never, { validationActions: ['Warn'] }],
    [
      'ask for parameters',
      {},
      { ...never, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } },
    ],
  ])('lock nothing where they %s', async (_what, rule, spec, binding) => {
    expect(await run(rule, spec, binding)).toEqual([]);
  });
});

describe('what deploys the gate', () => {
  it('is found from the Deployment upwards', async () => {
    const gate = soundGate();
    const flux = (kind: string, group: string, name: string): Record<string, string> => ({
      [`${group}.toolkit.fluxcd.io/name`]: name,
      [`${group}.toolkit.fluxcd.io/namespace`]: kind,
    });
    gate.put(
      DEPLOYMENT,
      anObject(
        DEPLOYMENT,
        {
          namespace: GATE_NAMESPACE,
          name: 'pacto-gate',
          labels: { 'app.kubernetes.io/name': 'pacto-gate', ...flux('delivery', 'helm', 'gate') },
          annotations: {
            'argocd.argoproj.io/tracking-id': 'apps_platform:apps/Deployment:pacto-system/pacto-gate',
          },
        },
        { spec: { template: { metadata: { labels: { app: 'gate' } } } } },
      ),
    );
    gate.put(
      HELM_RELEASE,
      anObject(HELM_RELEASE, {
        namespace: 'delivery',
        name: 'gate',
        labels: flux('flux-system', 'kustomize', 'platform'),
      }),
    );
    gate.put(KUSTOMIZATION, anObject(KUSTOMIZATION, { namespace: 'flux-system', name: 'platform' }));
    const { steps } = await gate.run();
    expect(
      steps
        .filter(({ id }) => id.startsWith('pointer-'))
        .map(({ id }) => id.replace(/-(update|status)$/, '')),
    ).toEqual(
      expect.arrayContaining([
        'pointer-helmrelease-delivery-gate',
        'pointer-kustomization-flux-system-platform',
        'pointer-application-apps-platform',
      ]),
    );
  });

  it('is an Application of the name of its instance only where there is one', async () => {
    const gate = soundGate();
    const labels = { 'app.kubernetes.io/name': 'pacto-gate', 'app.kubernetes.io/instance': 'gate' };
    const annotations = { 'argocd.argoproj.io/tracking-id': 'gate:apps/Deployment:pacto-system/pacto-gate' };
    const put = (more: object = {}): void =>
      gate.put(
        DEPLOYMENT,
        anObject(
          DEPLOYMENT,
          { namespace: GATE_NAMESPACE, name: 'pacto-gate', labels, ...more },
          { spec: { template: { metadata: { labels: { app: 'gate' } } } } },
        ),
      );
    const pointers = async (): Promise<readonly string[]> =>
      (await gate.run()).steps.map(({ id }) => id).filter((id) => id.startsWith('pointer-'));
    put();
    expect(await pointers()).toEqual([]);
    gate.put(APPLICATION, anObject(APPLICATION, { namespace: 'argocd', name: 'gate' }));
    const both = ['pointer-application-argocd-gate-update', 'pointer-application-argocd-gate-status'];
    expect(await pointers()).toEqual(both);
    put({ annotations });
    expect(await pointers()).toEqual(both);
  });
});
