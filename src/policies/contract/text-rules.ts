/** What Go's library says of texts where JavaScript's says something else. */

/** `unicode.IsSpace`: `trim()` would also strip U+FEFF and keep U+0085 (contract.md §3.3.9). */
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Empty, or nothing but Unicode white space as Go knows it (contract.md §3.3.9). */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/** Exactly `YYYY-MM-DD` and a day that the calendar has (contract.md §3.3.9). */
export function isCanonicalDate(text: string): boolean {
  return utcDay(text) !== undefined;
}

/** The first instant of that day in UTC as milliseconds since 1970; undefined unless the date is canonical. */
export function utcDay(text: string): number | undefined {
  const parts = DATE.exec(text);
  if (parts === null) return undefined;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const date = new Date(0);
  // Not Date.UTC: that reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}
