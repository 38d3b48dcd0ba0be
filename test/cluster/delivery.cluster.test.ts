/** The delivery gate on real API servers, with the gate keeper, under the rights that are generated for both. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ApiBody } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubernetesVersion } from './support/control-plane.ts';
import { createDefinitions } from './support/custom-resources.ts';
import type { KubectlResult } from './support/kubectl.ts';
import { pollUntil } from './support/polling.ts';
import { prepareReconciler, type ReconcilerProcess } from './support/reconcile-process.ts';
import { startSite, type Site } from './support/site.ts';

const ON = ['--delivery-enabled', '--delivery-workloads-enabled'];
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const [OLD, NEW] = [digest('a'), digest('b')] as const;
const DELIVERY = '/apis/delivery.pacto.trianalab.io/v1alpha1/namespaces/payments';
const SOURCES = '/apis/source.toolkit.fluxcd.io/v1/namespaces/payments/ocirepositories';
const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/payments/kustomizations';
const PACTOS = '/apis/pacto.trianalab.io/v1alpha1/namespaces/payments/pactos';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/payments/deployments';

/** A definition that keeps everything, as Flux's own kinds are here. */
function standIn(group: string, version: string, kind: string, plural: string): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

const DEFINITIONS = (): readonly object[] => [
  ...readdirSync('manifests/crds')
    // That of observations comes with the agents.
    .filter((file) => /^delivery\.|^pacto\..*_pacto/.test(file))
    .map((file) => parse(readFileSync(`manifests/crds/${file}`, 'utf8')) as object),
  standIn('source.toolkit.fluxcd.io', 'v1', 'OCIRepository', 'ocirepositories'),
  standIn('source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'),
  standIn('kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization', 'kustomizations'),
  standIn('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'),
];

const source = (ref: object, more: object = {}): object => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'OCIRepository',
  metadata: {
    name: 'payments',
    namespace: 'payments',
    labels: { 'delivery.pacto.trianalab.io/stage': 'prod' },
  },
  spec: { url: 'oci://ghcr.io/acme/payments', ref, ...more },
});
const deployment = (image: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'payments', namespace: 'payments' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'payments' } },
    template: {
      metadata: { labels: { app: 'payments' } },
      spec: { containers: [{ name: 'app', image }] },
    },
  },
});
const pacto = (workload: string): object => ({
  apiVersion: 'pacto.trianalab.io/v1alpha1',
  kind: 'Pacto',
  metadata: { name: 'payments', namespace: 'payments' },
  spec: {
    contractRef: {
      inline: `pactoVersion: "2.0"\nservice: {name: payments, version: 1.0.0}\nworkload: ${workload}\n`,
    },
    target: { workloadRef: { name: 'payments', kind: 'Deployment' } },
    checkIntervalSeconds: 30,
  },
});
const STAGE = {
  apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'prod', namespace: 'payments' },
  spec: {
    pacto: { name: 'payments' },
    pointers: [
      {
        name: 'manifests',
        target: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', name: 'payments' },
        field: 'ociDigest',
      },
    ],
    verification: { soak: '0' },
  },
};

for (const version of ['1.36', '1.29'] satisfies readonly KubernetesVersion[]) {
  clusterSuite(`the delivery gate on ${version}`, { versions: [version] }, () => {
    let site: Site;
    let keeper: ReconcilerProcess;

    beforeAll(async () => {
      site = await startSite({
        plane: { version },
        serveFlags: ON,
        entryFlags: ON,
        async beforeEntries({ plane, api }) {
          await createDefinitions(api, DEFINITIONS());
          await plane.apply([
            { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pacto-delivery' } },
            {
              apiVersion: 'v1',
              kind: 'Namespace',
              metadata: { name: 'payments', labels: { 'delivery.pacto.trianalab.io/workloads': 'gated' } },
            },
            parse(readFileSync('examples/delivery/identity.yaml', 'utf8')) as object,
          ]);
        },
      });
      keeper = await prepareReconciler({ plane: site.plane, flags: ['--delivery-enabled'] });
      await keeper.start();
    });
    afterAll(async () => {
      await keeper?.stop();
      await site?.stop();
    });

    /** As kustomize-controller does, and as people with kubectl. */
    const apply = (object: object, more: readonly string[] = []): Promise<KubectlResult> =>
      site.plane.kubectl(
        [
          'apply',
          '--server-side',
          '--force-conflicts',
          '--field-manager',
          'kustomize-controller',
          ...more,
          '-f',
          '-',
        ],
        { stdin: JSON.stringify(object) },
      );
    const stage = async (): Promise<ApiBody> =>
      site.api.demand({ method: 'GET', path: `${DELIVERY}/stages/prod` });
    const untilStage = (what: string, is: (status: never) => boolean): Promise<ApiBody> =>
      pollUntil(what, 60_000, async () => {
        const found = await stage();
        return is((found['status'] ?? {}) as never) ? found : undefined;
      });
    const statusOf = async (path: string, status: object): Promise<void> => {
      const found = await site.api.demand({ method: 'GET', path });
      const { generation } = found.metadata as { generation?: number };
      await site.api.demand({
        method: 'PUT',
        path: `${path}/status`,
        body: {
          ...found,
          status: {
            observedGeneration: generation,
            conditions: [{ type: 'Ready', status: 'True' }],
            ...status,
          },
        },
      });
    };
    const untilVerdict = (wanted: string): Promise<unknown> =>
      pollUntil(`the verdict ${wanted}`, 60_000, async () => {
        const found = await site.api.demand({ method: 'GET', path: `${PACTOS}/payments` });
        return (found['status'] as { contractStatus?: string } | undefined)?.contractStatus === wanted
          ? true
          : undefined;
      });

    it('refuses a pointer whose Stage is not there yet, and takes it when it is', async () => {
      await pollUntil('the entries to act', 30_000, async () => {
        const { stderr } = await apply(source({ digest: OLD }), ['--dry-run=server']);
        return stderr.includes('[NO_STAGE]') ? true : undefined;
      });
      expect((await apply(pacto('service'))).code).toBe(0);
      expect((await apply(deployment('app:1'))).code).toBe(0);
      expect((await apply(STAGE)).stderr).toBe('');
      await pollUntil('the pointer to be taken', 30_000, async () => {
        const { code } = await apply(source({ digest: OLD }));
        return code === 0 ? true : undefined;
      });
    });

    it('adopts where it stands, sees that it runs, and remembers that it is good', async () => {
      await site.api.demand({
        method: 'POST',
        path: KUSTOMIZATIONS,
        body: {
          apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
          kind: 'Kustomization',
          metadata: { name: 'payments', namespace: 'payments' },
          spec: { sourceRef: { kind: 'OCIRepository', name: 'payments' } },
        },
      });
      await statusOf(`${SOURCES}/payments`, { artifact: { revision: OLD } });
      await statusOf(`${KUSTOMIZATIONS}/payments`, { lastAppliedRevision: OLD });
      await untilVerdict('Compliant');
      const found = await untilStage(
        'a good release',
        ({ lastGood }: { lastGood?: readonly object[] }) => lastGood?.length === 1,
      );
      expect(found['status']).toMatchObject({
        current: { digest: OLD, templates: [{ kind: 'Deployment', name: 'payments' }] },
        lastGood: [{ digest: OLD }],
        gate: { decision: 'Allow' },
      });
      const conditions = (found['status'] as { conditions: readonly { type: string; status: string }[] })
        .conditions;
      expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual(
        expect.arrayContaining(['Ready=True', 'GateOpen=True', 'GateBypassed=False', 'UngatedMove=False']),
      );
    });

    describe('while the contract is not kept', () => {
      beforeAll(async () => {
        await apply(pacto('scheduled'));
        await untilVerdict('NonCompliant');
        await untilStage(
          'the gate to close',
          ({ gate }: { gate?: { decision: string } }) => gate?.decision === 'Deny',
        );
      });

      it('refuses a promotion, dry-run and real, with one line and 403', async () => {
        for (const more of [['--dry-run=server'], []]) {
          const { code, stderr } = await apply(source({ digest: NEW }), more);
          expect([code, stderr]).toEqual([
            1,
            expect.stringContaining(
              'admission webhook "pointers.gate.delivery.pacto.trianalab.io" denied the request: [TARGET_NONCOMPLIANT] payments/prod: sha256:bbbbbbbbbbbb… not allowed',
            ),
          ]);
        }
        const raw = await site.api.request({
          method: 'PATCH',
          path: `${SOURCES}/payments`,
          body: { spec: { ref: { digest: NEW } } },
          contentType: 'application/merge-patch+json',
        });
        expect([raw.status, raw.body['reason'], raw.body['details']]).toEqual([403, 'Forbidden', undefined]);
      });

      it('refuses a tag and another URL', async () => {
        expect((await apply(source({ tag: 'latest' }))).stderr).toContain('[NOT_PINNED]');
        expect((await apply(source({ digest: OLD }, { url: 'oci://elsewhere' }))).stderr).toContain(
          '[POINTER_IDENTITY]',
        );
      });

      it.each([
        ['nothing new', { digest: OLD }, {}],
        ['suspend', { digest: OLD }, { suspend: true }],
        ['an interval', { digest: OLD }, { interval: '1m' }],
      ])('takes %s', async (_what, ref, more) => {
        expect(await apply(source(ref, more))).toMatchObject({ code: 0, stderr: '' });
      });

      it('takes statuses, annotations, and a neighbour without the label', async () => {
        await statusOf(`${SOURCES}/payments`, { artifact: { revision: OLD }, observed: 'again' });
        const annotate = ['annotate', 'ocirepository', 'payments', '-n', 'payments', '--overwrite', 'a=b'];
        expect((await site.plane.kubectl(annotate)).code).toBe(0);
        const neighbour = { ...source({ tag: 'x' }), metadata: { name: 'other', namespace: 'payments' } };
        expect((await apply(neighbour)).code).toBe(0);
      });

      it('refuses an image that nobody promoted where workloads are gated, and takes replicas', async () => {
        const { metadata, ...rest } = await stage();
        const spec = {
          ...(rest['spec'] as object),
          gate: { ...(rest['spec'] as { gate?: object }).gate, scope: 'Workload' },
        };
        await site.api.demand({
          method: 'PUT',
          path: `${DELIVERY}/stages/prod`,
          body: { ...rest, metadata, spec },
        });
        await pollUntil('the scope to count', 30_000, async () => {
          const { stderr } = await apply(deployment('app:2'), ['--dry-run=server']);
          return stderr.includes('[TARGET_NONCOMPLIANT]') ? true : undefined;
        });
        const scaled = await site.plane.kubectl([
          'scale',
          'deployment',
          'payments',
          '-n',
          'payments',
          '--replicas=2',
        ]);
        expect(scaled.code).toBe(0);
        expect((await apply(deployment('app:1'))).code).toBe(0);
        expect(
          (await site.api.demand({ method: 'GET', path: `${DEPLOYMENTS}/payments` }))['spec'],
        ).toBeDefined();
      });

      it('lets nobody weaken the Stage but its admins', async () => {
        const weaker = { ...STAGE, spec: { ...STAGE.spec, gate: { mode: 'Off' } } };
        expect((await apply(weaker)).stderr).toContain('[NOT_ADMIN]');
      });
    });

    it('lets the promotion through once the contract is kept, and follows it', async () => {
      expect((await apply(pacto('service'))).code).toBe(0);
      await untilVerdict('Compliant');
      await pollUntil('the promotion to be taken', 30_000, async () => {
        const { code } = await apply(source({ digest: NEW }));
        return code === 0 ? true : undefined;
      });
      const found = await untilStage(
        'the Stage to follow',
        ({ current }: { current?: { digest: string } }) => current?.digest === NEW,
      );
      expect(found['status']).toMatchObject({ lastGood: [{ digest: OLD }] });
    });

    it('goes back whatever the verdict', async () => {
      expect((await apply(pacto('scheduled'))).code).toBe(0);
      await untilVerdict('NonCompliant');
      expect(await apply(source({ digest: OLD }))).toMatchObject({ code: 0 });
    });

    it('stamps who asks, and refuses who may not', async () => {
      const operation = {
        apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
        kind: 'Operation',
        metadata: { name: 'promote', namespace: 'payments' },
        spec: { stage: 'prod', type: 'Promote', digest: NEW, requestedBy: { username: 'somebody-else' } },
      };
      const ask = (as: string, groups: readonly string[]): ReturnType<typeof site.api.request> =>
        site.api.request({
          method: 'POST',
          path: `${DELIVERY}/operations`,
          as: { username: as, groups: [...groups, 'system:masters'] },
          body: operation,
        });
      expect((await ask('bob', [])).body['message']).toContain('[ROLE_REQUIRED]');
      const made = await ask('maria', ['release-managers']);
      expect([made.status, made.body['spec']]).toMatchObject([201, { requestedBy: { username: 'maria' } }]);
      const answered = await pollUntil('the Operation to be answered', 30_000, async () => {
        const found = await site.api.demand({ method: 'GET', path: `${DELIVERY}/operations/promote` });
        return found['status'] === undefined ? undefined : found;
      });
      expect(answered['status']).toMatchObject({ phase: 'Pending', reasonCode: 'NO_PROMOTER' });
    });

    it('fails closed for moves and for nothing else while the server is gone', async () => {
      await site.gate.end('SIGKILL');
      expect((await apply(source({ digest: NEW }))).stderr).toContain('failed calling webhook');
      await statusOf(`${SOURCES}/payments`, { artifact: { revision: OLD } });
      expect((await apply(source({ digest: OLD }))).code).toBe(0);
      await site.gate.start();
      expect((await apply(source({ digest: OLD }))).code).toBe(0);
    });

    it('says that nobody asks it once its entries are gone', async () => {
      const path =
        '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pacto-gate-delivery';
      await site.api.demand({ method: 'DELETE', path });
      const found = await untilStage(
        'the bypass to be said',
        ({ conditions }: { conditions?: readonly { type: string; status: string }[] }) =>
          conditions?.some(({ type, status }) => type === 'GateBypassed' && status === 'True') === true,
      );
      expect(found['kind']).toBe('Stage');
    });

    it('lets its namespace go with an Operation inside', async () => {
      await site.api.demand({ method: 'DELETE', path: '/api/v1/namespaces/payments' });
      const found = await site.api.demand({ method: 'GET', path: '/api/v1/namespaces/payments' });
      expect(found.metadata).toHaveProperty('deletionTimestamp');
    });
  });
}
