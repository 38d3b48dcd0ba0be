import { describe, expect, it } from 'vitest';
import type { WatchEvent } from '../../src/cluster/cluster.ts';
import { POD } from '../../src/cluster/kinds.ts';
import { type FakeApiServer, sendStatus, statusBody } from '../support/fake-api-server.ts';
import { aPod, useRestCluster } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';

const fixture = useRestCluster();

async function collect(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const all: WatchEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('watches', () => {
  it('asks for bookmarks and an end after 290 to 580 seconds', async () => {
    fixture.server.put(POD, aPod('a'));
    for (const [random, want] of [
      [0, '90'],
      [0.999_999, '109'],
    ] as const) {
      const watching = collect(
        fixture.connect({ random: () => random }).watch(POD, { resourceVersion: '1' }),
      );
      await until('the watch is open', () => fixture.server.openWatches === 1);
      fixture.server.endWatches();
      await watching;
      expect(fixture.server.requests.at(-1)?.query).toMatchObject({
        watch: '1',
        allowWatchBookmarks: 'true',
        resourceVersion: '1',
        timeoutSeconds: want,
      });
    }
  });

  it('yields events and bookmarks after the version, and ends when the server ends it', async () => {
    const a = fixture.server.put(POD, aPod('a'));
    const watching = collect(fixture.cluster.watch(POD, { resourceVersion: '0' }));
    await until('the watch is open', () => fixture.server.openWatches === 1);
    const b = fixture.server.put(POD, aPod('b'));
    fixture.server.bookmark();
    const { version } = fixture.server;
    fixture.server.remove(POD, 'web', 'b');
    fixture.server.endWatches();
    expect(await watching).toEqual([
      { type: 'ADDED', object: a },
      { type: 'ADDED', object: b },
      { type: 'BOOKMARK', resourceVersion: version },
      {
        type: 'DELETED',
        object: { ...b, metadata: { ...b.metadata, resourceVersion: fixture.server.version } },
      },
    ]);
  });

  it('asks for metadata alone', async () => {
    fixture.server.put(POD, aPod('a', 'web', { spec: {} }));
    const watching = collect(fixture.cluster.watch(POD, { resourceVersion: '0', metadataOnly: true }));
    await until('the watch is open', () => fixture.server.openWatches === 1);
    fixture.server.endWatches();
    expect(await watching).toEqual([
      {
        type: 'ADDED',
        object: { apiVersion: 'v1', kind: 'Pod', metadata: expect.objectContaining({ name: 'a' }) },
      },
    ]);
  });

  it('says GONE for an ERROR event 410 inside of HTTP 200, and for HTTP 410', async () => {
    fixture.server.put(POD, aPod('a'));
    fixture.server.compact();
    await expect(collect(fixture.cluster.watch(POD, { resourceVersion: '1' }))).rejects.toMatchObject({
      code: 'GATE_CLUSTER_GONE',
    });
    fixture.server.script((_request, response) => sendStatus(response, 410, 'Expired'));
    await expect(collect(fixture.cluster.watch(POD, { resourceVersion: '1' }))).rejects.toMatchObject({
      code: 'GATE_CLUSTER_GONE',
    });
  });

  const broken: [string, (s: FakeApiServer) => void, string][] = [
    ['a reset connection', (s) => s.resetWatches(), 'GATE_CLUSTER_UNREACHABLE'],
    [
      'an end in the middle of an event',
      (s) => {
        s.writeToWatches('{"type":"ADD');
        s.endWatches();
      },
      'GATE_CLUSTER_UNREACHABLE',
    ],
    ['garbage', (s) => s.writeToWatches('garbage\n'), 'GATE_CLUSTER_ANSWER'],
    ['an unknown event', (s) => s.writeToWatches('{"type":"NEWS","object":{}}\n'), 'GATE_CLUSTER_ANSWER'],
    ['a bookmark without a version', (s) => s.writeToWatches('{"type":"BOOKMARK"}\n'), 'GATE_CLUSTER_ANSWER'],
    ['a line over the limit', (s) => s.writeToWatches('x'.repeat(70_000)), 'GATE_CLUSTER_ANSWER'],
    [
      'an ERROR event 500',
      (s) => s.writeToWatches(`{"type":"ERROR","object":${statusBody(500, 'InternalError', 'x')}}\n`),
      'GATE_CLUSTER_UNREACHABLE',
    ],
    ['silence', () => undefined, 'GATE_CLUSTER_UNREACHABLE'],
  ];
  it.each(broken)('breaks on %s', async (_what, fault, code) => {
    fixture.server.put(POD, aPod('a'));
    const strict = fixture.connect({ limits: { objectBytes: 65_536, watchIdleMs: 500 } });
    const watching = collect(strict.watch(POD, { resourceVersion: '0' }));
    await until('the watch is open', () => fixture.server.openWatches === 1);
    fault(fixture.server);
    await expect(watching).rejects.toMatchObject({ code });
    await until('its connection is closed', () => fixture.server.openWatches === 0);
  });

  it('puts an event together from single bytes, and keeps U+2028 inside of a string', async () => {
    fixture.server.put(POD, aPod('z'));
    const watch = fixture.cluster.watch(POD, { resourceVersion: fixture.server.version });
    const watching = watch[Symbol.asyncIterator]();
    const next = watching.next();
    await until('the watch is open', () => fixture.server.openWatches === 1);
    const object = { metadata: { name: 'ä', resourceVersion: '7', annotations: { note: 'one\u2028two' } } };
    for (const byte of Buffer.from(`\n${JSON.stringify({ type: 'ADDED', object })}\n`))
      fixture.server.writeToWatches(Buffer.of(byte));
    expect(await next).toEqual({
      done: false,
      value: { type: 'ADDED', object: { apiVersion: 'v1', kind: 'Pod', ...object } },
    });
    await watching.return?.();
    await until('the connection is closed', () => fixture.server.openWatches === 0);
  });

  it("ends with the signal's own reason", async () => {
    fixture.server.put(POD, aPod('a'));
    const controller = new AbortController();
    const watching = collect(fixture.cluster.watch(POD, { resourceVersion: '0', signal: controller.signal }));
    await until('the watch is open', () => fixture.server.openWatches === 1);
    const reason = new Error('stopped');
    controller.abort(reason);
    await expect(watching).rejects.toBe(reason);
    await until('the connection is closed', () => fixture.server.openWatches === 0);
  });

  it('renews the token of a watch that is refused', async () => {
    fixture.server.put(POD, aPod('a'));
    fixture.server.script((request, response) =>
      request.headers.authorization === 'Bearer new' ? false : sendStatus(response, 401, 'Unauthorized'),
    );
    const rotating = fixture.connect({
      credentials: {
        current: () => Promise.resolve({ authorization: 'Bearer old' }),
        renew: () => Promise.resolve({ authorization: 'Bearer new' }),
      },
    });
    const watching = collect(rotating.watch(POD, { resourceVersion: fixture.server.version }));
    await until('the watch is open', () => fixture.server.openWatches === 1);
    fixture.server.endWatches();
    expect(await watching).toEqual([]);
  });
});
