/** "Did you mean": the nearest of the names that there are. */

/** Every name of ours begins with one of these, which makes none of them near to a wrong one. */
const COMMON_START = /^(--|PACTO_GATE_)/;

/** ` (did you mean "x"?)`, or nothing where no name is near: one edit, or one for every four characters. */
export function suggest(wrong: string, names: readonly string[]): string {
  const text = coreOf(wrong);
  const near = names
    .map((name) => ({ name, distance: editDistance(text, coreOf(name)) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near !== undefined && near.distance <= Math.max(1, Math.floor(text.length / 4))
    ? ` (did you mean "${near.name}"?)`
    : '';
}

function coreOf(name: string): string {
  return name.replace(COMMON_START, '').toLowerCase();
}

/** Of two short names: insertions, deletions, replacements, and two neighbours that changed places. */
function editDistance(a: string, b: string): number {
  // A hostile name would cost its length times ours; nothing near a name of ours is that long.
  if (a.length > 100) return a.length;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitute, swap));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
