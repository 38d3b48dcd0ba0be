/**
 * Texts as Go handles them: a Go string is bytes, and its libraries cut and quote bytes. Here such a string is a
 * *byte string*, one character per byte, which for ASCII is the text itself.
 *
 * A byte that belongs to no UTF-8 sequence is U+DC80 to U+DCFF in a CEL string (sizes.ts counts it as one).
 */

/** What Go writes for control characters that have a name. */
const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
};

/** What Go prints as it is: letters, marks, numbers, punctuation, symbols and the ASCII space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

const PLAIN = /^[ !#-[\]-~]*$/;

/** `strconv.Quote`, the verb `%q` of Go's error texts. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += quotedCharacter(character);
  return `${quoted}"`;
}

function quotedCharacter(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  const named = NAMED_ESCAPES[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if (code >= 0xd800 && code <= 0xdfff) return String.raw`\ufffd`;
  if (PRINTABLE.test(character)) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

// oxlint-disable-next-line no-control-regex -- what is not ASCII.
const NOT_ASCII = /[^\u0000-\u007f]/;

/** Text to byte string. */
export function bytesOfText(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  let bytes = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes += character;
    else if (code >= 0xdc80 && code <= 0xdcff) bytes += String.fromCharCode(code - 0xdc00);
    else bytes += encoded(code >= 0xd800 && code <= 0xdfff ? 0xfffd : code);
  }
  return bytes;
}

function encoded(code: number): string {
  const tail = (shift: number) => 0x80 | ((code >> shift) & 0x3f);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), tail(0));
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12), tail(6), tail(0));
  return String.fromCharCode(0xf0 | (code >> 18), tail(12), tail(6), tail(0));
}

/** Byte string to text. */
export function textOfBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    text += length === 0 ? loneByte(bytes.charCodeAt(at)) : decoded(bytes, at, length);
    at += Math.max(length, 1);
  }
  return text;
}

function loneByte(byte: number): string {
  return String.fromCharCode(0xdc00 + byte);
}

function decoded(bytes: string, at: number, length: number): string {
  const first = bytes.charCodeAt(at);
  if (length === 1) return String.fromCharCode(first);
  let code = first & (0x7f >> length);
  for (let i = 1; i < length; i++) code = (code << 6) | (bytes.charCodeAt(at + i) & 0x3f);
  return String.fromCodePoint(code);
}

/** Bytes of the UTF-8 sequence that begins here, 0 where none does. */
function sequenceLength(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > bytes.length) return 0;
  const second = bytes.charCodeAt(at + 1);
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let i = 2; i < length; i++) {
    const next = bytes.charCodeAt(at + i);
    if (next < 0x80 || next > 0xbf) return 0;
  }
  return length;
}
