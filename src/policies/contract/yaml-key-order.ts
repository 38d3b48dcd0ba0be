/** The order in which yaml.v3 writes the keys of a mapping: numbers inside them by their size, `a2` before `a10`. */

const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
const LEADING_DIGITS = /^\p{Nd}*/u;

export function compareKeys(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  const shared = Math.min(a.length, b.length);
  let at = 0;
  while (at < shared && a[at] === b[at]) at += 1;
  if (at === shared) return a.length - b.length;
  return compareFrom(a, b, at);
}

/** @param at the first place where they differ */
function compareFrom(a: readonly string[], b: readonly string[], at: number): number {
  const x = a[at] ?? '';
  const y = b[at] ?? '';
  const xIsLetter = LETTER.test(x);
  const yIsLetter = LETTER.test(y);
  const byCode = (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
  if (xIsLetter && yIsLetter) return byCode;
  if (xIsLetter || yIsLetter) {
    // After a digit a letter ends the number and comes first; elsewhere letters come last.
    const afterDigit = at > 0 && DIGIT.test(a[at - 1] ?? '');
    return xIsLetter === afterDigit ? -1 : 1;
  }
  const prefix = (x === '0' || y === '0') && followsANumber(a, at) ? '1' : '';
  const p = digitsFrom(a, at);
  const q = digitsFrom(b, at);
  const bySize = Number(`${prefix}${p}`) - Number(`${prefix}${q}`);
  if (bySize !== 0) return bySize;
  return p.length === q.length ? byCode : p.length - q.length;
}

/** Whether the digits just before hold one that is not zero: zeros then count. */
function followsANumber(a: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0 && DIGIT.test(a[before] ?? ''); before -= 1) {
    if (a[before] !== '0') return true;
  }
  return false;
}

function digitsFrom(a: readonly string[], at: number): string {
  return LEADING_DIGITS.exec(a.slice(at).join(''))?.[0] ?? '';
}
