/** cel-go's extension of strings: version 2, and version 0 up to 1.28 (cel.md §4). Positions are in code points. */
import { DYN, INT, STRING, listOf } from '../cel-type.ts';
import { allowText, printEffort } from '../effort.ts';
import type { CallFacts, Library, Overload } from '../library.ts';
import {
  STRING_TRAVERSAL,
  actualSize,
  codePointCount,
  hasSurrogates,
  stringCost,
  traversalCost,
  utf8Length,
} from '../sizes.ts';
import { typeNameOf } from '../type-name.ts';
import { CelError, Optional, type Value } from '../values.ts';
import { define, member, global, readingCost } from './declare.ts';
import { formatString } from './format-string.ts';
import { goText } from './go-value.ts';

/** Minor of the compatibility version that brought version 2. */
const VERSION_2 = 29;

type Int = number | bigint;

const LISTED = listOf(STRING);

function outOfRange(index: Int): CelError {
  return new CelError(`index out of range: ${String(index)}`);
}

/** Index of a code unit for that of a code point, which is within the text or right behind it. */
function unitIndex(text: string, index: number): number {
  if (!hasSurrogates(text)) return index;
  let at = 0;
  for (let i = 0; i < index; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Go goes from bytes to runes and back: a byte that is no UTF-8 becomes U+FFFD. */
function throughRunes(text: string): string {
  return text.toWellFormed();
}

function charAt(text: string, index: Int): Value {
  const length = codePointCount(text);
  if (index < 0 || index > length) return outOfRange(index);
  if (index === length) return '';
  return throughRunes(String.fromCodePoint(text.codePointAt(unitIndex(text, Number(index))) ?? 0));
}

function indexOf(text: string, part: string, offset: Int = 0): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePointCount(text)) return -1;
  return codePointIndex(text, text.indexOf(part, unitIndex(text, Number(offset))));
}

function lastIndexOf(text: string, part: string): Value {
  const length = codePointCount(text);
  if (part === '') return length;
  if (utf8Length(text) < utf8Length(part)) return -1;
  return lastIndexUpTo(text, part, length - 1);
}

function lastIndexUpTo(text: string, part: string, offset: Int): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePointCount(text)) return -1;
  return codePointIndex(text, text.lastIndexOf(part, unitIndex(text, Number(offset))));
}

function codePointIndex(text: string, index: number): number {
  return index < 0 ? -1 : codePointCount(text.slice(0, index));
}

/** Texts up to here are not searched for how long they will be. */
const SHORT_TEXT = 1024;

/** Go's `strings.Replace`: without a text to replace, the new one is put before each character and at the end. */
function replace(text: string, old: string, replacement: string, limit: Int = -1): string {
  if (replacement.length > old.length) {
    const most = limit < 0 ? Infinity : Number(limit);
    allowText(text.length + Math.min(occurrences(text, old), most) * (replacement.length - old.length));
  }
  if (limit < 0 || limit > text.length) {
    return old === '' ? surround(text, replacement, Infinity) : text.split(old).join(replacement);
  }
  if (old === '') return surround(text, replacement, Number(limit));
  let result = '';
  let start = 0;
  for (let left = Number(limit); left > 0; left--) {
    const found = text.indexOf(old, start);
    if (found < 0) break;
    result += text.slice(start, found) + replacement;
    start = found + old.length;
  }
  return result + text.slice(start);
}

/** How often a text is found in another; in texts that are short enough for anything, how often it may be at most. */
function occurrences(text: string, part: string): number {
  if (part === '') return text.length + 1;
  if (text.length < SHORT_TEXT) return text.length / part.length;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function surround(text: string, replacement: string, limit: number): string {
  let result = '';
  let left = limit;
  for (const character of text) result += (left-- > 0 ? replacement : '') + character;
  return left > 0 ? result + replacement : result;
}

/** Go's `strings.SplitN`: what is left when there are enough parts is the last of them. */
function split(text: string, separator: string, limit: Int = -1): Value {
  if (limit === 0) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  const count = Number(limit);
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

function substring(text: string, start: Int): Value {
  if (start < 0 || start > codePointCount(text)) return outOfRange(start);
  return throughRunes(text.slice(unitIndex(text, Number(start))));
}

function substringUpTo(text: string, start: Int, end: Int): Value {
  if (start > end) {
    return new CelError(`invalid substring range. start: ${String(start)}, end: ${String(end)}`);
  }
  const length = codePointCount(text);
  if (start < 0 || start > length) return outOfRange(start);
  if (end < 0 || end > length) return outOfRange(end);
  return throughRunes(text.slice(unitIndex(text, Number(start)), unitIndex(text, Number(end))));
}

function lowerAscii(text: string): string {
  return throughRunes(text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()));
}

function upperAscii(text: string): string {
  return throughRunes(text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase()));
}

/** Unicode's White_Space, as Go's `strings.TrimSpace` has it: with U+0085, without U+FEFF. */
const WHITE_SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.test(text.charAt(start))) start++;
  while (end > start && WHITE_SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** @param convert makes a string of an element that is none, or says why it cannot */
function joining(convert: (value: Value) => string | CelError) {
  return (list: readonly Value[], separator = ''): Value => {
    const texts: string[] = [];
    let length = list.length * separator.length;
    for (const value of list) {
      const text = typeof value === 'string' ? value : convert(value);
      if (text instanceof CelError) return text;
      texts.push(text);
      length += text.length;
    }
    allowText(length);
    return texts.join(separator);
  };
}

const join = joining((value) => new CelError(`join: invalid input: ${goText(value)}`));

/** Names of types in the texts of version 0, where they are not those of CEL. */
const NATIVE_NAMES: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': "'Timestamp'",
  'google.protobuf.Duration': "'Duration'",
  null_type: "'null_type'",
  double: 'Double',
  bytes: 'Bytes',
};

/** Version 0 converts to Go's own strings, and fails with the words of the value's conversion. */
const joinVersion0 = joining(nativeString);

function nativeString(value: Value): string | CelError {
  if (typeof value === 'string') return value;
  if (value instanceof Optional) {
    return value.value === undefined
      ? new CelError('optional.none() dereference')
      : nativeString(value.value);
  }
  const type = typeNameOf(value);
  switch (type) {
    case 'type':
      return new CelError(`type conversion not supported for 'type'`);
    case 'int':
    case 'uint':
      return new CelError(`unsupported type conversion from '${type}' to string`);
    case 'kubernetes.Quantity':
      return goText(value);
    default:
      return new CelError(`type conversion error from ${NATIVE_NAMES[type] ?? type} to 'string'`);
  }
}

function joinOverloads(
  impl: typeof join,
  gate: Partial<Pick<Overload, 'since' | 'until'>>,
): readonly Overload[] {
  return [
    { ...member('list_join', [LISTED], STRING, impl), ...gate },
    { ...member('list_join_string', [LISTED, STRING], STRING, impl), ...gate },
  ];
}

const QUOTE_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
  '\\': String.raw`\\`,
  '"': String.raw`\"`,
};

/** `strings.quote`: escapes what CEL has escapes for, and nothing else. */
function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what it is about
  const escaped = text.replaceAll(/[\u0007-\r"\\]/g, (character) => QUOTE_ESCAPES[character] ?? character);
  return `"${throughRunes(escaped)}"`;
}

/** Going over the receiver, and building what comes of it. */
function copyingCost({ args }: CallFacts): number {
  return Math.ceil(actualSize(args[0] ?? null) * 2 * STRING_TRAVERSAL);
}

function joiningCost({ result }: CallFacts): number {
  return Math.ceil(actualSize(result) * 2 * STRING_TRAVERSAL);
}

/** As that of the lists' functions of the same names. */
function searchingCost({ args }: CallFacts): number {
  return traversalCost(args[0] ?? null);
}

/** cel-go's own rule for overloads that it knows. */
function overloadCost(overload: string) {
  return ({ args, overloadId }: CallFacts) =>
    overloadId === overload ? stringCost(args[0] ?? null) : undefined;
}

export const strings: Library = {
  name: 'cel.lib.ext.strings',
  since: 0,
  functions: [
    define('charAt', undefined, [member('string_char_at_int', [STRING, INT], STRING, charAt)]),
    define('indexOf', searchingCost, [
      member('string_index_of_string', [STRING, STRING], INT, indexOf),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf),
    ]),
    define('lastIndexOf', searchingCost, [
      member('string_last_index_of_string', [STRING, STRING], INT, lastIndexOf),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexUpTo),
    ]),
    define('lowerAscii', readingCost, [member('string_lower_ascii', [STRING], STRING, lowerAscii)]),
    define('replace', copyingCost, [
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, replace),
      member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
    ]),
    define('split', copyingCost, [
      member('string_split_string', [STRING, STRING], LISTED, split),
      member('string_split_string_int', [STRING, STRING, INT], LISTED, split),
    ]),
    define('substring', readingCost, [
      member('string_substring_int', [STRING, INT], STRING, substring),
      member('string_substring_int_int', [STRING, INT, INT], STRING, substringUpTo),
    ]),
    define('trim', readingCost, [member('string_trim', [STRING], STRING, trim)]),
    define('upperAscii', readingCost, [member('string_upper_ascii', [STRING], STRING, upperAscii)]),
    define('join', joiningCost, [
      ...joinOverloads(joinVersion0, { until: VERSION_2 }),
      ...joinOverloads(join, { since: VERSION_2 }),
    ]),
    {
      ...define('format', overloadCost('string_format'), [
        { ...member('string_format', [STRING, listOf(DYN)], STRING, formatString), variadic: true },
      ]),
      effort: printEffort,
      since: VERSION_2,
    },
    {
      ...define('strings.quote', overloadCost('strings_quote'), [
        global('strings_quote', [STRING], STRING, quote),
      ]),
      since: VERSION_2,
    },
  ],
};
