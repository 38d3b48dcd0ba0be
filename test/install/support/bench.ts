/** The loop of the installer on a pretended API server, with a clock that is turned by hand. */
import { NATIVE_POLICY, VALIDATING_WEBHOOK_CONFIGURATION } from '../../../src/cluster/kinds.ts';
import type { AdmittedWrite } from '../../../src/cluster/memory.ts';
import type { ApiServer } from '../../../src/install/canary.ts';
import type { Desired, Enforcement } from '../../../src/install/desired.ts';
import { startInstaller, type RoundOutcome } from '../../../src/install/installer.ts';
import type { Enforced } from '../../../src/install/round.ts';
import type { ValidatingEntry } from '../../../src/policies/entry.ts';
import { policyEntryName, policyPath } from '../../../src/policies/vap/entry-name.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { CONFIGURATION, desiredOf, NAMESPACE, Pretended } from './pretended.ts';

/** How long an API server takes to act on what was written: what is written first may act last. */
export const DELAYS = [
  { native: 1_000, webhook: 4_000 },
  { native: 4_000, webhook: 1_000 },
] as const;
const STEP_MS = 50;

export class Bench {
  readonly clock = new FakeClock();
  readonly pretended: Pretended;
  /** Aborted, somebody else leads; whoever makes another leads again, and wakes the loop. */
  term = new AbortController();
  enforcesNatively = true;
  knows: (policy: string) => boolean = () => true;
  serverUp = true;
  delaysMs: (typeof DELAYS)[number] = DELAYS[0];
  /** Left out: the one. */
  apiServers?: () => Promise<readonly ApiServer[]>;
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
      leader: {
        leads: () => !this.term.signal.aborted,
        isHeld: () => true,
        term: () => (this.term.signal.aborted ? undefined : this.term.signal),
        stop: () => Promise.resolve(),
      },
      enforcement,
      namespace: NAMESPACE,
      probe: (entry) => Promise.resolve(this.serverUp ? this.#unknownPath(entry) : 'nobody answers'),
      apiServers: () => this.apiServers?.() ?? Promise.resolve([{ name: 'the one', cluster }]),
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
      ({ policy: { name } }) => this.knows(name) && clientConfig.url?.endsWith(policyPath(name)) === true,
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

export const ENTRIES = ['a', 'b'].map((name) => policyEntryName(name));

export async function onWebhooks(
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

export async function onNative(
  policies = ['a', 'b'],
  delays: (typeof DELAYS)[number] = DELAYS[0],
): Promise<Bench> {
  const bench = new Bench(policies);
  bench.delaysMs = delays;
  bench.start('native');
  await bench.run(15_000);
  await bench.end();
  if ((await bench.entries()).length > 0) throw new Error('the entries are still there');
  bench.guarded = policies;
  return bench;
}
