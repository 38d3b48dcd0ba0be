/** Characters kept of a quoted value (style.md §4.9). */
const QUOTED_LENGTH = 120;

const HIDDEN = /[\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{DI}]/gu;

/**
 * Quotes a value that somebody else chose for use in a finding: control, direction-changing and zero-width characters
 * are escaped and it is cut at 120 characters, so that it can neither forge a log line nor reorder a terminal line.
 * The same as `quote` of src/errors.ts, which this room may not import (design §3).
 */
export function quote(value: string): string {
  const cut = value.length > QUOTED_LENGTH ? `${value.slice(0, QUOTED_LENGTH)}…` : value;
  return JSON.stringify(cut).replace(HIDDEN, inEscapes);
}

/** The same for a text that may be longer and has no quotes around it, as in sentences of the API server. */
export function inertText(value: string): string {
  return value.replace(/\p{Cc}/gu, inEscapes).replace(HIDDEN, inEscapes);
}

/** Beyond 16 bits, in two halves as JSON writes them. */
function inEscapes(mark: string): string {
  return mark
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
