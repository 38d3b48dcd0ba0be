/** What the text of a literal token stands for. */
import type { Literal } from './ast.ts';
import type { TokenKind } from './lexer.ts';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** A literal, or what is wrong with it in cel-go's words. */
export type LiteralReading = { readonly literal: Literal } | { readonly error: string };

/**
 * @param text of the token, a number with its sign.
 * @returns undefined for a token that is no literal.
 */
export function readLiteral(kind: TokenKind, text: string): LiteralReading | undefined {
  switch (kind) {
    case 'NUM_INT':
      return readInt(text);
    case 'NUM_UINT':
      return readUint(text);
    case 'NUM_FLOAT':
      return readDouble(text);
    case 'STRING':
      return readString(text);
    case 'BYTES':
      return readBytes(text);
    case 'true':
    case 'false':
      return { literal: { type: 'bool', value: kind === 'true' } };
    case 'null':
      return { literal: { type: 'null' } };
    default:
      return undefined;
  }
}

/** @param text with its sign. */
function readInt(text: string): LiteralReading {
  const value = readInteger(text);
  if (value < MIN_INT || value > MAX_INT) return { error: 'invalid int literal' };
  return { literal: { type: 'int', value } };
}

/** @param text with its `u`. */
function readUint(text: string): LiteralReading {
  const value = readInteger(text.slice(0, -1));
  if (value > MAX_UINT) return { error: 'invalid uint literal' };
  return { literal: { type: 'uint', value } };
}

function readInteger(text: string): bigint {
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text);
}

/** @param text with its sign. */
function readDouble(text: string): LiteralReading {
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: 'invalid double literal' };
  return { literal: { type: 'double', value } };
}

/** @param text with prefix and quotes. */
function readString(text: string): LiteralReading {
  const body = unquote(text);
  if (body.raw || !body.text.includes('\\')) return { literal: { type: 'string', value: body.text } };
  let value = '';
  for (const part of unescape(body.text)) {
    if (typeof part === 'string') {
      value += part;
      continue;
    }
    if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code <= 0xdfff))
      return { error: 'invalid unicode code point' };
    value += String.fromCodePoint(part.code);
  }
  return { literal: { type: 'string', value } };
}

/** @param text with `b`, other prefixes and quotes. */
function readBytes(text: string): LiteralReading {
  const body = unquote(text.slice(1));
  const encoder = new TextEncoder();
  if (body.raw || !body.text.includes('\\'))
    return { literal: { type: 'bytes', value: encoder.encode(body.text) } };
  const bytes: number[] = [];
  for (const part of unescape(body.text)) {
    if (typeof part === 'string') bytes.push(...encoder.encode(part));
    else if (part.unicode) return { error: 'unable to unescape string' };
    else bytes.push(part.code);
  }
  return { literal: { type: 'bytes', value: Uint8Array.from(bytes) } };
}

/** Line ends become line feeds in every string, raw or not. */
function unquote(text: string): { text: string; raw: boolean } {
  const normal = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  const raw = normal.startsWith('r') || normal.startsWith('R');
  const start = raw ? 1 : 0;
  const quote = normal.charAt(start);
  const quotes = normal.length >= start + 6 && normal.startsWith(quote.repeat(3), start) ? 3 : 1;
  return { text: normal.slice(start + quotes, normal.length - quotes), raw };
}

const NAMED: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** A code by number. `unicode`: written with `\u` or `\U`, which bytes may not use. */
interface CodePart {
  readonly code: number;
  readonly unicode: boolean;
}

/** The lexer has seen to it that every sequence is well formed. */
function* unescape(text: string): Generator<string | CodePart> {
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    if (at > from) yield text.slice(from, at);
    const letter = text.charAt(at + 1);
    const digits = { x: 2, X: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const end = at + 2 + digits;
      yield { code: Number.parseInt(text.slice(at + 2, end), 16), unicode: digits > 2 };
      from = end;
    } else if (letter >= '0' && letter <= '3') {
      yield { code: Number.parseInt(text.slice(at + 1, at + 4), 8), unicode: false };
      from = at + 4;
    } else {
      yield NAMED[letter] ?? letter;
      from = at + 2;
    }
  }
  if (from < text.length) yield text.slice(from);
}
