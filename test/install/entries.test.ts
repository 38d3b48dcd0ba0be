import { describe, expect, it } from 'vitest';
import { VALIDATING_WEBHOOK_CONFIGURATION } from '../../src/cluster/kinds.ts';
import { Bench, ENTRIES, onWebhooks } from './support/bench.ts';
import { CONFIGURATION, desiredOf, entryFor } from './support/pretended.ts';
describe('webhook entries', () => {
  it('are written when the server answers, and not before', async () => {
    const bench = new Bench(['a', 'b']);
    bench.serverUp = false;
    bench.start('webhooks');
    await bench.run(5_000);
    expect(await bench.entries()).toEqual([]);
    expect(bench.problems[0]).toContain('waits for its server: nobody answers');
    expect(bench.enforced.get('a')).toMatchObject({ by: 'None', because: { reason: 'WaitsForServer' } });
    bench.serverUp = true;
    await bench.run(40_000);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.enforced.get('a')).toEqual({ by: 'Webhook', entry: ENTRIES[0] });
    expect(bench.problems).toEqual([]);
  });

  it('are written once, and not again while nothing changes', async () => {
    const bench = await onWebhooks();
    const before = bench.pretended.cluster.calls('apply');
    bench.start('webhooks');
    await bench.run(3_000);
    expect(bench.pretended.cluster.calls('apply')).toBe(before);
  });

  it('are refused nothing and made by nobody where there is no configuration', async () => {
    const bench = new Bench(['a']);
    bench.pretended.cluster.unload(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION });
    bench.start('webhooks');
    await bench.run(2_000);
    expect(bench.problems[0]).toContain('kubectl create -f -');
    expect(bench.problems[0]).toContain(CONFIGURATION);
    expect(
      await bench.pretended.cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION }),
    ).toBeUndefined();
    expect(bench.enforced.get('a')).toMatchObject({ by: 'None', because: { reason: 'NoConfiguration' } });
  });

  it('go with their policy, and stay while nobody knows whether it is gone', async () => {
    const bench = await onWebhooks();
    bench.guarded = ['b'];
    bench.start('webhooks');
    await bench.change(desiredOf(['b'], { incomplete: ['ConfigMap "pacto-system/policies"'] }));
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.problems.join()).toContain('nothing is removed');
    await bench.change(desiredOf(['b']));
    expect(await bench.entries()).toEqual([ENTRIES[1]]);
  });

  it('are made stricter when the server answers only, and looser at once', async () => {
    const bench = new Bench(['a']);
    const ignoring = desiredOf(['a']);
    const loose = {
      ...ignoring,
      policyEntries: { ...ignoring.policyEntries, webhooks: [entryFor('a', 'Ignore')] },
    };
    bench.desired = loose;
    bench.start('webhooks');
    await bench.run(2_000);
    const policyOf = async (): Promise<unknown> => {
      const object = await bench.pretended.cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, {
        name: CONFIGURATION,
      });
      const [entry] = (object?.['webhooks'] ?? []) as { failurePolicy: string }[];
      return entry?.failurePolicy;
    };
    expect(await policyOf()).toBe('Ignore');
    bench.serverUp = false;
    await bench.change(desiredOf(['a']));
    expect(await policyOf()).toBe('Ignore');
    bench.serverUp = true;
    await bench.run(60_000);
    expect(await policyOf()).toBe('Fail');
    bench.serverUp = false;
    await bench.change(loose);
    expect(await policyOf()).toBe('Ignore');
  });

  it('are put back when somebody takes them away, and less and less often when that goes on', async () => {
    const bench = await onWebhooks();
    bench.guarded = [];
    bench.start('webhooks');
    await bench.run(1_000);
    const { cluster } = bench.pretended;
    const written = cluster.calls('apply');
    for (let second = 0; second < 600; second += 1) {
      const object = await cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION });
      if (object !== undefined && (object['webhooks'] as unknown[]).length > 0)
        await cluster.replace(VALIDATING_WEBHOOK_CONFIGURATION, { ...object, webhooks: [] });
      bench.wake();
      await bench.clock.advance(1_000);
    }
    const contested = bench.outcomes.filter((outcome) => outcome.ok && outcome.contested);
    expect(contested.length).toBeGreaterThan(3);
    expect(cluster.calls('apply') - written).toBeLessThan(15);
    // Left alone, it comes to rest.
    await bench.run(700_000);
    expect(await bench.entries()).toEqual(ENTRIES);
  });

  it('counts no fight where entries come one after the other, as their server learns of them', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const bench = new Bench(names);
    let known = 0;
    bench.knows = (policy) => names.indexOf(policy) < known;
    bench.start('webhooks');
    for (known = 1; known < names.length; known += 1) {
      bench.wake();
      await bench.run(2_000);
    }
    bench.wake();
    await bench.run(2_000);
    expect(await bench.entries()).toHaveLength(names.length);
    expect(bench.outcomes.filter((outcome) => outcome.ok && outcome.contested)).toEqual([]);
  });
});
