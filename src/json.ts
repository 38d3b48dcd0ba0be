/**
 * JSON as the API server reads it. `JSON.parse` alone falsifies what a rule must tell apart: `1` from `1.0`,
 * integers beyond 2^53, `-0`, and half a surrogate pair (design decision 2).
 *
 * What a number token becomes:
 *
 * | token                                                | value                            |
 * |------------------------------------------------------|----------------------------------|
 * | integer, safe                                        | number                           |
 * | integer beyond 2^53, within int64                    | bigint                           |
 * | integer beyond int64                                 | number (the nearest double)      |
 * | with `.` or exponent, value is a safe integer        | boxed `Number`: a double         |
 * | with `.` or exponent, otherwise                      | number (never a safe integer)    |
 * | `-0`                                                 | see `negativeZero`               |
 * | out of the range of a double                         | refused                          |
 *
 * So a plain number is an integer exactly when `Number.isSafeInteger` says so.
 */
import { isAscii, isUtf8 } from 'node:buffer';

/** Nesting that is read at most: far above any Kubernetes object, far below any stack (design decision 2). */
const DEFAULT_MAX_DEPTH = 512;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** Characters of `-9223372036854775808`: a longer integer token is beyond int64, as JSON has no leading zeros. */
const INT64_TOKEN_LENGTH = 20;
/** Digits of 2^53: a shorter integer token, sign included, is always safe. */
const UNSAFE_INTEGER_LENGTH = 16;

/**
 * Point and fifteen digits: a double tells all decimals of so many digits apart (IEEE 754), so one with a fraction is
 * never read as the whole number beside it. `JSON.parse` makes of it what is wanted.
 */
const FRACTION_LENGTH = 16;

export type JsonFault = 'empty' | 'utf8' | 'syntax' | 'depth' | 'values' | 'number';

const FAULT_TEXT: Readonly<Record<JsonFault, string>> = {
  empty: 'there is nothing to read',
  utf8: 'it is not UTF-8',
  syntax: 'it is not JSON',
  depth: 'it is nested too deeply',
  values: 'it holds too many values',
  number: 'a number is out of the range of a double',
};

/** The message tells the kind of fault and where it is, and never repeats what was read. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly kind: JsonFault;
  /** Byte offset of the fault, from 0. */
  readonly offset: number;

  constructor(kind: JsonFault, offset: number) {
    super(`${FAULT_TEXT[kind]} (byte ${String(offset)})`);
    this.kind = kind;
    this.offset = offset;
  }
}

export interface ReadJsonOptions {
  /** Arrays and objects inside each other at most. Default 512; the exact reader recurses, so keep it below 5,000. */
  readonly maxDepth?: number;
  /**
   * Opening brackets and commas at most: what reading costs goes by them, and not by bytes. One value more or less
   * for each. Default: any number.
   */
  readonly maxValues?: number;
  /**
   * Different names of members at most, in all objects together: each costs as much as five values. Counted by their
   * hashes, so that it may come out a few in a hundred too small. Default: any number.
   */
  readonly maxNames?: number;
  /**
   * What the token `-0` is. `double` (default): in an AdmissionReview, where the API server writes the double -0.0
   * so. `int`: in files and recorded inputs, where the API server would read the integer 0.
   */
  readonly negativeZero?: 'double' | 'int';
}

/**
 * Reads one JSON text. The last of duplicate keys wins, half a surrogate pair in an escape becomes U+FFFD, and every
 * key is plain data, `__proto__` too: read foreign objects with `Object.hasOwn` and never merge them.
 *
 * @throws JsonError
 */
export function readJson(bytes: Uint8Array, options: ReadJsonOptions = {}): unknown {
  const maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) throw new JsonError('empty', 0);
  if (!isUtf8(buffer)) throw new JsonError('utf8', firstBrokenByte(buffer));
  const exact = needsExactReading(buffer, {
    maxDepth,
    maxValues: options.maxValues ?? Infinity,
    maxNames: options.maxNames ?? Infinity,
  });
  // For ASCII both decoders agree, and this one is six times as fast.
  const text = isAscii(buffer) ? buffer.toString('latin1') : buffer.toString('utf8');
  if (!exact) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // The parser's own message repeats the text it failed on, which may be secret: the exact reader says where.
    }
  }
  return new ExactReader(text, maxDepth, options.negativeZero ?? 'double').read();
}

/** Offset of the first byte that no valid encoding of the text before it goes on with. */
function firstBrokenByte(buffer: Buffer): number {
  // Decoding puts U+FFFD for what is broken, so the first difference after encoding again is the broken place.
  const again = Buffer.from(buffer.toString('utf8'), 'utf8');
  let at = 0;
  while (at < buffer.length && buffer[at] === again[at]) at++;
  return at;
}

/**
 * Whether `JSON.parse` might falsify something in this text: a number with an exponent or with a fraction that may be
 * none, an integer that may be unsafe, `-0`, or a `\ud…` escape, which may be half a pair (rare, for Go writes such
 * characters as UTF-8). Of a text that is not JSON it says anything: then the parser decides.
 *
 * It goes on to the end even when it knows: nesting and values are counted before any of them is made.
 *
 * @throws JsonError depth, values
 */
function needsExactReading(buffer: Buffer, bounds: Bounds): boolean {
  const scan: Scan = {
    at: 0,
    depth: 0,
    values: 0,
    names: 0,
    // A name takes four bytes at least, so a short text need not be counted.
    seen: buffer.length / 4 <= bounds.maxNames ? undefined : new Uint32Array(NAME_BITS / 32),
    exact: false,
    start: 0,
    inString: false,
    backslash: -1,
    long: LONG_STRING_BYTES,
  };
  while (scanShort(buffer, scan, bounds)) scanLong(buffer, scan);
  return scan.exact;
}

interface Bounds {
  readonly maxDepth: number;
  readonly maxValues: number;
  readonly maxNames: number;
}

/** Of the table of names that were seen: 128 KiB, and with 64 Ki names one in thirty is taken for another. */
const NAME_BITS = 2 ** 20;

/** Where the scan is: it goes back and forth between two loops. */
interface Scan {
  at: number;
  depth: number;
  /** Opening brackets and commas so far. */
  values: number;
  /** Different names so far, and a bit for the hash of each; undefined where they are not counted. */
  names: number;
  readonly seen: Uint32Array | undefined;
  /** Whether something was found that `JSON.parse` might falsify. */
  exact: boolean;
  /** Where the last string began, its quote not included. */
  start: number;
  /** Inside a string, past its opening quote. */
  inString: boolean;
  /** The next backslash at or after `at`, as far as it is known; the length of the text where there is none. */
  backslash: number;
  /** Bytes of one string after which it counts as long; grows where the search did not pay. */
  long: number;
}

/** Bytes of one string after which it counts as long: beyond, the engine's own search is worth its call. */
const LONG_STRING_BYTES = 256;

/**
 * One pass over the bytes, a quarter of the time of `JSON.parse`. It calls nothing on the way: a call in this loop
 * makes the engine load the buffer's address and length again for every byte, which doubles the time.
 *
 * @returns true in the middle of a long string, false at the end.
 * @throws JsonError depth, values
 */
// oxlint-disable-next-line eslint/complexity, eslint/max-lines-per-function -- one loop without calls, see above
function scanShort(buffer: Uint8Array, scan: Scan, { maxDepth, maxValues, maxNames }: Bounds): boolean {
  const length = buffer.length;
  const { long, seen } = scan;
  let { at, depth, values, names, exact, start, inString } = scan;
  while (at < length) {
    let byte = inString ? 0x22 : (buffer[at++] as number);
    if (byte === 0x22) {
      if (!inString) start = at;
      inString = true;
      const stop = at + long < length ? at + long : length;
      while (at < stop) {
        byte = buffer[at++] as number;
        if (byte === 0x22) {
          inString = false;
          break;
        }
        if (byte !== 0x5c) continue;
        if (buffer[at] === 0x75 && ((buffer[at + 1] as number) | 0x20) === 0x64) exact = true;
        at++;
      }
      if (inString && at < length) {
        scan.at = at;
        scan.depth = depth;
        scan.values = values;
        scan.names = names;
        scan.start = start;
        scan.exact = exact;
        scan.inString = true;
        return true;
      }
    } else if (byte === 0x2c) {
      if (++values > maxValues) throw new JsonError('values', at - 1);
    } else if ((byte | 0x20) === 0x7b) {
      // `{` or `[`
      if (++depth > maxDepth) throw new JsonError('depth', at - 1);
      if (++values > maxValues) throw new JsonError('values', at - 1);
    } else if ((byte | 0x20) === 0x7d) {
      depth--;
    } else if (byte === 0x3a && seen !== undefined) {
      // FNV-1a over what is between the quote and the colon, its bits mixed.
      let hash = 0x811c9dc5;
      for (let index = start; index < at; index++)
        hash = Math.imul(hash ^ (buffer[index] as number), 0x01000193);
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 12;
      const bit = 1 << (hash & 31);
      if (((seen[hash >>> 5] as number) & bit) === 0) {
        seen[hash >>> 5] = (seen[hash >>> 5] as number) | bit;
        if (++names > maxNames) throw new JsonError('values', at - 1);
      }
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const first = at - 1;
      while (at < length) {
        byte = buffer[at] as number;
        if (byte < 0x30 || byte > 0x39) break;
        at++;
      }
      if (at - first >= UNSAFE_INTEGER_LENGTH) exact = true;
      if (byte === 0x2e) {
        let zeros = 0x30;
        while (++at < length) {
          byte = buffer[at] as number;
          if (byte < 0x30 || byte > 0x39) break;
          zeros |= byte;
        }
        // Of no digit but 0 it is a whole number, and a longer one may be rounded to one.
        if (zeros === 0x30 || at - first > FRACTION_LENGTH) exact = true;
      }
      // `e` or `E`
      if ((byte | 0x20) === 0x65) exact = true;
      if (buffer[first] === 0x2d && buffer[first + 1] === 0x30) exact = true;
    }
  }
  scan.exact = exact;
  return false;
}

/**
 * Goes on inside a long string, from quote to quote and from backslash to backslash. Where backslashes are dense, as
 * in JSON kept as text, it gives back to the other loop, still inside the string.
 */
function scanLong(buffer: Buffer, scan: Scan): void {
  const length = buffer.length;
  for (;;) {
    if (scan.backslash < scan.at) scan.backslash = indexOrLength(buffer, 0x5c, scan.at);
    const quote = indexOrLength(buffer, 0x22, scan.at);
    if (quote < scan.backslash || quote === length) {
      scan.at = Math.min(quote + 1, length);
      scan.inString = false;
      return;
    }
    const { backslash } = scan;
    if (buffer[backslash + 1] === 0x75 && ((buffer[backslash + 2] as number) | 0x20) === 0x64)
      scan.exact = true;
    const dense = backslash - scan.at < LONG_STRING_BYTES;
    scan.at = Math.min(backslash + 2, length);
    if (dense) {
      scan.long = Math.min(scan.long * 4, 64 * 1024);
      return;
    }
  }
}

function indexOrLength(buffer: Buffer, byte: number, from: number): number {
  const at = buffer.indexOf(byte, from);
  return at === -1 ? buffer.length : at;
}

/** Reads the text itself, token by token, where `JSON.parse` cannot be trusted with it. */
class ExactReader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #negativeZero: 'double' | 'int';
  readonly #number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
  #at = 0;

  constructor(text: string, maxDepth: number, negativeZero: 'double' | 'int') {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#negativeZero = negativeZero;
  }

  read(): unknown {
    const value = this.#value(1);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault('syntax');
    return value;
  }

  #fault(kind: JsonFault, at = this.#at): JsonError {
    return new JsonError(kind, Buffer.byteLength(this.#text.slice(0, at)));
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  /** Takes `character` if it is what comes next after space. */
  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #value(depth: number): unknown {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#numeric();
    }
  }

  #word(word: string, value: boolean | null): boolean | null {
    if (!this.#text.startsWith(word, this.#at)) throw this.#fault('syntax');
    this.#at += word.length;
    return value;
  }

  #object(depth: number): unknown {
    if (depth > this.#maxDepth) throw this.#fault('depth');
    this.#at++;
    const object: Record<string, unknown> = {};
    if (this.#take('}')) return object;
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#fault('syntax');
      const key = this.#string();
      if (!this.#take(':')) throw this.#fault('syntax');
      const value = this.#value(depth + 1);
      if (key === '__proto__') {
        // Assigning would set the prototype.
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[key] = value;
      }
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#fault('syntax');
    return object;
  }

  #array(depth: number): unknown {
    if (depth > this.#maxDepth) throw this.#fault('depth');
    this.#at++;
    const array: unknown[] = [];
    if (this.#take(']')) return array;
    do {
      array.push(this.#value(depth + 1));
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#fault('syntax');
    return array;
  }

  #string(): string {
    const start = this.#at;
    let at = start + 1;
    let escaped = false;
    for (;;) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) break;
      // NaN is the end of the text.
      if (Number.isNaN(code) || code < 0x20) throw this.#fault('syntax', at);
      if (code === 0x5c) {
        escaped = true;
        at++;
      }
      at++;
    }
    this.#at = at + 1;
    if (!escaped) return this.#text.slice(start + 1, at);
    try {
      return (JSON.parse(this.#text.slice(start, at + 1)) as string).toWellFormed();
    } catch {
      throw this.#fault('syntax', start);
    }
  }

  #numeric(): number | bigint {
    this.#number.lastIndex = this.#at;
    const match = this.#number.exec(this.#text);
    if (match === null) throw this.#fault('syntax');
    const token = match[0];
    const value = Number(token);
    if (!Number.isFinite(value)) throw this.#fault('number');
    this.#at += token.length;
    // An object, typed as the number that it acts as.
    const boxed = (): number => Object(value) as number;
    if (match[1] !== undefined || match[2] !== undefined) {
      return Number.isSafeInteger(value) ? boxed() : value;
    }
    if (token === '-0') return this.#negativeZero === 'double' ? boxed() : 0;
    if (Number.isSafeInteger(value) || token.length > INT64_TOKEN_LENGTH) return value;
    const integer = BigInt(token);
    return integer >= INT64_MIN && integer <= INT64_MAX ? integer : value;
  }
}

/** Whether this is a double that is a whole number, as `readJson` boxes it. */
export function isBoxedDouble(value: unknown): boolean {
  // oxlint-disable-next-line unicorn/no-instanceof-builtins -- the box is made here, in this realm
  return typeof value === 'object' && value instanceof Number;
}

/**
 * Writes a value as `readJson` made it, so that reading it again gives the same value: a bigint as its digits, a
 * double that is a whole number (boxed, or a plain number that is not a safe integer) with `.0`. What JSON has no
 * word for is left out of objects and written `null` in arrays, as `JSON.stringify` does.
 *
 * @param indent spaces for each level; 0 (default) writes everything in one line.
 * @throws TypeError for a number that JSON cannot hold (NaN, infinity).
 */
export function stringifyJson(value: unknown, indent = 0): string {
  return write(value, indent, '') ?? 'null';
}

function write(value: unknown, indent: number, margin: string): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'bigint':
      return String(value);
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : writeDouble(value);
    case 'object':
      break;
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
  }
  if (value === null) return 'null';
  if (isBoxedDouble(value)) return writeDouble(Number(value));
  const inner = margin + ' '.repeat(indent);
  if (Array.isArray(value)) {
    return wrap(
      '[]',
      value.map((item: unknown) => write(item, indent, inner) ?? 'null'),
      indent,
      margin,
    );
  }
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    const text = write(member, indent, inner);
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${text}`);
  }
  return wrap('{}', members, indent, margin);
}

function wrap(brackets: '[]' | '{}', items: readonly string[], indent: number, margin: string): string {
  const open = brackets.charAt(0);
  const close = brackets.charAt(1);
  if (items.length === 0 || indent === 0) return `${open}${items.join(',')}${close}`;
  const separator = `\n${margin}${' '.repeat(indent)}`;
  return `${open}${separator}${items.join(`,${separator}`)}\n${margin}${close}`;
}

function writeDouble(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('JSON has no word for a number that is not finite');
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
