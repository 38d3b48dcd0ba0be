/** Texts of others as a status may hold them. */

/**
 * @returns the text, or its beginning and `…`. Never half a character: the API server would store another one for it, and the
 * status would differ from what was written for ever.
 */
export function shortText(text: string, length: number): string {
  return (text.length > length ? `${text.slice(0, length)}…` : text).toWellFormed();
}
