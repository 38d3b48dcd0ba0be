/**
 * Verdicts for whoever asks: as the status has it, or computed now. Computing only reads; what is written is the leader's
 * business (design §5).
 */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import type { Pacto, PactoStatus } from './api/pacto.ts';
import { inSeconds, Windows } from './stabilization.ts';
import { keyText, type PactoKey } from './wake.ts';
import type { PassResult } from './pass.ts';

/** Looks that are taken at the same time for those who ask; others wait their turn. */
const RUNNING = 8;
/** Different Pactos that wait for a turn; the next one is turned away. */
const WAITING = 256;
/** A caller waits no longer, whatever a registry or a probe does. */
const DEADLINE_MS = 10_000;
/** Verdicts that are kept for callers who ask again; the oldest goes first. Some KiB each. */
const KEPT = 1_000;

export interface Verdict {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** All of a status, as `kubectl get` shows it. */
  readonly status: PactoStatus;
  /** RFC 3339, whole seconds; undefined for a Pacto that nobody has looked at yet. */
  readonly evaluatedAt: string | undefined;
  /** When it may change although nothing else does; undefined where only a change of something can. */
  readonly nextChange: string | undefined;
  readonly source: 'status' | 'computed';
}

export interface VerdictsOptions {
  /** Undefined: there is no such Pacto. */
  readonly read: (key: PactoKey) => Promise<Pacto | undefined>;
  readonly look: (pacto: Pacto, options: { signal: AbortSignal }) => Promise<PassResult>;
  /** Told of a verdict that differs from the status: the leader should look, too. Never rejects. */
  readonly onDifferent?: (pacto: Pacto, result: PassResult) => void;
  readonly clock: Clock;
  /** How long an absence must last, for when that of a status will have. */
  readonly stabilizationMs: number;
}

interface Kept {
  readonly verdict: Verdict;
  readonly resourceVersion: string;
  readonly atMs: number;
}

export class Verdicts {
  readonly #options: VerdictsOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<Verdict | undefined>>();
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: VerdictsOptions) {
    this.#options = options;
  }

  /** As the status says. @throws GateError as `read`. */
  async read(key: PactoKey): Promise<Verdict | undefined> {
    const pacto = await this.#options.read(key);
    if (pacto === undefined) return undefined;
    return this.#ofStatus(pacto);
  }

  /**
   * One that is no older than `maxAgeMs`: that of the status or of an earlier caller where it is young enough and the Pacto
   * is the same, else computed. Callers of the same Pacto share one look.
   * @throws GateError GATE_OVERLOADED, GATE_DEADLINE_EXCEEDED, and as `read`.
   */
  async fresh(key: PactoKey, maxAgeMs: number): Promise<Verdict | undefined> {
    const pacto = await this.#options.read(key);
    if (pacto === undefined) return undefined;
    const nowMs = this.#options.clock.now();
    const name = keyText(key);
    const kept = this.#kept.get(name);
    if (kept?.resourceVersion === pacto.resourceVersion && isWithin(nowMs, kept.atMs, maxAgeMs))
      return kept.verdict;
    const { lastReconciledAt, observedGeneration } = pacto.status;
    const writtenMs = lastReconciledAt === undefined ? Number.NaN : Date.parse(lastReconciledAt);
    if (observedGeneration === pacto.generation && isWithin(nowMs, writtenMs, maxAgeMs))
      return this.#ofStatus(pacto);
    return await this.#shared(name, key);
  }

  /** Of a status only its windows say when they end. */
  #ofStatus(pacto: Pacto): Verdict {
    const { clock, stabilizationMs } = this.#options;
    const windows = new Windows(pacto.status.observationWindows ?? [], clock.now(), stabilizationMs);
    const ends = windows.left(() => true).map((window) => windows.endsMs(window));
    const coming = ends.filter((endMs) => endMs !== undefined);
    const nextChangeMs = coming.length === 0 ? undefined : Math.min(...coming);
    return verdictOf(pacto, pacto.status, { source: 'status', nextChangeMs });
  }

  async #shared(name: string, key: PactoKey): Promise<Verdict | undefined> {
    const under = this.#asking.get(name);
    if (under !== undefined) return await under;
    if (this.#queue.length >= WAITING)
      throw new GateError('GATE_OVERLOADED', 'verdict: too many are being computed: ask again in a moment');
    const asking = this.#inTurn(() => this.#compute(name, key)).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return await asking;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#queue.push(resolve);
      await promise;
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** The Pacto is read again: it may have changed while its turn came. */
  async #compute(name: string, key: PactoKey): Promise<Verdict | undefined> {
    const { read, look, clock, onDifferent } = this.#options;
    const pacto = await read(key);
    if (pacto === undefined) return undefined;
    const limit = new AbortController();
    const timer = clock.setTimer(DEADLINE_MS, () => {
      limit.abort(
        new GateError(
          'GATE_DEADLINE_EXCEEDED',
          `verdict of ${quote(name)}: not computed within ${String(DEADLINE_MS / 1_000)} s: ask again`,
        ),
      );
    });
    try {
      const atMs = clock.now();
      const result = await look(pacto, { signal: limit.signal });
      const verdict = verdictOf(pacto, result.status, {
        source: 'computed',
        nextChangeMs: result.nextChangeMs,
      });
      this.#keep(name, { verdict, resourceVersion: pacto.resourceVersion, atMs });
      if (result.changed) onDifferent?.(pacto, result);
      return verdict;
    } finally {
      timer.cancel();
    }
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** A time in the future, of a clock that was wrong, is no proof of youth. */
function isWithin(nowMs: number, atMs: number, maxAgeMs: number): boolean {
  // Times in a status have whole seconds.
  return atMs <= nowMs + 1_000 && nowMs - atMs <= maxAgeMs;
}

function verdictOf(
  { namespace, name, generation }: Pacto,
  status: PactoStatus,
  { source, nextChangeMs }: { readonly source: Verdict['source']; readonly nextChangeMs: number | undefined },
): Verdict {
  return {
    namespace,
    name,
    generation,
    status,
    evaluatedAt: status.lastReconciledAt,
    nextChange: nextChangeMs === undefined ? undefined : inSeconds(nextChangeMs),
    source,
  };
}
