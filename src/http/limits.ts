/**
 * How much one process takes on at once: decisions by count, bodies by bytes, both with a bounded queue
 * (webhook-operations.md R7).
 *
 * The rule between large and small bodies: the last 8 MiB of the room are kept for bodies of at most 64 KiB. Small
 * ones use the rest too while no large one waits; as soon as one does, they stay within what is kept for them, so that
 * the room beyond it empties and the large one at the head gets its turn. Neither can starve the other, and within
 * its size each body is first come, first served.
 */
import { GateError } from '../errors.ts';

/** Ten reviews of the largest size at once, with their parsed form, fit a pod of 512 MiB. */
const MAX_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const SMALL_SHARE_BYTES = 8 * 1024 * 1024;
/** Nearly every review is smaller: the corpus of webhook-operations.md §5.4 has 4 and 16 KiB as its ordinary ones. */
export const SMALL_BODY_BYTES = 64 * 1024;
/**
 * Decisions wait for live reads of a few milliseconds; more at once only adds to what those reads wait for.
 */
const MAX_CONCURRENT = 256;
/** At 1,000 decisions a second this many wait for one second: more would only reach their deadline in the queue. */
const MAX_QUEUED = 1_000;

export interface LimitOptions {
  readonly maxConcurrent?: number;
  readonly maxBytesInFlight?: number;
  /** Waiting for bytes and for a turn together. */
  readonly maxQueued?: number;
  /** Of `maxBytesInFlight`, kept for bodies of at most 64 KiB. */
  readonly smallShareBytes?: number;
}

interface LimitStats {
  readonly running: number;
  readonly bytesInFlight: number;
  readonly queued: number;
  /** Turned away since the start. */
  readonly refused: number;
}

/** What one request holds. */
export interface Slot {
  /**
   * Takes room for bytes that were not declared, at once or not at all: a body that waits half-read for room that
   * other half-read bodies hold would wait for ever.
   * @throws GateError GATE_OVERLOADED.
   */
  grow(bytes: number): void;
  /** Gives room back down to `bytes`; does nothing where no more is held. */
  shrink(bytes: number): void;
  /**
   * Waits for a turn to decide. Separate from the bytes, so that a caller who sends slowly holds room but no turn.
   * @throws GateError GATE_OVERLOADED when the queue is full, or the signal's reason when it aborts first.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Takes a turn where one is free and nobody waits for it. */
  tryStart(): boolean;
  /** Gives everything back; a second call does nothing. */
  leave(): void;
}

export interface Limits {
  /**
   * Waits for room for `bytes` of body.
   * @throws GateError GATE_OVERLOADED at once when the queue is full, or the signal's reason when it aborts first.
   */
  enter(bytes: number, signal?: AbortSignal): Promise<Slot>;
  /** Takes room where it is free and nobody waits for it; undefined otherwise. The ordinary case, without a promise. */
  tryEnter(bytes: number): Slot | undefined;
  stats(): LimitStats;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** @throws GateError GATE_CONFIG_INVALID where the numbers leave no room for anything. */
export function createLimits(options: LimitOptions = {}): Limits {
  return new ProcessLimits({
    maxConcurrent: options.maxConcurrent ?? MAX_CONCURRENT,
    maxBytesInFlight: options.maxBytesInFlight ?? MAX_BYTES_IN_FLIGHT,
    maxQueued: options.maxQueued ?? MAX_QUEUED,
    smallShareBytes: options.smallShareBytes ?? SMALL_SHARE_BYTES,
  });
}

class ProcessLimits implements Limits {
  readonly #options: Required<LimitOptions>;
  readonly #small = new Set<Waiting>();
  readonly #large = new Set<Waiting>();
  readonly #turns = new Set<Waiting>();
  #smallBytes = 0;
  #largeBytes = 0;
  #running = 0;
  #refused = 0;

  constructor(options: Required<LimitOptions>) {
    if (options.maxConcurrent < 1 || options.maxBytesInFlight <= options.smallShareBytes) {
      throw new GateError(
        'GATE_CONFIG_INVALID',
        `limits: ${String(options.maxConcurrent)} at once and ${String(options.maxBytesInFlight)} bytes in flight: need at least 1, and more than the ${String(options.smallShareBytes)} bytes kept for small bodies`,
      );
    }
    this.#options = options;
  }

  async enter(bytes: number, signal?: AbortSignal): Promise<Slot> {
    signal?.throwIfAborted();
    if (bytes > this.#options.maxBytesInFlight - this.#options.smallShareBytes) {
      throw this.#refuse(`a body of ${String(bytes)} bytes has no room`);
    }
    const free = this.tryEnter(bytes);
    if (free !== undefined) return free;
    await this.#wait(this.#laneOf(bytes), bytes, signal);
    return this.#slot(bytes);
  }

  tryEnter(bytes: number): Slot | undefined {
    if (this.#laneOf(bytes).size > 0 || !this.#fits(bytes)) return undefined;
    this.#take(bytes);
    return this.#slot(bytes);
  }

  stats(): LimitStats {
    return {
      running: this.#running,
      bytesInFlight: this.#smallBytes + this.#largeBytes,
      queued: this.#queued,
      refused: this.#refused,
    };
  }

  get #queued(): number {
    return this.#small.size + this.#large.size + this.#turns.size;
  }

  #laneOf(bytes: number): Set<Waiting> {
    return bytes > SMALL_BODY_BYTES ? this.#large : this.#small;
  }

  #slot(entered: number): Slot {
    let bytes = entered;
    let started = false;
    let left = false;
    const tryStart = (): boolean => {
      if (started || left) return true;
      if (this.#running >= this.#options.maxConcurrent) return false;
      this.#running++;
      started = true;
      return true;
    };
    return {
      tryStart,
      grow: (more) => {
        if (left || more <= 0) return;
        // Counted anew as a whole: on its way it may have become a large one.
        this.#give(bytes);
        if (!this.#fits(bytes + more)) {
          this.#take(bytes);
          throw this.#refuse(`a body of more than ${String(bytes)} bytes has no room`);
        }
        bytes += more;
        this.#take(bytes);
      },
      shrink: (to) => {
        if (left || to >= bytes) return;
        this.#give(bytes);
        bytes = to;
        this.#take(bytes);
        this.#admitBytes();
      },
      start: async (signal) => {
        signal?.throwIfAborted();
        if (tryStart()) return;
        await this.#wait(this.#turns, 0, signal);
        // Left while it waited: the turn goes to the next one.
        if (left) this.#endTurn();
        else started = true;
      },
      leave: () => {
        if (left) return;
        left = true;
        this.#give(bytes);
        if (started) this.#endTurn();
        this.#admitBytes();
      },
    };
  }

  #wait(lane: Set<Waiting>, bytes: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#queued >= this.#options.maxQueued) {
      throw this.#refuse(`${String(this.#queued)} requests wait already`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      lane.delete(waiting);
      reject(signal?.reason as Error);
      // What waited behind it may fit.
      this.#admitBytes();
    };
    const waiting: Waiting = {
      bytes,
      admit: () => {
        lane.delete(waiting);
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
    };
    lane.add(waiting);
    signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }

  #refuse(what: string): GateError {
    this.#refused++;
    return new GateError('GATE_OVERLOADED', `pacto-gate is overloaded: ${what}: send again in a second`);
  }

  #fits(bytes: number): boolean {
    const { maxBytesInFlight, smallShareBytes } = this.#options;
    if (bytes > SMALL_BODY_BYTES) {
      return this.#largeBytes + Math.max(this.#smallBytes, smallShareBytes) + bytes <= maxBytesInFlight;
    }
    if (this.#smallBytes + this.#largeBytes + bytes > maxBytesInFlight) return false;
    return this.#large.size === 0 || this.#smallBytes + bytes <= smallShareBytes;
  }

  #take(bytes: number): void {
    if (bytes > SMALL_BODY_BYTES) this.#largeBytes += bytes;
    else this.#smallBytes += bytes;
  }

  #give(bytes: number): void {
    if (bytes > SMALL_BODY_BYTES) this.#largeBytes -= bytes;
    else this.#smallBytes -= bytes;
  }

  #admitBytes(): void {
    // Large ones first: while one of them waits, small ones keep to their share.
    for (const lane of [this.#large, this.#small]) {
      for (const waiting of lane) {
        if (!this.#fits(waiting.bytes)) break;
        this.#take(waiting.bytes);
        waiting.admit();
      }
    }
  }

  #endTurn(): void {
    const [next] = this.#turns;
    // The turn goes over to the next one, so the count stays.
    if (next === undefined) this.#running--;
    else next.admit();
  }
}
