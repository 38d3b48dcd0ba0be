/** A reflector that keeps all of each object, for expressions that may read any of it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ListOptions } from '../../src/cluster/cluster.ts';
import { CONFIG_MAP, type Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { createReflector, type Reflector } from '../../src/cluster/watch.ts';
import { GateError } from '../../src/errors.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';

const map = (namespace: string, name: string, rest: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  ...rest,
});

function follow(asked: Pick<ListOptions, 'exact'>[] = []): { memory: MemoryCluster; reflector: Reflector } {
  const clock = new FakeClock();
  const memory = createMemoryCluster({ clock });
  const reflector = createReflector({
    cluster: {
      list(kind: Kind, options) {
        asked.push(options ?? {});
        return memory.list(kind, options);
      },
      watch(kind: Kind, options) {
        asked.push(options);
        return memory.watch(kind, options);
      },
    },
    kind: CONFIG_MAP,
    clock,
    random: () => 0,
    whole: true,
    report: () => undefined,
  });
  onTestFinished(() => reflector.stop());
  return { memory, reflector };
}

describe('a reflector of whole objects', () => {
  it('keeps managedFields, the last applied configuration and every number, and asks for that', async () => {
    const asked: Pick<ListOptions, 'exact'>[] = [];
    const { memory, reflector } = follow(asked);
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const metadata = { namespace: 'web', name: 'a', annotations, managedFields: [{ manager: 'm' }] };
    memory.load(CONFIG_MAP, map('web', 'a', { metadata, n: 9_007_199_254_740_993n }));
    reflector.start();
    await until('it watches', () => asked.length === 2);
    expect(asked.map(({ exact }) => exact)).toEqual([true, true]);
    const kept = reflector.store.get({ namespace: 'web', name: 'a' });
    expect(kept).toMatchObject({ metadata, n: 9_007_199_254_740_993n });
  });

  it('can be looked at by namespace, while it changes', async () => {
    const { memory, reflector } = follow();
    memory.load(CONFIG_MAP, map('x', 'a'));
    memory.load(CONFIG_MAP, map('y', 'b'));
    reflector.start();
    await until('it is synced', () => reflector.synced());
    const within = (namespace: string): unknown =>
      [...reflector.store.values(namespace)].map(({ metadata }) => metadata.name);
    expect([within('x'), within('y'), within('z')]).toEqual([['a'], ['b'], []]);
    memory.load(CONFIG_MAP, map('z', 'c'));
    memory.load(CONFIG_MAP, map('x', 'd'));
    memory.unload(CONFIG_MAP, { namespace: 'y', name: 'b' });
    memory.load(CONFIG_MAP, map('x', 'a', { data: { changed: 'yes' } }));
    const changed = (): unknown => reflector.store.get({ namespace: 'x', name: 'a' })?.['data'];
    await until('the last change is there', () => changed() !== undefined);
    expect([within('x'), within('y'), within('z')]).toEqual([['a', 'd'], [], ['c']]);
    expect([...reflector.store.values('x')][0]).toHaveProperty('data');
    expect([reflector.whole, reflector.selective]).toEqual([true, false]);
  });

  it('takes smaller pages where one of large objects is more than an answer may hold', async () => {
    const asked: ListOptions[] = [];
    const clock = new FakeClock();
    const memory = createMemoryCluster({ clock });
    for (let n = 0; n < 20; n++) memory.load(CONFIG_MAP, map('x', `m${String(n)}`));
    const reflector = createReflector({
      cluster: {
        list(kind: Kind, options = {}) {
          asked.push(options);
          if ((options.limit ?? 0) > 10) throw new GateError('GATE_CLUSTER_ANSWER', 'more than it may hold');
          return memory.list(kind, options);
        },
        watch: (kind: Kind, options) => memory.watch(kind, options),
      },
      kind: CONFIG_MAP,
      clock,
      random: () => 0,
      whole: true,
      pageSize: 100,
      report: () => undefined,
    });
    onTestFinished(() => reflector.stop());
    reflector.start();
    for (let failures = 1; failures <= 2; failures++) {
      await until('a list has failed', () => asked.length === failures && clock.waiting === 1);
      await clock.advance(failures * 125);
    }
    await until('it is synced', () => reflector.synced());
    expect(asked.map(({ limit }) => limit)).toEqual([100, 25, 6, 6, 6, 6]);
    expect(reflector.store.size).toBe(20);
  });
});
