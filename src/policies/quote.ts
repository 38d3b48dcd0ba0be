/** Characters kept of a quoted value (style.md §4.9). */
const QUOTED_LENGTH = 120;

/**
 * Quotes a value that somebody else chose for use in a finding: control, direction-changing and zero-width characters
 * are escaped and it is cut at 120 characters, so that it can neither forge a log line nor reorder a terminal line.
 * The same as `quote` of src/errors.ts, which this room may not import (design §3).
 */
export function quote(value: string): string {
  const cut = value.length > QUOTED_LENGTH ? `${value.slice(0, QUOTED_LENGTH)}…` : value;
  return JSON.stringify(cut).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
