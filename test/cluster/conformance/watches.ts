import { expect, it } from 'vitest';

import type { SelectOptions, WatchEvent, WatchOptions } from '../../../src/cluster/cluster.ts';
import { LEASE } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { Fixture } from './fixture.ts';
import { heldBy, labelled, nameOf } from './fixture.ts';

/** One watch, read event by event. */
class Watch {
  readonly #events: AsyncIterator<WatchEvent>;

  constructor(fixture: Fixture, options: WatchOptions) {
    this.#events = fixture.cluster.watch(LEASE, options)[Symbol.asyncIterator]();
  }

  next(): Promise<IteratorResult<WatchEvent>> {
    return this.#events.next();
  }

  /** The next event of an object: `TYPE name`, and the object. */
  async change(): Promise<{ event: string; object: KubeObject }> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done === true) throw new Error('the watch ended');
      if (value.type !== 'BOOKMARK') {
        return { event: `${value.type} ${value.object.metadata.name}`, object: value.object };
      }
    }
  }

  async changes(count: number): Promise<string[]> {
    const events: string[] = [];
    while (events.length < count) events.push((await this.change()).event);
    return events;
  }

  async stop(): Promise<void> {
    await this.#events.return?.();
  }
}

/** Runs `test` on a watch from now on, and ends the watch. */
async function watching(
  fixture: Fixture,
  options: SelectOptions,
  test: (watch: Watch) => Promise<void>,
): Promise<void> {
  const { resourceVersion } = await fixture.cluster.list(LEASE, options);
  const watch = new Watch(fixture, { ...options, resourceVersion });
  try {
    await test(watch);
  } finally {
    await watch.stop();
  }
}

async function putLabels(
  fixture: Fixture,
  lease: KubeObject,
  labels: Record<string, string>,
): Promise<KubeObject> {
  return fixture.cluster.replace(LEASE, labelled(lease, labels));
}

export function watchTests(fixture: Fixture): void {
  it('sends what happens after the list, whole and in order', async () => {
    const namespace = await fixture.newNamespace('watch-all');
    await fixture.newLease({ namespace });
    await watching(fixture, { namespace }, async (watch) => {
      const made = await fixture.newLease({ namespace, name: 'a' });
      const changed = await fixture.cluster.replace(LEASE, heldBy(made, 'second'));
      await fixture.cluster.delete(LEASE, nameOf(made));
      expect(await watch.change()).toEqual({ event: 'ADDED a', object: made });
      expect(await watch.change()).toEqual({ event: 'MODIFIED a', object: changed });
      const { event, object } = await watch.change();
      expect(event).toBe('DELETED a');
      expect(object).toMatchObject({ kind: 'Lease', spec: { holderIdentity: 'second' } });
      expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(
        Number(changed.metadata.resourceVersion),
      );
    });
  });

  it('sends what happens while it waits', async () => {
    const namespace = await fixture.newNamespace('watch-live');
    await watching(fixture, { namespace }, async (watch) => {
      const first = watch.changes(2);
      await fixture.newLease({ namespace, name: 'a' });
      await fixture.newLease({ namespace, name: 'b' });
      expect(await first).toEqual(['ADDED a', 'ADDED b']);
    });
  });

  it('says that it is open before there is an event', async () => {
    const namespace = await fixture.newNamespace('watch-open');
    const stopping = new AbortController();
    const opened = Promise.withResolvers<void>();
    const events = fixture.cluster.watch(LEASE, {
      namespace,
      resourceVersion: (await fixture.cluster.list(LEASE, { namespace })).resourceVersion,
      signal: stopping.signal,
      onOpen: () => opened.resolve(),
    });
    const first = events[Symbol.asyncIterator]().next();
    void opened.promise.then(() => stopping.abort(new Error('enough')));
    await expect(first).rejects.toThrow('enough');
  });

  it('begins after the version it is given', async () => {
    const namespace = await fixture.newNamespace('watch-from');
    const [a] = [
      await fixture.newLease({ namespace, name: 'a' }),
      await fixture.newLease({ namespace, name: 'b' }),
    ];
    const watch = new Watch(fixture, { namespace, resourceVersion: a.metadata.resourceVersion ?? '' });
    expect(await watch.changes(1)).toEqual(['ADDED b']);
    await watch.stop();
  });

  it('sends an object that enters the labels as added, and one that leaves them as deleted', async () => {
    const namespace = await fixture.newNamespace('watch-labels');
    await watching(fixture, { namespace, labelSelector: 'app=web' }, async (watch) => {
      await fixture.newLease({ namespace, name: 'other', labels: { app: 'api' } });
      const plain = await fixture.newLease({ namespace, name: 'a' });
      const inside = await putLabels(fixture, plain, { app: 'web' });
      const still = await putLabels(fixture, inside, { app: 'web', tier: '1' });
      const outside = await putLabels(fixture, still, { app: 'api' });
      const { event, object } = await watch.change();
      expect([event, object]).toEqual(['ADDED a', inside]);
      expect(await watch.changes(1)).toEqual(['MODIFIED a']);
      const left = await watch.change();
      expect(left.event).toBe('DELETED a');
      expect(left.object.metadata.resourceVersion).toBe(outside.metadata.resourceVersion);
      await fixture.cluster.delete(LEASE, nameOf(outside));
      await fixture.newLease({ namespace, name: 'z', labels: { app: 'web' } });
      expect(await watch.changes(1)).toEqual(['ADDED z']);
    });
  });

  it('sends the one object that its fields select', async () => {
    const namespace = await fixture.newNamespace('watch-fields');
    await watching(fixture, { namespace, fieldSelector: 'metadata.name=b' }, async (watch) => {
      for (const name of ['a', 'b', 'c']) await fixture.newLease({ namespace, name });
      const last = await fixture.cluster.get(LEASE, { namespace, name: 'b' });
      await fixture.cluster.delete(LEASE, { namespace, name: 'b' });
      expect(await watch.change()).toEqual({ event: 'ADDED b', object: last });
      expect(await watch.changes(1)).toEqual(['DELETED b']);
    });
  });

  it('sends changes of all namespaces where none is named', async () => {
    const here = await fixture.newNamespace('watch-here');
    const there = await fixture.newNamespace('watch-there');
    await watching(fixture, { labelSelector: `of=${here}` }, async (watch) => {
      await fixture.newLease({ namespace: here, name: 'a', labels: { of: here } });
      await fixture.newLease({ namespace: there, name: 'b', labels: { of: here } });
      expect(await watch.changes(2)).toEqual(['ADDED a', 'ADDED b']);
    });
  });

  it('sends whole metadata when metadata alone is asked for', async () => {
    const namespace = await fixture.newNamespace('watch-metadata');
    await watching(fixture, { namespace, metadataOnly: true }, async (watch) => {
      const { metadata } = await fixture.newLease({ namespace, name: 'a', labels: { app: 'web' } });
      const { name, uid, resourceVersion, labels } = metadata;
      expect((await watch.change()).object.metadata).toMatchObject({ name, uid, resourceVersion, labels });
    });
  });

  it('waits for a namespace that is not there yet', async () => {
    const namespace = `${fixture.target.prefix}-watch-later`;
    await watching(fixture, { namespace }, async (watch) => {
      const first = watch.changes(1);
      await fixture.newNamespace('watch-later');
      await fixture.newLease({ namespace, name: 'a' });
      expect(await first).toEqual(['ADDED a']);
    });
  });

  it('sends the same to every watch', async () => {
    const namespace = await fixture.newNamespace('watch-many');
    const { resourceVersion } = await fixture.cluster.list(LEASE, { namespace });
    const watches = [1, 2, 3].map(() => new Watch(fixture, { namespace, resourceVersion }));
    const all = watches.map((watch) => watch.changes(2));
    await fixture.newLease({ namespace, name: 'a' });
    await fixture.newLease({ namespace, name: 'b' });
    for (const events of await Promise.all(all)) expect(events).toEqual(['ADDED a', 'ADDED b']);
    for (const watch of watches) await watch.stop();
  });

  it('says nothing about dry runs and writes that change nothing', async () => {
    const namespace = await fixture.newNamespace('watch-still');
    const made = await fixture.newLease({ namespace, name: 'a' });
    await watching(fixture, { namespace }, async (watch) => {
      await fixture.cluster.replace(LEASE, made);
      await fixture.cluster.replace(LEASE, heldBy(made, 'second'), { dryRun: true });
      await fixture.cluster.delete(LEASE, nameOf(made), { dryRun: true });
      await fixture.cluster.create(LEASE, fixture.lease({ namespace, name: 'b' }), { dryRun: true });
      await fixture.newLease({ namespace, name: 'c' });
      expect(await watch.changes(1)).toEqual(['ADDED c']);
    });
  });

  it('sends bookmarks', async (context) => {
    const passMinute = fixture.target.passMinute ?? context.skip('this target cannot let a minute pass');
    const namespace = await fixture.newNamespace('watch-marks');
    await watching(fixture, { namespace }, async (watch) => {
      const next = watch.next();
      await passMinute();
      const { value } = (await next) as { value: WatchEvent };
      expect(value.type).toBe('BOOKMARK');
      if (value.type !== 'BOOKMARK') return;
      const after = new Watch(fixture, { namespace, resourceVersion: value.resourceVersion });
      await fixture.newLease({ namespace, name: 'a' });
      expect(await after.changes(1)).toEqual(['ADDED a']);
      await after.stop();
    });
  });
}

export function watchEndTests(fixture: Fixture): void {
  async function openWatch(end: string, signal?: AbortSignal): Promise<Watch> {
    const namespace = await fixture.newNamespace(end);
    const { resourceVersion } = await fixture.cluster.list(LEASE, { namespace });
    const watch = new Watch(fixture, { namespace, resourceVersion, ...(signal !== undefined && { signal }) });
    // An event proves that the watch is open.
    const first = watch.changes(1);
    await fixture.newLease({ namespace, name: 'a' });
    await first;
    return watch;
  }

  it("rejects with the signal's own reason, before and while it runs", async () => {
    const reason = new Error('enough');
    const { resourceVersion } = await fixture.cluster.list(LEASE);
    const never = new Watch(fixture, { resourceVersion, signal: AbortSignal.abort(reason) });
    await expect(never.next()).rejects.toBe(reason);

    const controller = new AbortController();
    const watch = await openWatch('watch-abort', controller.signal);
    const next = watch.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  it('ends where its reader stops', async () => {
    const namespace = await fixture.newNamespace('watch-stop');
    const { resourceVersion } = await fixture.cluster.list(LEASE, { namespace });
    await fixture.newLease({ namespace, name: 'a' });
    await fixture.newLease({ namespace, name: 'b' });
    const seen: string[] = [];
    for await (const event of fixture.cluster.watch(LEASE, { namespace, resourceVersion })) {
      seen.push(event.type);
      break;
    }
    expect(seen).toEqual(['ADDED']);
  });

  it('says that a version is too old', async (context) => {
    const forgetHistory =
      fixture.target.forgetHistory ?? context.skip('this target cannot forget its history');
    const namespace = await fixture.newNamespace('watch-gone');
    const { resourceVersion } = await fixture.cluster.list(LEASE, { namespace });
    await fixture.newLease({ namespace });
    await forgetHistory();
    const watch = new Watch(fixture, { namespace, resourceVersion });
    await expect(watch.next()).rejects.toMatchObject({ code: 'GATE_CLUSTER_GONE' });
    const again = await fixture.cluster.list(LEASE, { namespace });
    const resumed = new Watch(fixture, { namespace, resourceVersion: again.resourceVersion });
    await fixture.newLease({ namespace, name: 'later' });
    expect(await resumed.changes(1)).toEqual(['ADDED later']);
    await resumed.stop();
  });

  it('ends in peace when the server ends it', async (context) => {
    const endWatches = fixture.target.endWatches ?? context.skip('this target cannot end its watches');
    const watch = await openWatch('watch-end');
    const next = watch.next();
    await endWatches();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('throws when its connection breaks', async (context) => {
    const breakWatches = fixture.target.breakWatches ?? context.skip('this target cannot break its watches');
    const watch = await openWatch('watch-break');
    const next = watch.next();
    await Promise.all([
      expect(next).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' }),
      breakWatches(),
    ]);
  });
}
