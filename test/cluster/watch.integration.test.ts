import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { POD } from '../../src/cluster/kinds.ts';
import {
  createReflector,
  type Reflector,
  type ReflectorOptions,
  type ReflectorReport,
} from '../../src/cluster/watch.ts';
import { sendStatus } from '../support/fake-api-server.ts';
import { aPod, useRestCluster } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';

const fixture = useRestCluster();
const running: Reflector[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));

/** A reflector of Pods that has seen `a` and `b` and watches. */
async function watching(
  options: Partial<ReflectorOptions> = {},
): Promise<{ reflector: Reflector; reports: ReflectorReport[]; deleted: string[] }> {
  const { server } = fixture;
  server.put(POD, aPod('a'));
  server.put(POD, aPod('b'));
  const reports: ReflectorReport[] = [];
  const deleted: string[] = [];
  const reflector = createReflector({
    cluster: fixture.cluster,
    kind: POD,
    clock: systemClock,
    random: () => 0,
    onChange: (change) => {
      if (change.type === 'deleted') deleted.push(change.object.metadata.name ?? '');
    },
    report: (report) => reports.push(report),
    ...options,
  });
  running.push(reflector);
  reflector.start();
  await until('it watches', () => server.openWatches === 1);
  return { reflector, reports, deleted };
}

function has(reflector: Reflector, ...names: string[]): () => boolean {
  return () =>
    reflector.store.size === names.length &&
    names.every((name) => reflector.store.get({ namespace: 'web', name }) !== undefined);
}

describe('a reflector over sockets', () => {
  it('resumes without a list after a reset, and misses nothing of the time between', async () => {
    const { server } = fixture;
    const { reflector, reports, deleted } = await watching();
    server.resetWatches();
    server.remove(POD, 'web', 'a');
    server.put(POD, aPod('c'));
    await until('it is fresh again', has(reflector, 'b', 'c'));
    expect([server.count('list'), server.count('watch'), deleted]).toEqual([1, 2, ['a']]);
    expect(reports).toMatchObject([{ type: 'listed' }, { type: 'failed', during: 'watch' }]);
  });

  it('goes on after a clean end from the last bookmark, without a list', async () => {
    const { server } = fixture;
    const { reflector } = await watching();
    server.bookmark();
    const { version } = server;
    await until('the bookmark is heard', () => reflector.freshnessMs() < 1000);
    server.endWatches();
    await until('it watches again', () => server.openWatches === 1);
    // Versions up to the bookmark are forgotten: only who took the bookmark in can resume.
    server.compact();
    server.resetWatches();
    await until('it watches again', () => server.openWatches === 1 && server.count('watch') === 3);
    expect(server.count('list')).toBe(1);
    expect(server.requests.filter((r) => r.isWatch).map((r) => r.query['resourceVersion'])).toContain(
      version,
    );
  });

  it.each(['event', 'http'] as const)('lists again after a 410 by %s, and tells what is gone', async (by) => {
    const { server } = fixture;
    const { reflector, deleted, reports } = await watching();
    server.resetWatches();
    server.remove(POD, 'web', 'a');
    server.compact();
    if (by === 'http')
      server.scriptNext(
        (request) => request.isWatch,
        (_request, response) => sendStatus(response, 410, 'Expired'),
      );
    await until('it is fresh again', has(reflector, 'b'));
    expect([server.count('list'), deleted]).toEqual([2, ['a']]);
    expect(reports).toContainEqual({ type: 'expired', code: 'GATE_CLUSTER_GONE' });
  });

  it.each([429, 500, 503])(
    'outlives lists and watches that are refused with %i before and after a reset',
    async (status) => {
      const { server } = fixture;
      let refusals = 0;
      server.script((request, response) => {
        if (refusals++ % 2 === 1) return false;
        return sendStatus(response, status, 'Scripted', request.path);
      });
      const { reflector, reports } = await watching();
      server.resetWatches();
      server.put(POD, aPod('c'));
      await until('it is fresh again', has(reflector, 'a', 'b', 'c'));
      expect(server.count('list')).toBe(2);
      expect(reports.filter((r) => r.type === 'failed').map((r) => r.during)).toEqual([
        'list',
        'watch',
        'watch',
        'watch',
      ]);
    },
  );

  it('gives no wrong answer while the server is down, and is fresh again after it comes back', async () => {
    const { server } = fixture;
    const { reflector, reports, deleted } = await watching();
    await server.stop();
    await until('a new connection failed', () => reports.filter((r) => r.type === 'failed').length >= 2);
    expect(has(reflector, 'a', 'b')()).toBe(true);
    server.remove(POD, 'web', 'a');
    server.put(POD, aPod('c'));
    await server.start();
    await until('it is fresh again', has(reflector, 'b', 'c'));
    expect([server.count('list'), deleted]).toEqual([1, ['a']]);
  });

  it('loses no event to garbage, which it does not skip', async () => {
    const { server } = fixture;
    const { reflector } = await watching();
    server.writeToWatches('{"type":"MODIFIED","object":{"metadata":\n');
    await until('the watch is given up', () => server.openWatches === 0);
    server.put(POD, aPod('c'));
    await until('it is fresh again', has(reflector, 'a', 'b', 'c'));
    expect(server.count('list')).toBe(1);
  });

  it('lists by pages and keeps metadata alone', async () => {
    const { reflector } = await watching({ pageSize: 1, metadataOnly: true });
    expect(has(reflector, 'a', 'b')()).toBe(true);
    expect(fixture.server.requests.map((r) => [r.isWatch, r.query['limit'], r.headers.accept])).toEqual([
      [false, '1', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'],
      [false, '1', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'],
      [true, undefined, 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'],
    ]);
  });

  it('closes its connection when it is stopped', async () => {
    const { reflector } = await watching();
    await reflector.stop();
    await until('no watch is open', () => fixture.server.openWatches === 0);
    expect(fixture.server.count('watch')).toBe(1);
  });
});
