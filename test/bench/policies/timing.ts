/** Times of short functions, in this process. */

export interface Sides {
  readonly ours: number;
  readonly theirs: number;
}

/** Repetitions between two looks at the clock: a look takes longer than what is measured. */
const BETWEEN_LOOKS = 16;

/** Microseconds of one run, on average over at least `milliseconds`; before that it runs for half as long unmeasured. */
export function microseconds(milliseconds: number, run: () => unknown): number {
  repeat(milliseconds / 2, run);
  const { runs, took } = repeat(milliseconds, run);
  return (took * 1000) / runs;
}

function repeat(milliseconds: number, run: () => unknown): { runs: number; took: number } {
  const start = performance.now();
  let runs = 0;
  let took = 0;
  while (took < milliseconds) {
    for (let n = 0; n < BETWEEN_LOOKS; n += 1) run();
    runs += BETWEEN_LOOKS;
    took = performance.now() - start;
  }
  return { runs, took };
}

/** @throws RangeError for no values */
export function geometricMean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('geometricMean: there are no values');
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/**
 * The round whose ratio is in the middle: on a machine with other work a round is slow as a whole, both sides of it.
 * @throws RangeError for no rounds
 */
export function middleRound(rounds: readonly Sides[]): Sides {
  const ascending = rounds.toSorted((a, b) => a.ours / a.theirs - b.ours / b.theirs);
  const middle = ascending[ascending.length >> 1];
  if (middle === undefined) throw new RangeError('middleRound: there are no rounds');
  return middle;
}
