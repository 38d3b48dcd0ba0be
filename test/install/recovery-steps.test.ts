import { describe, expect, it } from 'vitest';
import type { RecoverySite } from '../../src/install/preflight/recovery-step.ts';
import { KUSTOMIZATION } from '../../src/install/preflight/recovery-kinds.ts';
import { recoverySteps } from '../../src/install/preflight/recovery-steps.ts';

const SITE: RecoverySite = {
  namespace: 'pacto-system',
  name: 'pacto-gate',
  labels: { app: 'gate' },
  podLabels: { app: 'gate' },
  namespaceLabels: { team: 'platform' },
  policyNamespaces: ['team-a'],
  pointers: [{ kind: KUSTOMIZATION, namespace: 'flux-system', name: 'gate', labels: { app: 'gate' } }],
};

describe('the steps of recovery', () => {
  const steps = recoverySteps(SITE);

  it('have an id of their own each, that a command line can name', () => {
    const ids = steps.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  it.each(steps.map((step) => [step.id, step] as const))(
    'are requests as an API server makes them: %s',
    (_id, step) => {
      const { request, kind } = step;
      const { object, oldObject, operation } = request;
      expect([object !== null, oldObject !== null]).toEqual([operation !== 'DELETE', operation !== 'CREATE']);
      expect(request.namespace !== undefined).toBe(kind.namespaced || kind.kind === 'Namespace');
      expect(request.resource).toEqual({ group: kind.group, version: kind.version, resource: kind.resource });
      expect(request.requestResource).toEqual(request.resource);
      expect(request.userInfo.groups).toContain('system:authenticated');
      const isAnswered = kind.resource.endsWith('reviews');
      expect(request.name === undefined).toBe(isAnswered);
    },
  );

  it('cover what recovery from an outage is known to need', () => {
    const asked = new Set(
      steps.map(({ request: { operation, resource, subResource, namespace } }) =>
        [
          operation,
          [resource.resource, subResource].filter((part) => part !== undefined).join('/'),
          namespace,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
      ),
    );
    const own = [
      'CREATE pods',
      'CREATE pods/binding',
      'UPDATE pods/status',
      'DELETE pods',
      'CREATE pods/eviction',
    ]
      .concat([
        'CREATE serviceaccounts/token',
        'CREATE replicasets',
        'UPDATE deployments',
        'UPDATE deployments/scale',
      ])
      .concat([
        'CREATE endpointslices',
        'UPDATE endpoints',
        'CREATE secrets',
        'UPDATE configmaps',
        'UPDATE leases',
      ])
      .map((what) => `${what} pacto-system`);
    const others = [
      'CREATE nodes',
      'UPDATE nodes/status',
      'DELETE nodes',
      'UPDATE leases kube-node-lease',
      'CREATE certificatesigningrequests',
      'UPDATE certificatesigningrequests/approval',
      'CREATE pods kube-system',
      'UPDATE daemonsets kube-system',
      'CREATE events kube-system',
      'CREATE subjectaccessreviews',
      'CREATE tokenreviews',
      'DELETE validatingwebhookconfigurations',
      'DELETE validatingadmissionpolicies',
      'DELETE configmaps team-a',
      'CREATE namespaces pacto-system',
      'UPDATE namespaces/finalize pacto-system',
      'CREATE clusterroles',
      'CREATE customresourcedefinitions',
      'UPDATE apiservices',
      'UPDATE helmreleases flux-system',
      'UPDATE applications argocd',
      'CREATE csinodes',
    ];
    expect([...own, ...others].filter((what) => !asked.has(what))).toEqual([]);
  });

  it('are about what deploys the gate, where that is known', () => {
    const pointers = steps.filter(({ id }) => id.startsWith('pointer-'));
    expect(pointers.map(({ id, need }) => [id, need])).toEqual([
      ['pointer-kustomization-flux-system-gate-update', 'necessary'],
      ['pointer-kustomization-flux-system-gate-status', 'necessary'],
    ]);
    expect(pointers[0]?.request.oldObject).toMatchObject({
      metadata: { name: 'gate', labels: { app: 'gate' } },
    });
  });

  it('leave out the namespace of the gate where it runs outside the cluster', () => {
    const { namespace: _namespace, ...outside } = SITE;
    const left = recoverySteps(outside);
    expect(left.filter(({ group }) => group === 'gate')).toEqual([]);
    expect(left.filter(({ request }) => request.namespace === 'pacto-system')).toEqual([]);
    expect(left.length).toBeGreaterThan(50);
  });
});
