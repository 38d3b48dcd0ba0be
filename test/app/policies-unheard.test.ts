/** Policies of a cluster that is not heard of, or that is not watched. */
import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { until } from '../support/until.ts';
import { bindingObject, follow, pair, policyObject, said } from './policy-support.ts';

const UNREACHABLE = new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer');

describe('a watch that is silent for 150 s', () => {
  it('leaves the answer to the failure policy, until it is heard again', async () => {
    const followed = await follow({ sources: ['customResources'] }, [
      ...pair('a'),
      policyObject('open', { spec: { failurePolicy: 'Ignore' } }),
      bindingObject('open'),
    ]);
    await followed.becomes('a', '200 denied a: no');
    const release = followed.cluster.refuseCalls(UNREACHABLE, ['list', 'watch']);
    followed.cluster.breakWatches();
    await followed.clock.advance(149_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
    await followed.clock.advance(2_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*is silent for 1\d\d s/);
    expect(await followed.ask('open')).toMatch(/^200 allowed .*is silent for 1\d\d s/);
    expect(followed.policies.sources.incomplete()).toHaveLength(2);
    expect(followed.policies.unsynced()).toBeUndefined();
    release();
    await followed.clock.advance(10_000);
    await followed.becomes('a', '200 denied a: no');
  });
});

describe('without watches', () => {
  const LIVE = { state: 'live', sources: ['customResources'] } as const;

  it('policies are listed at the start, and again by the first request after 30 s', async () => {
    const followed = await follow(LIVE, pair('a'));
    expect(await followed.ask('a')).toBe('200 denied a: no');
    followed.write(policyObject('a', { expression: 'true' }), ...pair('b'));
    await followed.clock.advance(29_000);
    expect([await followed.ask('a'), await followed.ask('b')]).toEqual(['200 denied a: no', '503']);
    await followed.clock.advance(1_000);
    expect(await followed.ask('b')).toBe('200 denied b: no');
    expect(await followed.ask('a')).toBe('200 allowed');
    expect([followed.cluster.calls('list'), followed.cluster.calls('watch')]).toEqual([4, 0]);
  });

  it('a policy that is listed again as it was is the same', async () => {
    const followed = await follow(LIVE, pair('a'), { copies: true });
    const object = () => followed.policies.sources.current().policies[0]?.object;
    const [before, set] = [object(), followed.policies.set()];
    expect(before?.metadata.name).toBe('a');
    followed.write(policyObject('b'));
    await followed.clock.advance(30_000);
    expect(await followed.ask('b')).toBe('200 allowed');
    expect(object()).toBe(before);
    expect(followed.policies.set()).not.toBe(set);
  });

  it('many requests share one list', async () => {
    const followed = await follow(LIVE, pair('a'));
    await followed.clock.advance(30_000);
    const answers = await Promise.all(Array.from({ length: 50 }, () => followed.ask('a')));
    expect(new Set(answers)).toEqual(new Set(['200 denied a: no']));
    expect(followed.cluster.calls('list')).toBe(4);
  });

  it('a list that fails leaves the last one in force for 150 s, and the failure policy decides then', async () => {
    const followed = await follow(LIVE, pair('a'));
    const release = followed.cluster.refuseCalls(UNREACHABLE, ['list']);
    await followed.clock.advance(100_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
    await followed.clock.advance(50_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*the last list of them is 150 s old/);
    expect(said(followed).filter((line) => line.startsWith('policies not listed'))).toHaveLength(1);
    release();
    await followed.clock.advance(1_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
  });

  it('a list that failed is not tried again for a second', async () => {
    const followed = await follow(LIVE, pair('a'));
    followed.cluster.refuseCalls(UNREACHABLE, ['list']);
    await followed.clock.advance(30_000);
    for (let ask = 0; ask < 20; ask++) await followed.ask('a');
    expect(followed.cluster.calls('list')).toBe(3);
  });

  it('a list that hangs ends within the deadline', async () => {
    const followed = await follow(LIVE, pair('a'));
    await followed.clock.advance(30_000);
    const release = followed.cluster.holdCalls(['list']);
    const answer = followed.ask('a');
    await followed.clock.advance(5_000);
    expect(await answer).toBe('200 denied a: no');
    release();
  });

  it('more than one list may bring is a failure', async () => {
    const followed = await follow(LIVE, pair('a'));
    for (let index = 0; index < 500; index++) followed.write(policyObject(`p${String(index)}`));
    await followed.clock.advance(30_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*more than 500 validatingadmissionpolicies/);
  });

  it('the probe keeps trying until there is a first list', async () => {
    let release = (): void => undefined;
    const followed = await follow(LIVE, pair('a'), {
      prepare(cluster) {
        release = cluster.refuseCalls(UNREACHABLE, ['list']);
      },
    });
    expect(await followed.ask('a')).toBe('503');
    release();
    await followed.clock.advance(1_000);
    expect(followed.policies.unsynced()).toBe(
      'validatingadmissionpolicies.gate.pacto.trianalab.io are not read yet',
    );
    await until('it is ready', () => followed.policies.unsynced() === undefined);
    expect(await followed.ask('a')).toBe('200 denied a: no');
  });
});
