/** Numbers that look random and come again with the same seed. */
export class Random {
  #state: number;

  /** @param seed 32 bits of it count */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** At least 0 and less than 1 (mulberry32: short, and good enough to choose by). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0, below the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws RangeError for an empty list */
  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('pick: there is nothing to choose from');
    return choices[this.below(choices.length)] as T;
  }
}
