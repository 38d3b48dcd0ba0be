import { describe, expect, it } from 'vitest';
import { NATIVE_POLICY, VALIDATING_WEBHOOK_CONFIGURATION } from '../../src/cluster/kinds.ts';
import type { AdmittedWrite } from '../../src/cluster/memory.ts';
import { GateError } from '../../src/errors.ts';
import type { Desired, Enforcement } from '../../src/install/desired.ts';
import { startInstaller, type RoundOutcome } from '../../src/install/installer.ts';
import type { Enforced } from '../../src/install/round.ts';
import type { ValidatingEntry } from '../../src/policies/entry.ts';
import { policyEntryName, policyPath } from '../../src/policies/vap/entry-name.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CONFIGURATION, desiredOf, entryFor, NAMESPACE, Pretended } from './support/pretended.ts';

/** How long an API server takes to act on what was written: what is written first may act last. */
const DELAYS = [
  { native: 1_000, webhook: 4_000 },
  { native: 4_000, webhook: 1_000 },
] as const;
const STEP_MS = 50;

class Bench {
  readonly clock = new FakeClock();
  readonly pretended: Pretended;
  enforcesNatively = true;
  serverUp = true;
  delaysMs: (typeof DELAYS)[number] = DELAYS[0];
  desired: Desired;
  outcomes: RoundOutcome[] = [];
  enforced: ReadonlyMap<string, Enforced> = new Map();
  onWrite: (write: AdmittedWrite) => void = () => undefined;
  /** Policies that must be refused at every moment from now on. */
  guarded: readonly string[] = [];
  slipped: string[] = [];
  #installer: ReturnType<typeof startInstaller> | undefined;

  constructor(policies: readonly string[], servesNative = true) {
    this.desired = desiredOf(policies);
    this.pretended = new Pretended({
      clock: this.clock,
      delaysMs: () => this.delaysMs,
      servesNative,
      enforcesNatively: () => this.enforcesNatively,
      onWrite: (write) => this.onWrite(write),
    });
  }

  start(enforcement: Enforcement): void {
    const { cluster } = this.pretended;
    this.#installer = startInstaller({
      cluster,
      clock: this.clock,
      leader: { leads: () => true, term: () => new AbortController().signal, stop: () => Promise.resolve() },
      enforcement,
      namespace: NAMESPACE,
      probe: (entry) => Promise.resolve(this.serverUp ? this.#unknownPath(entry) : 'nobody answers'),
      apiServers: () => Promise.resolve([{ name: 'the one', cluster }]),
      desired: () => Promise.resolve(this.desired),
      report: (_desired, enforced) => {
        this.enforced = enforced;
        return Promise.resolve();
      },
      onRound: (outcome) => this.outcomes.push(outcome),
    });
    this.#installer.wake();
  }

  /** The server knows the policies, and nothing else. */
  #unknownPath({ clientConfig }: ValidatingEntry): string | undefined {
    const known = this.desired.policies.policies.some(
      ({ policy }) => clientConfig.url?.endsWith(policyPath(policy.name)) === true,
    );
    return known ? undefined : 'it does not know this path';
  }

  async change(desired: Desired): Promise<void> {
    this.desired = desired;
    this.#installer?.wake();
    await this.run(1_000);
  }

  wake(): void {
    this.#installer?.wake();
  }

  async end(): Promise<void> {
    const stopped = this.#installer?.stop();
    await this.clock.advance(0);
    await stopped;
    this.#installer = undefined;
  }

  /** Turns the clock and looks at every step that what is guarded is refused. */
  async run(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      await this.clock.advance(STEP_MS);
      for (const policy of this.guarded)
        if (this.pretended.refusedBy(policy).length === 0)
          this.slipped.push(`${policy} at ${this.clock.monotonic()} ms`);
    }
  }

  get problems(): readonly string[] {
    const last = this.outcomes.at(-1);
    return last?.ok === true ? last.result.problems : [`failed: ${String(last?.error)}`];
  }

  async entries(): Promise<string[]> {
    const object = await this.pretended.cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, {
      name: CONFIGURATION,
    });
    return ((object?.['webhooks'] ?? []) as { name: string }[]).map(({ name }) => name);
  }

  async natives(): Promise<(string | undefined)[]> {
    const { items } = await this.pretended.cluster.list(NATIVE_POLICY);
    return items.map(({ metadata }) => metadata.name);
  }
}

const ENTRIES = ['a', 'b'].map((name) => policyEntryName(name));

async function onWebhooks(
  policies = ['a', 'b'],
  delays: (typeof DELAYS)[number] = DELAYS[1],
): Promise<Bench> {
  const bench = new Bench(policies);
  bench.delaysMs = delays;
  bench.start('webhooks');
  await bench.run(5_000);
  await bench.end();
  bench.guarded = policies;
  return bench;
}

async function onNative(policies = ['a', 'b'], delays: (typeof DELAYS)[number] = DELAYS[0]): Promise<Bench> {
  const bench = new Bench(policies);
  bench.delaysMs = delays;
  bench.start('native');
  await bench.run(15_000);
  await bench.end();
  expect(await bench.entries()).toEqual([]);
  bench.guarded = policies;
  return bench;
}

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
});

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
