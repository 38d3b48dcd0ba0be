/** The reconciler does with the API server what the roles of `pacto-gate generate rbac` say, and no more. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import type { AuditEvent } from './support/audit-log.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { createDefinitions } from './support/custom-resources.ts';
import { GATE_NAMESPACE } from './support/gate.ts';
import { beyond, deedOf, granted } from './support/granted.ts';
import { pollUntil } from './support/polling.ts';
import {
  contract,
  installPactoKinds,
  namespaceObject,
  NAMESPACE,
  pactoObject,
  pathOf,
  says,
  serviceObject,
  setReady,
  sliceObject,
  untilStatus,
} from './support/reconcile-objects.ts';
import {
  prepareReconciler,
  RECONCILER_ACCOUNT,
  RECONCILER_USERNAME,
  type ReconcilerProcess,
} from './support/reconcile-process.ts';
import { startHttpProxy, type HttpProxy } from './support/reconcile-proxy.ts';

const AGENTS = 'agents';
const FLAGS = [
  '--reconciler-stabilization-seconds=1',
  '--reconciler-metrics-observation',
  `--reconciler-node-agent-namespace=${AGENTS}`,
];

const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${RECONCILER_USERNAME}']
  - level: None
`;

/** Kinds that a cluster may have or not. */
const OPTIONAL = [
  { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' },
  { group: 'monitoring.coreos.com', kind: 'ServiceMonitor' },
  { group: 'monitoring.coreos.com', kind: 'PodMonitor' },
].map(({ group, kind }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${kind.toLowerCase()}s.${group}`,
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/2997' },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));

/** Rights that the API server asks of a request besides those of its verb, which is all that it writes down. */
const UNSEEN: ReadonlySet<string> = new Set([
  // Of the patch that creates an event.
  ': create /events',
  // Of a revision that its Pacto blocks the deletion of.
  ': update pacto.trianalab.io/pactos/finalizers',
]);

clusterSuite('least rights of the reconciler', { versions: ['1.36'] }, () => {
  let plane: ControlPlane;
  let api: ApiClient;
  let proxy: HttpProxy;
  let leader: ReconcilerProcess;
  let other: ReconcilerProcess;

  beforeAll(async () => {
    plane = await startControlPlane({
      version: '1.36',
      auditPolicy: AUDIT_POLICY,
      extraApiserverArgs: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
    });
    api = createApiClient(plane);
    await installPactoKinds(plane, api);
    await createDefinitions(
      api,
      OPTIONAL.map((one) => structuredClone(one)),
    );
    await plane.apply([
      namespaceObject(),
      namespaceObject(AGENTS),
      serviceObject('web'),
      sliceObject('web', true),
    ]);
    proxy = await startHttpProxy(plane);
    leader = await prepareReconciler({ plane, through: proxy, flags: [...FLAGS, '--metrics-plain=false'] });
    await leader.start();
  });
  afterAll(async () => {
    await other?.stop();
    await leader?.stop();
    await proxy?.close();
    await api?.close();
    await plane?.stop();
  });

  it('keeps verdicts of what reads everything that there is to read', async () => {
    let isTouched = false;
    proxy.rules({
      async before({ method, path }) {
        if (isTouched || method !== 'PUT' || !path.includes('/pactos/web/status')) return undefined;
        isTouched = true;
        await api.demand({
          method: 'PATCH',
          path: pathOf('web'),
          contentType: 'application/merge-patch+json',
          body: { metadata: { annotations: { touched: 'yes' } } },
        });
        return undefined;
      },
    });
    const more =
      'configurations: [{name: app, required: true, schema: c.json}, {name: keys, required: true, schema: c.json}]\n';
    await plane.apply([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'app', namespace: NAMESPACE },
        data: { a: 'x' },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: NAMESPACE },
        data: { b: 'eA==' },
      },
      pactoObject('web', {
        contractRef: { inline: contract('web', { more }) },
        target: {
          serviceName: 'web',
          workloadRef: { name: 'web' },
          interfaceBindings: [{ interface: 'api', servicePort: 80 }],
          configBindings: [
            { configuration: 'app', kind: 'ConfigMap', name: 'app' },
            { configuration: 'keys', kind: 'Secret', name: 'keys' },
          ],
        },
      }),
      pactoObject('pulled', {
        contractRef: { oci: 'oci://registry.invalid/team/pulled:1.0.0', pullSecretRef: 'keys' },
      }),
    ]);
    await untilStatus(api, 'web', ({ currentRevision }) => currentRevision !== undefined);
    await untilStatus(api, 'pulled', says('Unknown'));
    expect(isTouched).toBe(true);
  });

  it('asks the one that leads, where it does not', async () => {
    other = await prepareReconciler({ plane, flags: FLAGS });
    await other.start();
    leader.signal('SIGSTOP');
    await setReady(plane, 'web', false);
    await pollUntil('a request', 12_000, async () => {
      // 429 where it is asked faster than callers are proved.
      expect([200, 429]).toContain((await other.verdict(NAMESPACE, 'web', '0s')).status);
      return plane.auditEvents().some(isOf('patch pacto.trianalab.io/pactos')) || undefined;
    });
    leader.signal('SIGCONT');
    expect(other.log().some(({ message }) => message === 'reconciler leads')).toBe(false);
  });

  it('asked the API server for nothing beyond its roles, and used all that they give', async () => {
    const rights = await granted(api, [GATE_NAMESPACE, AGENTS], RECONCILER_ACCOUNT);
    const seen = [...rights].filter((right) => !UNSEEN.has(right)).toSorted();
    const events = await pollUntil('all requests in the audit log', 20_000, () => {
      const all = plane.auditEvents();
      const used = new Set(all.flatMap(namesOf));
      return Promise.resolve(seen.every((right) => used.has(right)) ? all : undefined);
    }).catch((error: unknown) => {
      const used = new Set(plane.auditEvents().flatMap(namesOf));
      throw new Error(`not used: ${seen.filter((right) => !used.has(right)).join(', ')}`, { cause: error });
    });
    expect(events.filter(({ responseStatus }) => responseStatus?.code === 403).map(deedOf)).toEqual([]);
    expect(beyond(events, rights).map(deedOf)).toEqual([]);
  });

  it('wrote status, revisions, events, one Lease, a request to look, and nothing else', () => {
    const writes = plane.auditEvents().filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
    expect(new Set(writes.map(deedOf))).toEqual(
      new Set([
        'create authentication.k8s.io/tokenreviews',
        'create authorization.k8s.io/subjectaccessreviews',
        'create coordination.k8s.io/leases',
        'create pacto.trianalab.io/pactorevisions',
        'patch /events',
        'patch pacto.trianalab.io/pactos',
        'update coordination.k8s.io/leases',
        'update pacto.trianalab.io/pactorevisions/status',
        'update pacto.trianalab.io/pactos/status',
      ]),
    );
  });

  it.each([
    'update deployments.apps',
    'create services',
    'update secrets',
    'update pactos.pacto.trianalab.io',
    'delete pactorevisions.pacto.trianalab.io',
    'list pods',
    'update validatingwebhookconfigurations',
  ])('may not %s', async (question) => {
    const [verb = '', resource = ''] = question.split(' ');
    const args = ['auth', 'can-i', verb, resource, '--all-namespaces'];
    const { stdout } = await plane.kubectl(args, { as: RECONCILER_USERNAME });
    expect(stdout.trim()).toBe('no');
  });
});

const isOf =
  (deed: string) =>
  (event: AuditEvent): boolean =>
    deedOf(event) === deed;

/** A request in the whole cluster counts for it, and one in a namespace for either. */
function namesOf(event: AuditEvent): readonly string[] {
  const deed = deedOf(event);
  return [`: ${deed}`, `${event.objectRef?.namespace ?? ''}: ${deed}`];
}
