/** When another look is due although nothing changes. */

export class Due {
  readonly #nowMs: number;
  readonly #intervalMs: number;
  #lookMs: number;
  #changeMs: number | undefined;

  constructor(nowMs: number, intervalMs: number) {
    this.#nowMs = nowMs;
    this.#intervalMs = intervalMs;
    this.#lookMs = nowMs + intervalMs;
  }

  /**
   * @param atMs wall clock; undefined or past: nothing is due.
   * @param by `watched`: whoever watches wakes then, so that no look is due for it.
   */
  at(atMs: number | undefined, by?: 'watched'): void {
    if (atMs === undefined || atMs <= this.#nowMs) return;
    this.#changeMs = Math.min(this.#changeMs ?? atMs, atMs);
    if (by === undefined) this.#lookMs = Math.min(this.#lookMs, atMs);
  }

  /** At most `checkIntervalSeconds` away. */
  get nextLookMs(): number {
    return Math.min(this.#lookMs, this.#nowMs + this.#intervalMs);
  }

  /** The earliest of all that were given. */
  get nextChangeMs(): number | undefined {
    return this.#changeMs;
  }
}
