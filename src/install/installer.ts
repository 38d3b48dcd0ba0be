/**
 * The loop of the installer: woken by changes, one round at a time while it leads, and again by itself where something
 * waits, failed, or was undone by somebody else (webhook-operations.md R10).
 */
import type { Clock, Timer } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { GateError } from '../errors.ts';
import type { ApiServer } from './canary.ts';
import type { Desired, Enforcement } from './desired.ts';
import type { ServerProbe } from './fill.ts';
import { writesOfLeader, type Leader } from '../cluster/leader.ts';
import { PROOF_RETRY_MS, runRound, type Enforced, type Proved, type RoundResult } from './round.ts';

export interface InstallerOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly leader: Leader;
  readonly enforcement: Enforcement;
  readonly namespace: string;
  readonly probe: ServerProbe;
  readonly apiServers: () => Promise<readonly ApiServer[]>;
  /** @returns undefined while it is not known, as before the first reading of the sources. */
  readonly desired: (signal: AbortSignal) => Promise<Desired | undefined>;
  /** After each round: writes what it came to into the status of the policies. */
  readonly report: (
    desired: Desired,
    enforced: ReadonlyMap<string, Enforced>,
    cluster: Pick<Cluster, 'get' | 'replaceStatus'>,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly onRound: (outcome: RoundOutcome) => void;
}

export type RoundOutcome =
  | { readonly ok: true; readonly result: RoundResult; readonly contested: boolean }
  | { readonly ok: false; readonly error: unknown; readonly retryMs: number };

export interface Installer {
  /** Something has changed. Returns at once. */
  wake(): void;
  /** Whether nothing runs and nothing waits but the slow check. */
  readonly idle: boolean;
  stop(): Promise<void>;
}

/** Everything is looked at again after this long, whatever was missed (a slow check, never the ordinary way). */
const CHECK_MS = 600_000;
const FAILED_LEAST_MS = 1_000;
const FAILED_MOST_MS = 60_000;
const WAITING_LEAST_MS = 1_000;
const WAITING_MOST_MS = 30_000;
/** Writes of the same that were undone since: from the third on there is a fight, and we give way longer and longer. */
const FIGHT_AFTER = 3;
const FIGHT_LEAST_MS = 5_000;
const FIGHT_MOST_MS = 600_000;

export function startInstaller(options: InstallerOptions): Installer {
  return new InstallerLoop(options);
}

class InstallerLoop implements Installer {
  readonly #options: InstallerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #woken = false;
  #timer: Timer | undefined;
  #proved: Proved | undefined;
  #failures = 0;
  #waits = 0;
  /** Writes in a row of what had been written before. */
  #fights = 0;
  /** What was last written, by what was written. */
  readonly #last = new Map<string, string>();
  /** Monotonic: not before that, whoever wakes. */
  #notBeforeMs = 0;

  constructor(options: InstallerOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#woken = true;
    this.#begin();
  }

  get idle(): boolean {
    return this.#running === undefined && !this.#woken && this.#waits === 0 && this.#failures === 0;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the installer stops'));
    this.#timer?.cancel();
    await this.#running;
  }

  #begin(): void {
    if (this.#running !== undefined || this.#stopping.signal.aborted || !this.#woken) return;
    const { clock, leader } = this.#options;
    // Whoever leads later is woken then.
    if (!leader.leads()) return;
    const waitMs = this.#notBeforeMs - clock.monotonic();
    if (waitMs > 0) {
      this.#again(waitMs);
      return;
    }
    this.#woken = false;
    this.#running = this.#round().finally(() => {
      this.#running = undefined;
      this.#begin();
    });
  }

  #again(afterMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(afterMs, () => {
      this.#timer = undefined;
      this.wake();
    });
  }

  /** Never rejects. */
  async #round(): Promise<void> {
    const { clock, leader, onRound } = this.#options;
    const term = leader.term();
    if (term === undefined) return;
    const signal = AbortSignal.any([this.#stopping.signal, term]);
    try {
      const result = await this.#work(signal);
      this.#failures = 0;
      if (result === undefined) {
        this.#again(WAITING_LEAST_MS);
        return;
      }
      const contested = this.#isContested(result);
      this.#waits = result.unfinished ? this.#waits + 1 : 0;
      const waitMs = contested
        ? backoff(FIGHT_LEAST_MS, this.#fights - FIGHT_AFTER, FIGHT_MOST_MS)
        : result.unfinished
          ? backoff(WAITING_LEAST_MS, this.#waits - 1, WAITING_MOST_MS)
          : CHECK_MS;
      if (contested) this.#notBeforeMs = clock.monotonic() + waitMs;
      onRound({ ok: true, result, contested });
      this.#again(result.proved?.failed === undefined ? waitMs : Math.min(waitMs, PROOF_RETRY_MS));
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      const isConflict = error instanceof GateError && error.code === 'GATE_CLUSTER_CONFLICT';
      const retryMs = backoff(
        FAILED_LEAST_MS,
        this.#failures - 1,
        isConflict ? 4 * FAILED_LEAST_MS : FAILED_MOST_MS,
      );
      onRound({ ok: false, error, retryMs });
      this.#notBeforeMs = clock.monotonic() + retryMs;
      this.#again(retryMs);
    }
  }

  async #work(signal: AbortSignal): Promise<RoundResult | undefined> {
    const { cluster, leader, report } = this.#options;
    const desired = await this.#options.desired(signal);
    if (desired === undefined) return undefined;
    const writes = writesOfLeader(cluster, () => leader.leads());
    const { clock, enforcement, namespace, probe, apiServers } = this.#options;
    const guarded = {
      ...writes,
      get: (...given: Parameters<Cluster['get']>) => cluster.get(...given),
      list: (...given: Parameters<Cluster['list']>) => cluster.list(...given),
    };
    const result = await runRound(desired, this.#proved, {
      cluster: guarded,
      clock,
      enforcement,
      namespace,
      probe,
      apiServers,
      signal,
    });
    this.#proved = result.proved;
    this.#remember(result);
    await report(desired, result.enforced, guarded, signal);
    return result;
  }

  /** Whether a round wrote what an earlier one had written already: somebody undid it meanwhile. */
  #remember({ written }: RoundResult): void {
    if (written.length === 0) return;
    const isUndone = written.some(({ what, content }) => content !== '' && this.#last.get(what) === content);
    this.#fights = isUndone ? this.#fights + 1 : 0;
    for (const { what, content } of written) this.#last.set(what, content);
  }

  #isContested({ written }: RoundResult): boolean {
    return written.length > 0 && this.#fights >= FIGHT_AFTER;
  }
}

function backoff(leastMs: number, times: number, mostMs: number): number {
  return Math.min(mostMs, leastMs * 2 ** Math.min(Math.max(times, 0), 20));
}
