/** Comparing what was recorded with what we say. */

export function differs(what: string, recorded: unknown, ours: unknown, why?: unknown): readonly string[] {
  const [left, right] = [JSON.stringify(recorded), JSON.stringify(ours)];
  if (left === right) return [];
  return [
    `${what}: recorded ${left}, ours ${right}${why === undefined ? '' : ` (${JSON.stringify(plain(why))})`}`,
  ];
}

/** Entries sorted by key; numbers as doubles, which the engine's JSON has them as. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || Object.prototype.toString.call(value) === '[object Number]') {
    return Number(value) + 0;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
