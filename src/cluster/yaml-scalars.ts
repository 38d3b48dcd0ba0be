/** What a plain YAML scalar means to kubectl: the resolution of sigs.k8s.io/yaml's go-yaml v2, numbers as json.ts. */

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUES = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE']);
const FALSES = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE']);
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INTEGER = /^[-+]?(?:0[xX][\dA-Fa-f]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
/** Longer than any number that means something; BigInt would labour over more. */
const NUMBER_LENGTH = 400;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * @returns null, a boolean, a string, or a number: a safe integer or a fraction as number, an integer beyond 2^53 as
 *   bigint, beyond int64 as number, one written with `.` or exponent as a boxed Number; `-0` is the integer 0.
 *   Infinity and NaN come back as such, for the caller to refuse.
 */
export function plainScalar(text: string): unknown {
  if (NULLS.has(text)) return null;
  if (TRUES.has(text)) return true;
  if (FALSES.has(text)) return false;
  if (NOT_FINITE.test(text)) return Number.NaN;
  if (!/^[-+.\d]/.test(text) || text.length > NUMBER_LENGTH) return text;
  const digits = text.replaceAll('_', '');
  if (INTEGER.test(digits)) return integer(digits);
  return FLOAT.test(digits) ? double(digits, text) : text;
}

function integer(digits: string): number | bigint {
  const sign = digits.startsWith('-') ? -1n : 1n;
  const unsigned = digits.replace(/^[-+]/, '');
  // A leading zero alone makes it octal, as in file modes.
  const value = sign * BigInt(/^0[0-7]/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned);
  const asNumber = Number(value);
  if (Number.isSafeInteger(asNumber)) return asNumber;
  return value >= INT64_MIN && value <= INT64_MAX ? value : asNumber;
}

function double(digits: string, text: string): unknown {
  const value = Number(digits);
  // Go's parser refuses what a double cannot hold, and the text is kept.
  if (!Number.isFinite(value)) return text;
  return Number.isSafeInteger(value) ? Object(value) : value;
}
