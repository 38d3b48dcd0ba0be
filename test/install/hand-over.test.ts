import { describe, expect, it } from 'vitest';
import { ApiRefusal } from '../../src/cluster/answers.ts';
import { NATIVE_POLICY, VALIDATING_WEBHOOK_CONFIGURATION } from '../../src/cluster/kinds.ts';
import { GateError } from '../../src/errors.ts';
import { Bench, DELAYS, ENTRIES, onNative, onWebhooks } from './support/bench.ts';
import { CONFIGURATION, desiredOf, Pretended } from './support/pretended.ts';
describe('hand-over to native policies', () => {
  it('takes the entries away when the API server is proved to enforce', async () => {
    const bench = await onWebhooks();
    bench.start('native');
    await bench.run(5_000);
    expect(await bench.natives()).toEqual(['a', 'b', 'pacto-gate-canary']);
    expect(await bench.entries()).toEqual(ENTRIES);
    await bench.run(10_000);
    expect(await bench.entries()).toEqual([]);
    expect(bench.slipped).toEqual([]);
    expect(bench.enforced.get('a')).toEqual({ by: 'Native' });
  });

  it('stays on the entries where the API server does not enforce, and says so', async () => {
    const bench = await onWebhooks();
    bench.enforcesNatively = false;
    bench.start('auto');
    await bench.run(60_000);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.problems[0]).toContain('NativeNotEnforcing');
    expect(bench.slipped).toEqual([]);
    expect(bench.enforced.get('a')).toMatchObject({
      by: 'Webhook',
      because: { reason: 'NativeNotEnforcing' },
    });
    // Somebody mends it.
    bench.enforcesNatively = true;
    await bench.run(120_000);
    expect(await bench.entries()).toEqual([]);
    expect(bench.slipped).toEqual([]);
  });

  it.each([
    [
      'one of several API servers does not enforce',
      (bench: Bench): void => {
        const lax = new Pretended({ clock: bench.clock, enforcesNatively: () => false }).cluster;
        const { cluster } = bench.pretended;
        const servers = [
          { name: 'strict', cluster },
          { name: 'lax', cluster: lax },
        ];
        bench.apiServers = () => Promise.resolve(servers);
      },
      'lax: the canary was let pass',
    ],
    [
      'nobody knows which API servers there are',
      (bench: Bench): void => {
        const error = new GateError('GATE_CLUSTER_FORBIDDEN', 'cannot list endpointslices');
        bench.apiServers = () => Promise.reject(error);
      },
      'cannot list endpointslices',
    ],
    [
      'no API server is reached',
      (bench: Bench): void => {
        const gone = new GateError('GATE_CLUSTER_UNREACHABLE', 'gone');
        const cluster = { create: () => Promise.reject(gone) };
        bench.apiServers = () => Promise.resolve([{ name: 'far', cluster }]);
      },
      'no API server could be reached',
    ],
    [
      'the canary may not be written',
      (bench: Bench): void => {
        bench.onWrite = ({ object }) => {
          if (object.metadata.name === 'pacto-gate-canary')
            throw new GateError('GATE_CLUSTER_FORBIDDEN', 'may not create the canary');
        };
      },
      'may not create the canary',
    ],
    [
      'somebody else refuses the canary',
      (bench: Bench): void => {
        const refusal = new ApiRefusal(
          'GATE_CLUSTER_FORBIDDEN',
          'no ConfigMaps here',
          {},
          'no ConfigMaps here',
        );
        bench.apiServers = () =>
          Promise.resolve([{ name: 'one', cluster: { create: () => Promise.reject(refusal) } }]);
      },
      'refused in other words',
    ],
  ])('stays on the entries where %s', async (_what, arrange, why) => {
    const bench = await onWebhooks();
    arrange(bench);
    bench.start('native');
    await bench.run(60_000);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.problems.join()).toContain('NativeNotEnforcing');
    expect(bench.problems.join()).toContain(why);
    expect(bench.slipped).toEqual([]);
  });

  it('writes nothing from the moment that somebody else leads, and goes on when it leads again', async () => {
    const bench = await onWebhooks();
    bench.start('native');
    await bench.run(5_000);
    expect(await bench.natives()).toContain('pacto-gate-canary');
    const writes: string[] = [];
    bench.onWrite = ({ operation, object }) => writes.push(`${operation} ${object.metadata.name ?? ''}`);
    bench.term.abort(new GateError('GATE_NOT_LEADING', 'another one leads'));
    bench.wake();
    await bench.run(60_000);
    expect(writes).toEqual([]);
    expect(await bench.entries()).toEqual(ENTRIES);
    bench.term = new AbortController();
    bench.wake();
    await bench.run(20_000);
    expect(await bench.entries()).toEqual([]);
    expect(bench.slipped).toEqual([]);
  });

  it('passes over an API server that is not reached where others are', async () => {
    const bench = await onWebhooks();
    const gone = new GateError('GATE_CLUSTER_UNREACHABLE', 'gone');
    const { cluster } = bench.pretended;
    bench.apiServers = () =>
      Promise.resolve([
        { name: 'far', cluster: { create: () => Promise.reject(gone) } },
        { name: 'near', cluster },
      ]);
    bench.start('native');
    await bench.run(20_000);
    expect(await bench.entries()).toEqual([]);
    expect(bench.slipped).toEqual([]);
  });

  it('writes entries from nothing where the API server does not enforce', async () => {
    const bench = new Bench(['a', 'b']);
    bench.enforcesNatively = false;
    bench.start('native');
    await bench.run(60_000);
    expect(await bench.entries()).toEqual(ENTRIES);
  });

  it('stays on the entries where the API server serves no native policies', async () => {
    const bench = new Bench(['a', 'b'], false);
    bench.start('native');
    await bench.run(3_000);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.problems[0]).toContain('NativeNotEnforcing');
  });

  it('puts the entries back when the API server ceases to enforce', async () => {
    const bench = await onNative();
    bench.guarded = [];
    bench.start('native');
    await bench.run(20_000);
    bench.enforcesNatively = false;
    await bench.run(700_000);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.problems[0]).toContain('NativeNotEnforcing');
  });

  it('keeps the entry of a policy of which somebody else has one, and leaves that as it is', async () => {
    const bench = await onWebhooks();
    const theirs = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'a' },
      spec: { validations: [{ expression: 'true' }] },
    };
    const stored = bench.pretended.cluster.load(NATIVE_POLICY, theirs);
    bench.start('native');
    await bench.run(20_000);
    expect(await bench.entries()).toEqual([ENTRIES[0]]);
    expect(await bench.pretended.cluster.get(NATIVE_POLICY, { name: 'a' })).toEqual(stored);
    expect(bench.problems.join()).toContain('one that is not ours');
    expect(bench.enforced.get('b')).toEqual({ by: 'Native' });
    expect(bench.enforced.get('a')).toMatchObject({ by: 'Webhook' });
    expect(bench.slipped).toEqual([]);
  });

  it('enforces by its entry what the API server refuses to take, and removes what it was before', async () => {
    const bench = await onNative();
    bench.onWrite = ({ kind, object }) => {
      if (kind.kind === NATIVE_POLICY.kind && JSON.stringify(object['spec']).includes('too new'))
        throw new GateError('GATE_CLUSTER_INVALID', 'undeclared reference');
    };
    bench.start('native');
    await bench.run(15_000);
    const next = desiredOf(['a', 'b']);
    const policies = next.policies.policies.map((one) =>
      one.policy.name === 'a'
        ? { ...one, object: { ...one.object, spec: { validations: [{ expression: "'too new'" }] } } }
        : one,
    );
    await bench.change({ ...next, policies: { ...next.policies, policies } });
    await bench.run(30_000);
    expect(await bench.entries()).toEqual([ENTRIES[0]]);
    expect(await bench.natives()).toEqual(['b', 'pacto-gate-canary']);
    expect(bench.problems.join()).toContain('native policy a is not in force');
    expect(bench.slipped).toEqual([]);
    // And it comes to rest.
    const writes = bench.outcomes.filter((outcome) => outcome.ok && outcome.result.written.length > 0).length;
    await bench.run(300_000);
    const later = bench.outcomes.filter((outcome) => outcome.ok && outcome.result.written.length > 0).length;
    expect(later).toBe(writes);
  });

  it('writes no native policy whose paramKind is not allowed, and enforces it by its entry', async () => {
    const bench = await onWebhooks();
    const { policies } = bench.desired;
    const problem = {
      kind: 'ValidatingAdmissionPolicy',
      name: 'a',
      source: { source: 'customResource' },
      cause: 'param-kind',
      message: 'its paramKind is not in policies.paramKinds',
    } as const;
    bench.desired = { ...bench.desired, policies: { ...policies, problems: [problem] } };
    bench.start('native');
    await bench.run(20_000);
    expect(await bench.natives()).toEqual(['b', 'pacto-gate-canary']);
    expect(await bench.entries()).toEqual([ENTRIES[0]]);
    expect(bench.slipped).toEqual([]);
  });

  it('removes a native policy whose source is gone, and nothing while that is not known', async () => {
    const bench = await onNative();
    bench.guarded = ['b'];
    bench.start('native');
    await bench.change(desiredOf(['b'], { incomplete: ['x'] }));
    await bench.run(10_000);
    expect(await bench.natives()).toContain('a');
    await bench.change(desiredOf(['b']));
    await bench.run(10_000);
    expect(await bench.natives()).toEqual(['b', 'pacto-gate-canary']);
    expect(bench.slipped).toEqual([]);
    await bench.change(desiredOf([]));
    expect(await bench.natives()).toEqual([]);
  });
});

describe('hand-over back to webhook entries', () => {
  it('writes the entries first, and removes the native policies when the API server is seen to call them', async () => {
    const bench = await onNative();
    bench.start('webhooks');
    await bench.run(4_000);
    expect(await bench.natives()).toContain('a');
    expect(await bench.entries()).toEqual(expect.arrayContaining(ENTRIES));
    await bench.run(10_000);
    expect(await bench.natives()).toEqual([]);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.slipped).toEqual([]);
  });

  it('keeps the native policies while the server does not answer', async () => {
    const bench = await onNative();
    bench.serverUp = false;
    bench.start('webhooks');
    await bench.run(30_000);
    expect(await bench.natives()).toContain('a');
    bench.serverUp = true;
    await bench.run(60_000);
    expect(await bench.natives()).toEqual([]);
    expect(await bench.entries()).toEqual(ENTRIES);
    expect(bench.slipped).toEqual([]);
  });

  it('keeps the native policies where there is no configuration to fill', async () => {
    const bench = await onNative();
    bench.pretended.cluster.unload(VALIDATING_WEBHOOK_CONFIGURATION, { name: CONFIGURATION });
    bench.start('webhooks');
    await bench.run(30_000);
    expect(await bench.natives()).toContain('a');
    expect(bench.slipped).toEqual([]);
  });
});

describe('an installer that dies between two writes', () => {
  const cases = [
    ['to native', onWebhooks, 'native', true],
    ['to native where it does not enforce', onWebhooks, 'native', false],
    ['back to webhooks', onNative, 'webhooks', true],
  ] as const;

  it.each(cases)(
    'leaves every request refused, and the next one goes on: %s',
    async (_what, from, to, enforces) => {
      for (let round = 0; ; round += 1) {
        const after = Math.floor(round / DELAYS.length);
        const bench = await from(['a', 'b'], DELAYS[round % DELAYS.length]);
        bench.enforcesNatively = enforces;
        let writes = 0;
        let died = false;
        bench.onWrite = () => {
          if (writes === after) {
            died = true;
            throw new GateError('GATE_CLUSTER_UNREACHABLE', 'gone');
          }
          writes += 1;
        };
        bench.start(to);
        await bench.run(20_000);
        await bench.end();
        bench.onWrite = () => undefined;
        bench.start(to);
        await bench.run(90_000);
        await bench.end();
        expect(bench.slipped, `after ${after} writes`).toEqual([]);
        const ends = to === 'webhooks' || !enforces ? ENTRIES : [];
        expect(await bench.entries(), `after ${after} writes`).toEqual(ends);
        expect((await bench.natives()).includes('a'), `after ${after} writes`).toBe(to === 'native');
        if (!died && round % DELAYS.length > 0) break;
      }
    },
  );
});
