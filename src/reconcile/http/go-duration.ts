/** Durations as Go writes them, as far as callers need them: `10s`, `1m30s`, `250ms`, `0`. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** @returns milliseconds; undefined for what is none. */
export function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)){1,4}$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    sum += Number(number) * (UNITS[unit] ?? 0);
  return sum;
}
