/** Verdicts over what can befall a watch: an API server that goes, versions that are too old, kinds and rights that change. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import {
  compact,
  installPactoKinds,
  namespaceObject,
  pactoObject,
  pactoOf,
  recordOf,
  says,
  serviceObject,
  setReady,
  sliceObject,
  untilStatus,
} from './support/reconcile-objects.ts';
import {
  prepareReconciler,
  RECONCILER_ACCOUNT,
  type ReconcilerProcess,
} from './support/reconcile-process.ts';
import { startHttpProxy, type HttpProxy, type PassingRequest } from './support/reconcile-proxy.ts';

const ROLE = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${RECONCILER_ACCOUNT}`;

function isListOfSlices({ path, isWatch }: PassingRequest): boolean {
  return path.includes('/endpointslices') && !isWatch;
}

clusterSuite('verdicts over faults of watches', { versions: ['1.36'] }, () => {
  let plane: ControlPlane;
  let api: ApiClient;
  let proxy: HttpProxy;
  let reconciler: ReconcilerProcess;

  beforeAll(async () => {
    plane = await startControlPlane({ version: '1.36' });
    api = createApiClient(plane);
    proxy = await startHttpProxy(plane);
    await plane.apply([namespaceObject(), serviceObject('web'), sliceObject('web', true)]);
    reconciler = await prepareReconciler({
      plane,
      through: proxy,
      flags: ['--reconciler-stabilization-seconds=2'],
    });
  });
  afterAll(async () => {
    await reconciler?.stop();
    await proxy?.close();
    await api?.close();
    await plane?.stop();
  });

  it('is ready while nobody serves Pactos, and says verdicts soon after somebody does', async () => {
    await reconciler.start();
    await pollUntil('the missing kind in the log', 20_000, () =>
      Promise.resolve(
        reconciler.log().some((line) => JSON.stringify(line).includes('GATE_CLUSTER_UNSUPPORTED')) ||
          undefined,
      ),
    );
    await installPactoKinds(plane, api);
    await plane.apply(pactoObject('web'));
    await untilStatus(api, 'web', says('Compliant'));
    expect((await recordOf(api, 'web')).revisions).toHaveLength(1);
  });

  it('follows changes again after the API server was killed in mid-watch', async () => {
    const before = await recordOf(api, 'web');
    await plane.stopApiServer('SIGKILL');
    await plane.startApiServer();
    const startMs = performance.now();
    await setReady(plane, 'web', false);
    await untilStatus(api, 'web', says('NonCompliant'));
    await setReady(plane, 'web', true);
    await untilStatus(api, 'web', says('Compliant'));
    process.stdout.write(
      `away and back ${String(Math.round(performance.now() - startMs))} ms after a restart\n`,
    );
    expect((await recordOf(api, 'web')).revisions).toEqual(before.revisions);
    expect(reconciler.ending()).toBeUndefined();
  });

  it('lists anew where its version is too old after a compaction, and misses nothing', async () => {
    await reconcilerIsCutOff();
    await setReady(plane, 'web', false);
    await compact(plane, api);
    // The API server's own cache of events would still know: only a new one does not.
    await plane.stopApiServer('SIGKILL');
    await plane.startApiServer();
    const since = proxy.requests().length;
    proxy.rules({});
    await untilStatus(api, 'web', says('NonCompliant'));
    expect(proxy.requests().slice(since).filter(isListOfSlices)).not.toEqual([]);
    await setReady(plane, 'web', true);
    await untilStatus(api, 'web', says('Compliant'));
  });

  async function reconcilerIsCutOff(): Promise<void> {
    proxy.rules({ before: () => 'reset' });
    proxy.cut();
    const since = proxy.requests().length;
    await pollUntil('it to try again', 20_000, () =>
      Promise.resolve(proxy.requests().length > since || undefined),
    );
  }

  it('goes on over a compaction of etcd that its watches survive', async () => {
    await compact(plane, api);
    const since = proxy.requests().length;
    await setReady(plane, 'web', false);
    await untilStatus(api, 'web', says('NonCompliant'));
    await setReady(plane, 'web', true);
    await untilStatus(api, 'web', says('Compliant'));
    expect(proxy.requests().slice(since).filter(isListOfSlices)).toEqual([]);
  });

  it('waits as long as an overloaded API server asks for, and then catches up', async () => {
    const limited: { readonly atMs: number; readonly of: string }[] = [];
    proxy.rules({
      before({ path, method, atMs }) {
        const isOurs = path.includes('/pactos') || path.includes('/endpointslices');
        if (!isOurs) return undefined;
        limited.push({ atMs, of: `${method} ${path.replace(/\?.*/, '')}` });
        return {
          status: 429,
          headers: { 'retry-after': '2' },
          body: { kind: 'Status', status: 'Failure', reason: 'TooManyRequests', code: 429 },
        };
      },
    });
    proxy.cut();
    await setReady(plane, 'web', false);
    await pollUntil('three refusals of a watch', 30_000, () =>
      Promise.resolve(watches().length >= 3 || undefined),
    );
    // Three at most within the two seconds that are asked for: the call itself repeats twice.
    for (const [index, { atMs }] of watches().entries())
      expect(
        watches()
          .slice(index)
          .filter((one) => one.atMs < atMs + 1_900).length,
      ).toBeLessThanOrEqual(1);
    proxy.rules({});
    await untilStatus(api, 'web', says('NonCompliant'));
    await setReady(plane, 'web', true);
    await untilStatus(api, 'web', says('Compliant'));

    function watches(): readonly { readonly atMs: number }[] {
      return limited.filter(({ of }) => of.endsWith('/endpointslices'));
    }
  });

  it('says that it could not look where a right was taken away, goes on with the rest, and takes it back', async () => {
    const role = await api.demand({ method: 'GET', path: ROLE });
    const rules = role['rules'] as readonly { readonly resources: readonly string[] }[];
    const less = rules.filter(({ resources }) => !resources.includes('endpointslices'));
    await plane.apply([
      serviceObject('other'),
      pactoObject('other', {
        contractRef: { inline: 'pactoVersion: "2.0"\nservice: {name: other, version: 1.0.0}\n' },
        target: { serviceName: 'other' },
      }),
    ]);
    await untilStatus(api, 'other', says('Compliant'));
    await api.demand({ method: 'PUT', path: ROLE, body: { ...role, rules: less } });
    // The API server asks who may watch when a watch begins.
    proxy.cut();
    const failed = await untilStatus(api, 'web', ({ findings = [] }) =>
      findings.some(({ code }) => code === 'COLLECTION_FAILED'),
    );
    expect(failed.contractStatus).toBe('Unknown');
    const [finding] = failed.findings ?? [];
    expect(finding?.message).toMatch(/endpointslices/);
    await plane.apply(
      pactoObject('other', {
        contractRef: { inline: 'pactoVersion: "2.0"\nservice: {name: other, version: 1.1.0}\n' },
        target: { serviceName: 'other' },
      }),
    );
    await untilStatus(api, 'other', ({ contractVersion }) => contractVersion === '1.1.0');
    const latest = await api.demand({ method: 'GET', path: ROLE });
    await api.demand({
      method: 'PUT',
      path: ROLE,
      body: { ...role, metadata: { ...role.metadata, resourceVersion: latest.metadata?.resourceVersion } },
    });
    await untilStatus(api, 'web', says('Compliant'));
    expect((await pactoOf(api, 'web')).status.findings ?? []).toEqual([]);
  });
});
