/** Texts as Go's strings package and the API server treat them. Lengths are bytes of UTF-8. */
import { utf8Length } from '../cel/sizes.ts';

// What unicode.IsSpace calls white space: U+0085 is, U+FEFF is not, other than for String.trim.
const SPACE = String.raw`[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING_SPACE = new RegExp(`^${SPACE}$`);

/** `strings.TrimSpace`. */
export function trimSpace(text: string): string {
  const start = LEADING.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && TRAILING_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * The first bytes of a text. A character that is cut through is one U+FFFD for each of its bytes that is left, as
 * Go's JSON writes it.
 */
export function cutBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit || utf8Length(text) <= limit) return text;
  let bytes = 0;
  let at = 0;
  for (const character of text) {
    const size = utf8Length(character);
    if (bytes + size > limit) break;
    bytes += size;
    at += character.length;
  }
  return text.slice(0, at) + '\ufffd'.repeat(limit - bytes);
}

/** `encoding/json.Marshal` of a string or of something flat: it escapes what could end a script in HTML. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
