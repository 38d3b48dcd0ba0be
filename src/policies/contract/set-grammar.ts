/** `--set path=value` (contract.md §16.1): where it points, and what its text stands for. */
import { MAX_DEPTH } from './yaml-tokens.ts';
import { YamlProblem } from './yaml-nodes.ts';

export interface PathSegment {
  readonly name: string;
  /** Of a list that `name` holds. */
  readonly index?: number;
}

/** One index at the end; anything else in brackets is part of the name. */
const INDEXED = /^([^[]*)\[([-+]?[0-9]+)\]$/;
const INTEGER = /^[-+]?[0-9]+$/;
const DECIMAL =
  /^[-+]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const HEXADECIMAL =
  /^([-+]?)0[xX](_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)?(?:\.([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)?)?[pP]([-+]?[0-9]+)$/;
const INFINITE = /^([-+]?)inf(?:inity)?$/i;
const NOT_A_NUMBER = /^nan$/i;
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** Beyond 19 digits no integer of 64 bits goes; reading longer ones would only cost time. */
const INT64_DIGITS = 19;

/** @throws YamlProblem without an equals sign, or for too long a path */
export function parsePath(assignment: string): { path: readonly PathSegment[]; text: string } {
  const equals = assignment.indexOf('=');
  if (equals < 0) throw new YamlProblem('it must be of the form path=value');
  const names = assignment.slice(0, equals).split('.');
  if (names.length > MAX_DEPTH) {
    throw new YamlProblem(`its path is more than ${String(MAX_DEPTH)} levels deep`);
  }
  return { path: names.map(segment), text: assignment.slice(equals + 1) };
}

function segment(written: string): PathSegment {
  const match = INDEXED.exec(written);
  return match === null ? { name: written } : { name: match[1] ?? '', index: Number(match[2]) };
}

/** The first that fits: integer of 64 bits, float, boolean, text. A double comes boxed (design decision 2). */
export function inferred(text: string): number | bigint | boolean | string {
  const integer = int64(text);
  if (integer !== undefined) return integer;
  const double = float64(text);
  if (double !== undefined) return Object(double) as number;
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : text;
}

function int64(text: string): number | bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const digits = text.replace(/^[-+]?0*(?=[0-9])/, '');
  if (digits.length > INT64_DIGITS) return undefined;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  if (value < INT64_MIN || value > INT64_MAX) return undefined;
  const narrow = Number(value);
  return Number.isSafeInteger(narrow) ? narrow : value;
}

/** As Go's ParseFloat: out of range is no float. */
function float64(text: string): number | undefined {
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : hexadecimal(text);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function hexadecimal(text: string): number | undefined {
  const match = HEXADECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`.replaceAll('_', '');
  if (digits === '') return undefined;
  const places = fraction.replaceAll('_', '').length;
  const value = Number(`0x${digits}`) * 2 ** (Number(exponent) - 4 * places);
  return sign === '-' ? -value : value;
}
