import { beforeEach, describe, expect, it } from 'vitest';

import type { WatchEvent, WatchOptions } from '../../src/cluster/cluster.ts';
import { CONFIG_MAP, LEASE, NODE, NODE_RUNTIME_OBSERVATION, POD } from '../../src/cluster/kinds.ts';
import type { MemoryCluster } from '../../src/cluster/memory.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject, ObjectMeta } from '../../src/cluster/objects.ts';
import {
  AGENT_NAMESPACE,
  aConfigMap,
  aLease,
  aNode,
  aPod,
  anObservation,
  uidOf,
} from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeConformance } from './conformance.ts';
import { ALLOWED_QUESTION } from './conformance/reviews.ts';

describeConformance('memory', async () => {
  const clock = new FakeClock();
  const cluster = createMemoryCluster({
    clock,
    reviewToken: (token, audiences) =>
      token === 'good' && audiences.includes('gate')
        ? { authenticated: true, user: { username: 'alice' }, audiences: ['gate'] }
        : { authenticated: false, user: {}, audiences: [] },
    reviewAccess: ({ user }) => ({
      allowed: user.groups?.includes('system:masters') === true,
      denied: false,
      reason: '',
    }),
  });
  return {
    cluster,
    prefix: 'conformance',
    token: { token: 'good', username: 'alice', audience: 'gate' },
    forgetHistory: () => cluster.compactHistory(),
    passMinute: () => clock.advance(60_000),
    endWatches: () => cluster.endWatches(),
    breakWatches: () => cluster.breakWatches(),
  };
});

describe('memory cluster', () => {
  let clock: FakeClock;
  let cluster: MemoryCluster;

  beforeEach(() => {
    clock = new FakeClock();
    cluster = createMemoryCluster({ clock });
  });

  function watchLeases(
    resourceVersion: string,
    options: Partial<WatchOptions> = {},
  ): AsyncIterator<WatchEvent> {
    return cluster.watch(LEASE, { resourceVersion, ...options })[Symbol.asyncIterator]();
  }

  describe('load', () => {
    it('keeps what a backup holds: uid, times, finalizers and status', async () => {
      const deleted = '2026-01-01T00:00:00Z';
      const pod = aPod({ node: 'node-a', finalizers: ['a/b'], deletionTimestamp: deleted, generation: 4 });
      const loaded = cluster.load(POD, pod);
      expect(loaded).toMatchObject({ ...pod, metadata: { ...pod.metadata, resourceVersion: '2' } });
      expect(await cluster.get(POD, { namespace: 'default', name: 'web' })).toBe(loaded);
    });

    it('fills in what is missing, and keeps it at the next load', () => {
      const bare = aConfigMap({
        name: 'a',
        with: { metadata: { name: 'a', namespace: 'web', labels: null } },
      });
      const first = cluster.load(CONFIG_MAP, bare);
      expect(first.metadata).toMatchObject({ creationTimestamp: '2026-01-01T00:00:00Z' });
      expect(first.metadata).not.toHaveProperty('labels');
      const { uid } = first.metadata;
      expect(cluster.load(CONFIG_MAP, bare)).toBe(first);
      const second = cluster.load(CONFIG_MAP, { ...bare, data: { a: 'b' } });
      expect(second.metadata).toMatchObject({ uid, resourceVersion: '3' });
    });

    it('tells watches of another uid as a deletion and an addition', async () => {
      cluster.load(LEASE, aLease());
      const events = watchLeases('2');
      cluster.load(LEASE, aLease({ uid: uidOf('Lease', 'another') }));
      expect((await events.next()).value).toMatchObject({
        type: 'DELETED',
        object: { metadata: { uid: aLease().metadata.uid } },
      });
      expect((await events.next()).value).toMatchObject({ type: 'ADDED' });
    });

    it.each<[string, Partial<Record<keyof ObjectMeta, unknown>>]>([
      ['labels', { labels: { a: 1 } }],
      ['annotations', { annotations: 'a' }],
      ['finalizers', { finalizers: 'a' }],
      ['ownerReferences', { ownerReferences: ['a'] }],
      ['generation', { generation: 1.5 }],
      ['name', { name: 5 }],
    ])('refuses %s of another type', (field, metadata) => {
      const lease = aLease();
      const bad = { ...lease, metadata: { ...lease.metadata, ...metadata } } as KubeObject;
      expect(() => cluster.load(LEASE, bad)).toThrow(
        expect.objectContaining({ code: 'GATE_CLUSTER_INVALID' }),
      );
      expect(() => cluster.load(LEASE, bad)).toThrow(new RegExp(`^metadata\\.${field}: `));
    });

    it('refuses an object of another kind than it is written as', () => {
      expect(() => cluster.load(POD, aLease())).toThrow(
        /found "coordination.k8s.io\/v1 Lease", need "v1 Pod"/,
      );
    });

    it('takes an object out whatever its finalizers say', async () => {
      cluster.load(LEASE, aLease({ finalizers: ['a/b'] }));
      const name = { namespace: AGENT_NAMESPACE, name: 'node-a' };
      expect(cluster.unload(LEASE, name)).toBe(true);
      expect(cluster.unload(LEASE, name)).toBe(false);
      expect(await cluster.get(LEASE, name)).toBeUndefined();
    });
  });

  describe('objects', () => {
    it('are frozen, and shared instead of copied', async () => {
      const given = aConfigMap({ data: { a: 'b' } });
      const made = await cluster.create(CONFIG_MAP, given);
      (given['data'] as Record<string, string>)['a'] = 'changed';
      const got = await cluster.get(CONFIG_MAP, { namespace: 'default', name: 'web' });
      expect(got).toBe(made);
      expect((await cluster.list(CONFIG_MAP)).items[0]).toBe(made);
      expect(got?.['data']).toEqual({ a: 'b' });
      expect(() => Object.assign(got?.['data'] as object, { a: 'c' })).toThrow(TypeError);
    });

    it('keep exact numbers, and keys that are names of the language', async () => {
      const spec = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<
        string,
        unknown
      >;
      Object.assign(spec, { big: 2n ** 60n, double: Object(1) as unknown, none: undefined });
      cluster.load(NODE, aNode({ with: { spec } }));
      const got = (await cluster.get(NODE, { name: 'node-a' }))?.['spec'] as Record<string, unknown>;
      expect(Object.keys(got)).toEqual(['__proto__', 'constructor', 'big', 'double']);
      expect(Object.getOwnPropertyDescriptor(got, '__proto__')?.value).toEqual({ polluted: true });
      expect([got['big'], typeof got['double'], Number(got['double'])]).toEqual([2n ** 60n, 'object', 1]);
      expect({}).not.toHaveProperty('polluted');
    });

    it('are the same under every version of their kind', async () => {
      cluster.load(NODE_RUNTIME_OBSERVATION, anObservation());
      const v1 = { ...NODE_RUNTIME_OBSERVATION, version: 'v1' };
      const got = await cluster.get(v1, { namespace: AGENT_NAMESPACE, name: 'node-a' });
      expect(got).toMatchObject({ apiVersion: 'pacto.trianalab.io/v1', spec: { nodeName: 'node-a' } });
    });

    it('count their changes in generation, but not those of metadata and status', async () => {
      const generations: (number | undefined)[] = [];
      const took = (object: KubeObject): KubeObject => {
        generations.push(object.metadata.generation);
        return object;
      };
      const kind = NODE_RUNTIME_OBSERVATION;
      let now = took(await cluster.create(kind, anObservation({ generation: 7 })));
      now = took(await cluster.replace(kind, { ...now, metadata: { ...now.metadata, labels: { a: 'b' } } }));
      now = took(await cluster.replaceStatus(kind, { ...now, status: { seen: 1 } }));
      now = took(await cluster.replace(kind, { ...now, spec: { nodeName: 'node-b' } }));
      took(await cluster.replace(kind, { ...now, metadata: { ...now.metadata, generation: 99 } }));
      expect(generations).toEqual([1, 1, 1, 2, 2]);
    });

    it('start without a status, but a Node', async () => {
      const observation = await cluster.create(
        NODE_RUNTIME_OBSERVATION,
        anObservation({ with: { status: { a: 1 } } }),
      );
      expect(observation).not.toHaveProperty('status');
      expect(await cluster.create(NODE, aNode())).toHaveProperty('status.conditions');
    });

    it('take no new finalizer while they are being deleted', async () => {
      const made = await cluster.create(LEASE, aLease({ finalizers: ['a/b'] }));
      const name = { namespace: AGENT_NAMESPACE, name: 'node-a' };
      await cluster.delete(LEASE, name);
      await cluster.delete(LEASE, name);
      const marked = await cluster.get(LEASE, name);
      const more = { ...made, metadata: { ...marked?.metadata, finalizers: ['a/b', 'c/d'] } };
      await expect(cluster.replace(LEASE, more)).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
      const last = { ...more, metadata: { ...more.metadata, finalizers: [] } };
      await cluster.replace(LEASE, last, { dryRun: true });
      expect(await cluster.get(LEASE, name)).toBe(marked);
    });

    it('cannot be replaced without a resourceVersion where they are custom resources', async () => {
      const { resourceVersion: _, ...metadata } = cluster.load(
        NODE_RUNTIME_OBSERVATION,
        anObservation(),
      ).metadata;
      const answer = cluster.replace(NODE_RUNTIME_OBSERVATION, { ...anObservation(), metadata });
      await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    });
  });

  describe('history', () => {
    it('is bounded, for watches and for pages', async () => {
      cluster = createMemoryCluster({ clock, historyLength: 2 });
      for (const name of ['a', 'b', 'c']) cluster.load(LEASE, aLease({ name }));
      const { continueToken = '', resourceVersion } = await cluster.list(LEASE, { limit: 1 });
      expect((await watchLeases('2').next()).value).toMatchObject({ object: { metadata: { name: 'b' } } });
      await expect(watchLeases('1').next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_GONE' });
      for (const name of ['d', 'e', 'f']) cluster.load(LEASE, aLease({ name }));
      await expect(watchLeases(resourceVersion).next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_GONE' });
      await expect(cluster.list(LEASE, { continueToken })).rejects.toMatchObject({
        code: 'GATE_CLUSTER_GONE',
      });
    });

    it('is forgotten for kinds that had none yet as well', async () => {
      cluster.advanceVersion(10);
      cluster.compactHistory();
      await expect(watchLeases('5').next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_GONE' });
      const { resourceVersion } = await cluster.list(LEASE);
      expect(resourceVersion).toBe('11');
    });

    it.each(['0', ''])(
      'is preceded by everything that exists for a watch from version %j',
      async (version) => {
        cluster.load(LEASE, aLease());
        const events = watchLeases(version);
        expect((await events.next()).value).toMatchObject({
          type: 'ADDED',
          object: { metadata: { name: 'node-a' } },
        });
      },
    );

    it('is not asked for by a version that is none', async () => {
      await expect(watchLeases('abc').next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    });
  });

  describe('watches', () => {
    it('end where their reader is too slow, after what it had room for', async () => {
      const events = watchLeases('1');
      const first = events.next();
      for (let n = 0; n < 16_390; n++) cluster.load(LEASE, aLease({ holder: `h${n}` }));
      await first;
      expect(cluster.watches).toBe(0);
      let count = 1;
      while ((await events.next()).done !== true) count++;
      expect(count).toBe(1 + 16_384);
    });

    it('send a bookmark each minute, and leave no timer', async () => {
      const controller = new AbortController();
      const events = watchLeases('1', { signal: controller.signal });
      const marks = [events.next(), events.next()];
      cluster.advanceVersion(5);
      await clock.advance(59_999);
      cluster.load(POD, aPod());
      await clock.advance(1);
      expect((await marks[0])?.value).toEqual({ type: 'BOOKMARK', resourceVersion: '7' });
      await clock.advance(60_000);
      expect((await marks[1])?.value).toEqual({ type: 'BOOKMARK', resourceVersion: '7' });
      controller.abort();
      expect([cluster.watches, clock.waiting]).toEqual([0, 0]);
    });

    it('throw their error once, after what waited', async () => {
      const events = watchLeases('1');
      const first = events.next();
      cluster.load(LEASE, aLease());
      cluster.load(LEASE, aLease({ holder: 'b' }));
      cluster.breakWatches();
      expect((await first).value).toMatchObject({ type: 'ADDED' });
      expect((await events.next()).value).toMatchObject({ type: 'MODIFIED' });
      await expect(events.next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
      expect(await events.next()).toEqual({ done: true, value: undefined });
    });

    it('drop what waited when they are aborted', async () => {
      const controller = new AbortController();
      const events = watchLeases('1', { signal: controller.signal });
      const first = events.next();
      cluster.load(LEASE, aLease());
      cluster.load(LEASE, aLease({ holder: 'b' }));
      await first;
      controller.abort(new Error('enough'));
      await expect(events.next()).rejects.toThrow('enough');
    });
  });

  describe('controls', () => {
    it('refuse calls until they are let through again, and count them all', async () => {
      const end = cluster.refuseCalls();
      await expect(cluster.list(LEASE)).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
      await expect(watchLeases('1').next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
      end();
      await cluster.list(LEASE);
      await cluster.list(POD);
      expect([
        cluster.calls('list'),
        cluster.calls('list', LEASE),
        cluster.calls('watch'),
        cluster.calls('get'),
      ]).toEqual([3, 2, 1, 0]);
    });

    it('refuse some verbs, with a chosen error', async () => {
      const error = new Error('no');
      cluster.refuseCalls(error, ['get']);
      await expect(cluster.get(NODE, { name: 'a' })).rejects.toBe(error);
      await cluster.list(NODE);
    });

    it('hold calls until they are released or given up', async () => {
      const release = cluster.holdCalls(['get']);
      const controller = new AbortController();
      const givenUp = cluster.get(NODE, { name: 'a' }, { signal: controller.signal });
      const waits = cluster.get(NODE, { name: 'a' });
      controller.abort(new Error('deadline'));
      await expect(givenUp).rejects.toThrow('deadline');
      cluster.load(NODE, aNode({ name: 'a' }));
      release();
      expect((await waits)?.metadata.name).toBe('a');
    });

    it('know no token and allow nothing unless told to', async () => {
      expect(await cluster.reviewToken('good', ['gate'])).toMatchObject({ authenticated: false });
      expect(await cluster.reviewAccess(ALLOWED_QUESTION)).toMatchObject({ allowed: false });
    });

    it('close what feeds the cluster, once', async () => {
      let closed = 0;
      cluster = createMemoryCluster({ clock, onClose: () => void closed++ });
      await cluster.close();
      await cluster.close();
      expect(closed).toBe(1);
    });
  });

  it('pages through 10,000 objects while they change', async () => {
    for (let n = 0; n < 10_000; n++) cluster.load(POD, aPod({ name: `web-${n}` }));
    let { items, continueToken } = await cluster.list(POD, { limit: 250 });
    let count = items.length;
    while (continueToken !== undefined) {
      cluster.load(POD, aPod({ name: `late-${count}` }));
      ({ items, continueToken } = await cluster.list(POD, { limit: 250, continueToken }));
      count += items.length;
    }
    expect(count).toBe(10_000);
    expect((await cluster.list(POD)).items).toHaveLength(10_039);
  });
});
