/** The API server dies and comes back while we watch: the watch goes on, and no decision is wrong in between. */
import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { POD } from '../../src/cluster/kinds.ts';
import { loadConnection } from '../../src/cluster/kubeconfig.ts';
import type { KubeObject, UserInfo } from '../../src/cluster/objects.ts';
import { createRestCluster } from '../../src/cluster/rest.ts';
import {
  createReflector,
  type Change,
  type Reflector,
  type ReflectorReport,
} from '../../src/cluster/watch.ts';
import {
  AGENT_NAMESPACE,
  aLease,
  anAgent,
  aPod,
  aReview,
  type AdmissionReview,
} from '../support/builders.ts';
import { ask } from '../support/http-client.ts';
import {
  agentPodObject,
  DAEMON_SET_CONTROLLER,
  kubeletToken,
  LEASES,
  leaseObject,
  PODS,
} from './support/agents.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';

const NAMESPACE_PODS = '/api/v1/namespaces/default/pods';

/** The reflector of the product, as it is composed in app/state.ts, in this process. */
function reflectorSuite(version: KubernetesVersion): void {
  clusterSuite(`a watch over a restart of the API server ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let proxy: TcpProxy;
    let api: ApiClient;
    let cluster: Cluster;
    let reflector: Reflector;
    const reports: ReflectorReport[] = [];
    const changes: Change[] = [];

    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      for (const name of ['stays', 'goes']) await create(name);
      proxy = await startTcpProxy(Number(new URL(plane.url).port));
      const connection = await loadConnection({
        source: 'kubeconfig',
        paths: [plane.adminKubeconfigPath],
        clock: systemClock,
      });
      cluster = createRestCluster({
        connection: { ...connection, server: `https://127.0.0.1:${proxy.port}` },
        clock: systemClock,
      });
      reflector = createReflector({
        cluster,
        kind: POD,
        select: { namespace: 'default' },
        clock: systemClock,
        random: Math.random,
        report: (report) => reports.push(report),
        onChange: (change) => changes.push(change),
      });
      reflector.start();
      await pollUntil('the first list', 20_000, () => Promise.resolve(reflector.synced() || undefined));
    });
    afterAll(async () => {
      await reflector?.stop();
      await cluster?.close();
      await proxy?.close();
      await api?.close();
      await plane?.stop();
    });

    const create = (name: string): Promise<unknown> =>
      api.demand({
        method: 'POST',
        path: NAMESPACE_PODS,
        body: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: { containers: [{ name: 'main', image: 'registry.invalid/web:1' }] },
        },
      });
    const remove = (name: string): Promise<unknown> =>
      api.demand({ method: 'DELETE', path: `${NAMESPACE_PODS}/${name}?gracePeriodSeconds=0` });
    const names = (): string[] =>
      [...reflector.store.values()].map(({ metadata }: KubeObject) => metadata.name ?? '').toSorted();
    /** @returns milliseconds until the copy holds these names. */
    async function untilHolds(wanted: readonly string[]): Promise<number> {
      const startMs = performance.now();
      await pollUntil(`a copy of ${wanted.join(', ')}`, 30_000, () =>
        Promise.resolve(names().join() === wanted.join() || undefined),
      );
      return Math.round(performance.now() - startMs);
    }

    it('keeps its copy while the API server is away, and is right again soon after', async () => {
      await plane.stopApiServer('SIGKILL');
      await pollUntil('the watch to notice', 20_000, () =>
        Promise.resolve(reports.some(({ type }) => type === 'failed') || undefined),
      );
      expect(names()).toEqual(['goes', 'stays']);
      expect(reflector.usable()).toBe(true);
      await plane.startApiServer();
      const readyMs = performance.now();
      await create('came');
      await untilHolds(['came', 'goes', 'stays']);
      const freshMs = Math.round(performance.now() - readyMs);
      await remove('came');
      await untilHolds(['goes', 'stays']);
      process.stdout.write(`${version}: the watch was fresh ${freshMs} ms after the API server was ready\n`);
    });

    it('learns what was made, changed and deleted while it was cut off from a new API server', async () => {
      changes.length = 0;
      proxy.set('cut');
      await plane.stopApiServer('SIGKILL');
      await plane.startApiServer();
      await remove('goes');
      await create('new');
      await api.demand({
        method: 'PATCH',
        path: `${NAMESPACE_PODS}/stays`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { seen: 'no' } } },
      });
      expect(names()).toEqual(['goes', 'stays']);
      proxy.set('pass');
      const freshMs = await untilHolds(['new', 'stays']);
      // A Pod that is deleted may be told as changed before.
      const told = new Set(changes.map(({ type, object }) => `${type} ${object.metadata.name}`));
      told.delete('modified goes');
      expect([...told].toSorted()).toEqual(['added new', 'deleted goes', 'modified stays']);
      expect(reflector.store.get({ namespace: 'default', name: 'stays' })?.metadata.labels).toEqual({
        seen: 'no',
      });
      process.stdout.write(`${version}: the watch was fresh ${freshMs} ms after the way was open again\n`);
    });
  });
}

/** A review as another API server of the same cluster would send it while this one is away. */
function aRenewal(agent: UserInfo, node: string): AdmissionReview {
  return aReview({ user: agent, oldObject: aLease({ name: node }), object: aLease({ name: node }) });
}

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
}

clusterSuite('our server over a restart of the API server', { versions: ['1.29'] }, () => {
  let site: Site;
  let connections: Agent;

  beforeAll(async () => {
    site = await startSite({
      plane: { version: '1.29' },
      serveFlags: ['--identity-pod-lookup=always'],
      proxied: true,
      beforeEntries: async ({ api }) => {
        for (const name of ['agent-goes', 'agent-moves'])
          await api.demand({ method: 'POST', path: PODS, body: agentPodObject(name, { node: 'node-a' }) });
      },
    });
    connections = new Agent({ keepAlive: true, maxSockets: 4 });
  });
  afterAll(async () => {
    connections?.destroy();
    await site?.stop();
  });

  async function review(agent: UserInfo, node: string): Promise<Answer> {
    const answer = await ask(`${site.gate.url}/validate/node-identity?timeout=10s`, {
      body: aRenewal(agent, node),
      ca: site.gate.authority.certificate,
      agent: connections,
    });
    expect(answer.status).toBe(200);
    return (answer.json() as { response: Answer }).response;
  }
  /** The user that a token of this Pod stands for. */
  async function userOf(pod: string): Promise<UserInfo> {
    const found = await site.api.demand({ method: 'GET', path: `${PODS}/${pod}` });
    return anAgent({
      node: null,
      pod: aPod({ name: pod, namespace: AGENT_NAMESPACE, uid: found.metadata?.uid ?? '' }),
    });
  }
  /** A Pod whose node is given later, by the scheduler's call. */
  async function bind(pod: string, node: string): Promise<void> {
    await site.api.demand({
      method: 'POST',
      path: `${PODS}/${pod}/binding`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: pod },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      },
    });
  }
  const makePod = (name: string): Promise<unknown> =>
    site.api.demand({
      method: 'POST',
      path: PODS,
      as: DAEMON_SET_CONTROLLER,
      body: agentPodObject(name, { daemonSetUid: site.daemonSetUid }),
    });
  const remove = (name: string): Promise<unknown> =>
    site.api.demand({ method: 'DELETE', path: `${PODS}/${name}?gracePeriodSeconds=0` });

  it('gives no wrong answer before, during and after, and knows what happened meanwhile', async () => {
    const [agent, gone, moving] = [
      await userOf('agent-node-a'),
      await userOf('agent-goes'),
      await userOf('agent-moves'),
    ];
    await makePod('agent-late');
    await pollUntil('the late Pod to be in the copy', 10_000, async () => {
      const { status } = await review(await userOf('agent-late'), 'node-b');
      return status?.message.includes('NODE_POD_UNSCHEDULED') === true ? true : undefined;
    });
    const late = await userOf('agent-late');
    const token = await kubeletToken(site.api, 'node-a');

    // Reviews all the time, as from another API server: each answer must be the right one.
    const wrong: unknown[] = [];
    let answered = 0;
    const over = new AbortController();
    const stream = (async () => {
      while (!over.signal.aborted) {
        const [own, foreign] = await Promise.all([review(agent, 'node-a'), review(agent, 'node-b')]);
        if (!own.allowed) wrong.push(own);
        if (foreign.allowed || foreign.status?.code !== 403) wrong.push(foreign);
        answered += 2;
        await pause(5);
      }
    })();
    try {
      await site.plane.stopApiServer('SIGKILL');
      // Still standing on its copy.
      expect((await review(gone, 'node-a')).allowed).toBe(true);
      await site.plane.startApiServer();
      const readyMs = performance.now();
      await Promise.all([remove('agent-goes'), remove('agent-moves'), bind('agent-late', 'node-b')]);
      await makePod('agent-moves');
      await bind('agent-moves', 'node-b');
      const moved = await userOf('agent-moves');
      // These would be allowed by the API server's copy, so they must be by ours, however old it is.
      expect(await review(moved, 'node-b')).toMatchObject({ allowed: true });
      expect(await review(moved, 'node-a')).toMatchObject({ allowed: false, status: { code: 403 } });
      expect(await review(late, 'node-b')).toMatchObject({ allowed: true });
      // Whoever is gone has no valid token any more; our copy forgets the Pod as soon as the watch is back.
      await pollUntil('the copy to be fresh', 30_000, async () => {
        const answers = await Promise.all([review(gone, 'node-a'), review(moving, 'node-a')]);
        return answers.every(({ allowed }) => !allowed) ? true : undefined;
      });
      process.stdout.write(
        `our server was fresh ${Math.round(performance.now() - readyMs)} ms after the API server was ready; ` +
          `${answered} reviews answered meanwhile\n`,
      );
    } finally {
      over.abort();
      await stream;
    }
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect(
      (await site.api.request({ method: 'POST', path: LEASES, token, body: leaseObject('node-a') })).status,
    ).toBe(201);
    expect(
      (await site.api.request({ method: 'POST', path: LEASES, token, body: leaseObject('node-b') })).status,
    ).toBe(403);
  });

  it('refuses nobody on a copy whose watch has fallen silent', async () => {
    // A new connection for the watch, before anything else is read: the oldest of those that will be open.
    site.proxy?.set('cut');
    site.proxy?.set('pass');
    await pollUntil('the watch', 20_000, () => Promise.resolve(site.proxy?.connections() === 1 || undefined));
    await makePod('agent-early');
    await bind('agent-early', 'node-a');
    await makePod('agent-later');
    expect((await review(await userOf('agent-later'), 'node-b')).status?.message).toContain(
      'NODE_POD_UNSCHEDULED',
    );
    expect(await review(await userOf('agent-early'), 'node-a')).toMatchObject({ allowed: true });
    site.proxy?.set('freeze');
    await remove('agent-early');
    await makePod('agent-early');
    await Promise.all([bind('agent-early', 'node-b'), bind('agent-later', 'node-b')]);
    for (const pod of ['agent-early', 'agent-later']) {
      const token = await kubeletToken(site.api, 'node-b', pod);
      const write = (node: string): ReturnType<ApiClient['request']> =>
        site.api.request({ method: 'POST', path: `${LEASES}?dryRun=All`, token, body: leaseObject(node) });
      expect({ pod, ...(await write('node-b')) }).toMatchObject({ pod, status: 201 });
      expect((await write('node-a')).body.message).toContain('the agent on node "node-b" may not');
    }
  });

  it('reports the interruption in its log, and nothing worse', () => {
    const levels = new Set(site.gate.log().map(({ level }) => level));
    expect(site.gate.log().map(({ message }) => message)).toContain('watch interrupted');
    expect(levels.has('error')).toBe(false);
  });
});

reflectorSuite('1.36');
reflectorSuite('1.29');
