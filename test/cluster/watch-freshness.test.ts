import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { page, pod, reflect, refused, ScriptedCluster } from './support/scripted-watch.ts';

describe('freshness', () => {
  it('counts from the last list, event or bookmark; decisions may stand on it for 150 s', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(150_000);
    expect([reflector.freshnessMs(), reflector.usable()]).toEqual([150_000, true]);
    await clock.advance(1);
    expect([reflector.synced(), reflector.usable()]).toEqual([true, false]);
    watch.send({ type: 'BOOKMARK', resourceVersion: '6' });
    await until('it is heard', () => reflector.freshnessMs() === 0);
    expect(reflector.usable()).toBe(true);
  });

  it('is not renewed by a watch that ends in good order without a word', async () => {
    const cluster = new ScriptedCluster(page('5', []));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(5000);
    watch.send('end');
    await cluster.nextWatch(2);
    expect(reflector.freshnessMs()).toBe(5000);
  });
});

describe('a watch that ends in good order', () => {
  it.each([
    ['is begun with a list where nothing was heard for half a minute: bookmarks may never come', 30_001, 2],
    ['goes on where it was, where something was heard', 30_000, 1],
  ])('%s', async (_title, silentMs, lists) => {
    const cluster = new ScriptedCluster(page('5', []), page('9', [pod('a', '8')]));
    const { reflector, clock } = reflect(cluster);
    const watch = await cluster.nextWatch(1);
    await clock.advance(70_000);
    watch.send({ type: 'BOOKMARK', resourceVersion: '6' });
    await until('it is heard', () => reflector.freshnessMs() === 0);
    await clock.advance(silentMs);
    watch.send('end');
    const second = await cluster.nextWatch(2);
    expect([cluster.lists.length, second.options.resourceVersion]).toEqual([lists, lists === 2 ? '9' : '6']);
    expect(reflector.freshnessMs()).toBe(lists === 2 ? 0 : silentMs);
  });
});

describe('a watch that could not be had for 150 s', () => {
  it('is begun with a list, which tells the state at once', async () => {
    const cluster = new ScriptedCluster(page('5', []), page('9', [pod('a', '8')]));
    const { reflector, clock } = reflect(cluster);
    (await cluster.nextWatch(1)).send(refused('GATE_CLUSTER_UNREACHABLE'));
    await until('it waits', () => clock.waiting === 1);
    // The second watch stands for all that time without a word, and breaks.
    await clock.advance(10_000);
    const second = await cluster.nextWatch(2);
    expect(second.options.resourceVersion).toBe('5');
    await clock.advance(150_000);
    second.send(refused('GATE_CLUSTER_UNREACHABLE'));
    await until('it waits', () => clock.waiting === 1);
    await clock.advance(10_000);
    expect((await cluster.nextWatch(3)).options.resourceVersion).toBe('9');
    expect([reflector.usable(), reflector.store.size]).toEqual([true, 1]);
  });
});
