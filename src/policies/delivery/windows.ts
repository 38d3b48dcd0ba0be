/**
 * When a Stage may move (delivery.md §2.5, §3.7 step 0): its freeze, and windows that recur by a schedule of five fields in
 * a time zone. Where clocks are put forward, a start in the hour that is left out is at the end of that hour; where they
 * are put back, it is at the first of the two.
 */
import { Cron } from 'croner';

import type { DecisionInput } from './decision.ts';
import type { StageSpec, StageWindow } from './stage.ts';

/** More of them cost a decision too much time: see `windowFault`. */
export const MAX_WINDOWS = 16;
const MAX_SCHEDULE = 128;
/** A longer one would hide the starts that fall into it from whoever reads the schedule. */
const MAX_DURATION_MS = 31 * 86_400_000;
/** Schedules are looked for until the year 3000: one that begins never again from here on begins never. */
const LATE_MS = Date.UTC(2990, 0);
/** How many edges are looked at for the next one that changes the answer; beyond, the last of them is said instead. */
const MAX_EDGES = 8;

/** Digits, names of days and months, and what puts them together; croner's own signs (`L`, `W`, `#`, `?`, `+`) are not cron's. */
const SCHEDULE = /^(?:[\d*,/-]|[a-z]{3})+(?: (?:[\d*,/-]|[a-z]{3})+){4}$/i;

export interface WindowState {
  /** Undefined while moves are allowed. */
  readonly frozen: DecisionInput['frozen'];
  /** When moves stop being allowed by a schedule, at the earliest; undefined: not by a schedule, or not at all. */
  readonly closesAtMs: number | undefined;
}

/**
 * Whether moves are allowed now: no freeze, no `Deny` window around now, and where there are `Allow` windows, one around
 * now. A schedule that cannot be read closes the gate where it denies, and opens nothing where it allows.
 *
 * @param nowMs wall clock.
 * @returns times at which the answer may be another, which it need not be.
 */
export function windowOf(spec: Pick<StageSpec, 'freeze' | 'windows'>, nowMs: number): WindowState {
  const { untilMs, reason } = spec.freeze;
  if (untilMs !== undefined && untilMs > nowMs) {
    return { frozen: { untilMs, reason }, closesAtMs: undefined };
  }
  if (spec.windows.length === 0) return { frozen: undefined, closesAtMs: undefined };
  const windows = new Windows(spec.windows);
  const closed = windows.closedAt(nowMs);
  const edgeMs = windows.nextEdge(nowMs);
  if (closed === undefined) return { frozen: undefined, closesAtMs: edgeMs };
  return { frozen: { untilMs: edgeMs, reason: closed }, closesAtMs: undefined };
}

/** Why a window cannot be what its author means, for the writer of a Stage; undefined where nothing is wrong. */
export function windowFault(window: StageWindow): string | undefined {
  const { schedule, timeZone, durationMs } = window;
  if (schedule.length > MAX_SCHEDULE || !SCHEDULE.test(schedule)) {
    return 'schedule is not five fields of cron: minute, hour, day of month, month, day of week';
  }
  if (!isTimeZone(timeZone)) return 'timeZone is no name of the IANA time zone database';
  if (!(durationMs > 0 && durationMs <= MAX_DURATION_MS))
    return 'duration is not between nothing and 31 days';
  return Starts.of(window) === undefined ? 'schedule cannot be read, or never begins' : undefined;
}

/** Windows beyond the sixteenth are not read: they close the gate. */
class Windows {
  readonly #denied: readonly (Starts | undefined)[];
  readonly #allowed: readonly (Starts | undefined)[];
  readonly #tooMany: boolean;

  constructor(windows: readonly StageWindow[]) {
    const read = windows.slice(0, MAX_WINDOWS);
    // What is neither `Allow` nor `Deny` cannot be read, and closes.
    this.#denied = read.filter(({ kind }) => kind !== 'Allow').map((window) => Starts.of(window));
    this.#allowed = read.filter(({ kind }) => kind === 'Allow').map((window) => Starts.of(window));
    this.#tooMany = windows.length > MAX_WINDOWS;
  }

  /** @returns why it is closed. */
  closedAt(ms: number): string | undefined {
    if (this.#tooMany) return `it has more than ${String(MAX_WINDOWS)} windows`;
    if (this.#denied.includes(undefined)) return 'the schedule of a Deny window cannot be read';
    if (this.#denied.some((starts) => starts?.endOf(ms) !== undefined)) return 'a Deny window is open';
    if (this.#allowed.length === 0) return undefined;
    const isOpen = this.#allowed.some((starts) => starts?.endOf(ms) !== undefined);
    return isOpen ? undefined : 'no Allow window is open';
  }

  /** The next time at which it is closed where it is open now, or the other way round; undefined where there is none. */
  nextEdge(nowMs: number): number | undefined {
    const isClosed = this.closedAt(nowMs) !== undefined;
    let edgeMs: number | undefined;
    for (let count = 0; count < MAX_EDGES; count += 1) {
      edgeMs = this.#edgeAfter(edgeMs ?? nowMs);
      if (edgeMs === undefined || (this.closedAt(edgeMs) !== undefined) !== isClosed) return edgeMs;
    }
    return edgeMs;
  }

  #edgeAfter(ms: number): number | undefined {
    const unreadable = this.#tooMany || this.#denied.includes(undefined);
    if (unreadable) return undefined;
    const edges = [...this.#denied, ...this.#allowed].flatMap(
      (starts) => starts?.endOf(ms) ?? starts?.after(ms) ?? [],
    );
    return edges.length === 0 ? undefined : Math.min(...edges);
  }
}

/** The starts of one window. */
class Starts {
  readonly #cron: Cron;
  readonly #durationMs: number;
  /** What was found: no start between the two. */
  readonly #known: { readonly fromMs: number; readonly nextMs: number | undefined }[] = [];

  private constructor(cron: Cron, durationMs: number) {
    this.#cron = cron;
    this.#durationMs = durationMs;
  }

  /** @returns undefined for a window that cannot be read. */
  static of({ schedule, timeZone, durationMs }: StageWindow): Starts | undefined {
    if (schedule.length > MAX_SCHEDULE || !SCHEDULE.test(schedule) || !isTimeZone(timeZone)) return undefined;
    if (!(durationMs > 0 && durationMs <= MAX_DURATION_MS)) return undefined;
    try {
      const cron = new Cron(schedule, { timezone: timeZone === '' ? 'UTC' : timeZone, mode: '5-part' });
      const starts = new Starts(cron, durationMs);
      // It fails for some schedules only when it looks, and the 30th of February never comes.
      return starts.after(LATE_MS) === undefined ? undefined : starts;
    } catch {
      // croner says what it cannot read by whatever error its parts make: all of it is a schedule that cannot be read.
      return undefined;
    }
  }

  /** The end of the window around a time, of the earliest where several overlap; undefined outside. */
  endOf(ms: number): number | undefined {
    const startMs = this.after(ms - this.#durationMs);
    return startMs !== undefined && startMs <= ms ? startMs + this.#durationMs : undefined;
  }

  after(ms: number): number | undefined {
    const known = this.#known.find(
      ({ fromMs, nextMs }) => fromMs <= ms && (nextMs === undefined || ms < nextMs),
    );
    if (known !== undefined) return known.nextMs;
    const nextMs = this.#cron.nextRun(new Date(ms))?.getTime();
    this.#known.push({ fromMs: ms, nextMs });
    return nextMs;
  }
}

function isTimeZone(name: string): boolean {
  if (name === '') return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // RangeError: it is how Intl says that it knows no such zone.
    return false;
  }
}
