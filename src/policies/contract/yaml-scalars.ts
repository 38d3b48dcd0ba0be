/**
 * What a plain text of YAML stands for: the words and numbers of YAML 1.2 with what yaml.v3 keeps of 1.1, such as
 * `0777` and `1_000` (contract.md §2.3 k). `yes` and `12:30:45` are texts.
 */
import { isTimestamp } from './yaml-timestamps.ts';

export interface Resolved {
  readonly tag: string;
  /** Of `!!timestamp` its text. Integers beyond 2^53 are bigint; a number under `!!float` is a double. */
  readonly value: null | boolean | number | bigint | string;
}

const WORDS: ReadonlyMap<string, Resolved> = new Map([
  ...entries(['true', 'True', 'TRUE'], '!!bool', true),
  ...entries(['false', 'False', 'FALSE'], '!!bool', false),
  ...entries(['', '~', 'null', 'Null', 'NULL'], '!!null', null),
  ...entries(['.nan', '.NaN', '.NAN'], '!!float', Number.NaN),
  ...entries(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], '!!float', Number.POSITIVE_INFINITY),
  ...entries(['-.inf', '-.Inf', '-.INF'], '!!float', Number.NEGATIVE_INFINITY),
]);

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** Binary digits of the largest integer: what is longer is none, whatever its base. */
const INTEGER_DIGITS = 64;

const STARTS_A_NUMBER = /^[-+0-9]/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** Here alone an underscore must stand between digits. */
const POINT_FLOAT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
/** The usual case, safe as a number. */
const SHORT_DECIMAL = /^[1-9][0-9]{0,14}$/;
const INTEGER = /^([-+]?)(?:0([xX])([0-9a-fA-F]+)|0([bB])([01]+)|0([oO]?)([0-7]+)|(0|[1-9][0-9]*))$/;

function entries(
  words: readonly string[],
  tag: string,
  value: Resolved['value'],
): readonly (readonly [string, Resolved])[] {
  return words.map((word) => [word, { tag, value }] as const);
}

/**
 * @param tag what is written before the text, in its short form (`!!int`): only a timestamp that is asked for, or nothing
 * asked for, is taken for one
 */
export function resolvePlain(text: string, tag = ''): Resolved {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text.startsWith('.')) {
    return (
      (POINT_FLOAT.test(text) ? float(text.replaceAll('_', '')) : undefined) ?? { tag: '!!str', value: text }
    );
  }
  if (!STARTS_A_NUMBER.test(text)) return { tag: '!!str', value: text };
  if ((tag === '' || tag === '!!timestamp') && isTimestamp(text)) return { tag: '!!timestamp', value: text };
  return number(text.replaceAll('_', '')) ?? { tag: '!!str', value: text };
}

function number(plain: string): Resolved | undefined {
  const integer = SHORT_DECIMAL.test(plain) ? Number(plain) : parseInteger(plain);
  if (integer !== undefined) return { tag: '!!int', value: integer };
  return FLOAT.test(plain) ? float(plain) : undefined;
}

/** Beyond the range of a double it is a text. */
function float(plain: string): Resolved | undefined {
  const value = Number(plain);
  return Number.isFinite(value) ? { tag: '!!float', value } : undefined;
}

/** From -2^63 to 2^64 - 1, the upper half only without a sign; undefined otherwise. */
function parseInteger(plain: string): number | bigint | undefined {
  const match = INTEGER.exec(plain);
  if (match === null) return undefined;
  const [, sign = '', , hexadecimal, , binary, , octal, decimal] = match;
  const [prefix, digits] =
    hexadecimal !== undefined
      ? ['0x', hexadecimal]
      : binary !== undefined
        ? ['0b', binary]
        : octal !== undefined
          ? ['0o', octal]
          : ['', decimal ?? ''];
  const significant = digits.replace(/^0+(?=.)/, '');
  if (significant.length > INTEGER_DIGITS) return undefined;
  const size = BigInt(`${prefix}${significant}`);
  const value = sign === '-' ? -size : size;
  if (value < INT64_MIN || value > (sign === '' ? UINT64_MAX : UINT64_MAX >> 1n)) return undefined;
  const narrow = Number(value);
  return Number.isSafeInteger(narrow) ? narrow : value;
}
