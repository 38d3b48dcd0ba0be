/** Absences count only once they have lasted: the streaks, which live in `status.observationWindows` (operator.md §6). */
import type { ObservationWindow } from './api/pacto.ts';

export type WindowKind = ObservationWindow['kind'];

/** One pass: the streaks as they were, what was seen now, and what is left of them. */
export class Windows {
  readonly #nowMs: number;
  readonly #lengthMs: number;
  readonly #streaks: Map<string, ObservationWindow>;

  /**
   * @param previous as the status has them; one that cannot be read counts as not there
   * @param nowMs of the whole pass, wall clock
   */
  constructor(previous: readonly ObservationWindow[], nowMs: number, lengthMs: number) {
    this.#nowMs = nowMs;
    this.#lengthMs = lengthMs;
    const readable = previous.filter(
      ({ firstObservedNegativeAt }) => !Number.isNaN(Date.parse(firstObservedNegativeAt)),
    );
    this.#streaks = new Map(readable.map((window) => [windowKey(window.kind, window.subject), window]));
  }

  /** It is there: the streak ends. */
  positive(kind: WindowKind, subject: string): void {
    this.#streaks.delete(windowKey(kind, subject));
  }

  /** @returns whether it has been away for the whole window; never at the first look. */
  negative(kind: WindowKind, subject: string): boolean {
    const key = windowKey(kind, subject);
    const streak = this.#streaks.get(key);
    if (streak !== undefined) {
      const startMs = Date.parse(streak.firstObservedNegativeAt);
      // A start in the future is of a clock that was wrong: the streak starts now.
      if (startMs <= this.#nowMs) return this.#nowMs - startMs >= this.#lengthMs;
    }
    this.#streaks.set(key, { kind, subject, firstObservedNegativeAt: inSeconds(this.#nowMs) });
    return false;
  }

  /** Streaks of what is still declared, in a fixed order. */
  left(isDeclared: (kind: WindowKind, subject: string) => boolean): readonly ObservationWindow[] {
    return [...this.#streaks.values()]
      .filter(({ kind, subject }) => isDeclared(kind, subject))
      .sort((a, b) => compare(windowKey(a.kind, a.subject), windowKey(b.kind, b.subject)));
  }

  /** When the streak of a subject is long enough, wall clock; undefined where it is already, or there is none. */
  endsMs({ firstObservedNegativeAt }: ObservationWindow): number | undefined {
    const endMs = Date.parse(firstObservedNegativeAt) + this.#lengthMs;
    return endMs > this.#nowMs ? endMs : undefined;
  }
}

function windowKey(kind: string, subject: string): string {
  return `${kind}/${subject}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Times in a status have whole seconds, as upstream writes them. */
export function inSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
