/** Which of the names that there are a wrong one was probably meant to be. */

/** Nothing near to a name of ours is longer, and a hostile one would cost its length times ours. */
const MAX_LENGTH = 40;

/** Letters of a name for each slip that is forgiven; one always is. */
const LETTERS_PER_SLIP = 4;

/** Whatever the case of its letters; undefined where none is near. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  if (wrong.length > MAX_LENGTH) return undefined;
  const text = wrong.toLowerCase();
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(text.length / LETTERS_PER_SLIP)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - text.length) >= fewest) continue;
    const count = slips(text, name.toLowerCase());
    if (count < fewest) [best, fewest] = [name, count];
  }
  return best;
}

/** Letters put in, left out, or replaced, and neighbours that changed places. */
function slips(wrong: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, at) => at)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= wrong.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (wrong[i - 1] === right[j - 1] ? 0 : 1);
      const isSwap = wrong[i - 1] === right[j - 2] && wrong[i - 2] === right[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(wrong.length, right.length);
}
