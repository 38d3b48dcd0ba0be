/** How Go prints and reads doubles. Digits are exact: no rounding but the one that the format asks for, half to even. */

/** A finite double without its sign: 0.digits × 10^exponent. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/** Most fraction digits that a double can have. */
const MAX_FRACTION_DIGITS = 1074;

/** Go's `%g` turns scientific from this exponent on (1e+06), and below -4. */
const SCIENTIFIC_FROM = 6;

/** Go's `%g`: the shortest text that reads back to the same double. */
export function formatShortest(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const decimal = shortestDigits(Math.abs(value));
  const exponent = decimal.exponent - 1;
  if (exponent < -4 || exponent >= SCIENTIFIC_FROM) {
    return `${sign}${mantissa(decimal.digits)}e${exponent < 0 ? '-' : '+'}${twoDigits(Math.abs(exponent))}`;
  }
  return sign + plain(decimal);
}

/** Go's `strconv.FormatFloat(value, 'f', -1, 64)` of a finite double. */
export function formatPlain(value: number): string {
  return (value < 0 || Object.is(value, -0) ? '-' : '') + plain(shortestDigits(Math.abs(value)));
}

/** Go's `%.<precision>f` of a finite double without its sign. */
export function formatFixed(magnitude: number, precision: number): string {
  const useful = Math.min(precision, MAX_FRACTION_DIGITS);
  const scaled = scaledInteger(magnitude, useful)
    .toString()
    .padStart(useful + 1, '0');
  const whole = scaled.slice(0, scaled.length - useful);
  const fraction = scaled.slice(scaled.length - useful).padEnd(precision, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The shortest digits that read back to the same double, for a finite double without its sign. */
export function shortestDigits(magnitude: number): Decimal {
  if (magnitude === 0) return { digits: '0', exponent: 1 };
  const [digits = '', exponent = '0'] = magnitude.toExponential().split('e');
  return { digits: digits.replace('.', ''), exponent: Number(exponent) + 1 };
}

/** A finite double without its sign, rounded to as many significant digits as `count`. */
export function significantDigits(magnitude: number, count: number): Decimal {
  if (magnitude === 0) return { digits: '0'.repeat(count), exponent: 1 };
  let exponent = shortestDigits(magnitude).exponent;
  let digits = scaledInteger(magnitude, count - exponent).toString();
  // The shortest text may have been rounded up to the next power of ten.
  if (digits.length < count) digits = scaledInteger(magnitude, count - --exponent).toString();
  if (digits.length > count) {
    digits = digits.slice(0, count);
    exponent++;
  }
  return { digits, exponent };
}

/** magnitude × 10^scale, rounded half to even. */
function scaledInteger(magnitude: number, scale: number): bigint {
  const { mantissa: whole, exponent } = parts(magnitude);
  let numerator = whole;
  let denominator = 1n;
  if (scale >= 0) numerator *= 10n ** BigInt(scale);
  else denominator *= 10n ** BigInt(-scale);
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) return quotient + 1n;
  return quotient;
}

/** mantissa × 2^exponent, exactly. */
function parts(magnitude: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, magnitude);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  if (biased === 0) return { mantissa: fraction, exponent: -1074 };
  return { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

function plain({ digits, exponent }: Decimal): string {
  if (exponent <= 0) return `0.${'0'.repeat(-exponent)}${digits}`;
  if (exponent >= digits.length) return digits.padEnd(exponent, '0');
  return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

function mantissa(digits: string): string {
  return digits.length === 1 ? digits : `${digits[0] ?? ''}.${digits.slice(1)}`;
}

function twoDigits(value: number): string {
  return value.toString().padStart(2, '0');
}

const DECIMAL = /^[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?$/;
const HEXADECIMAL = /^([+-]?)0[xX](_?[\da-fA-F][\da-fA-F_]*)?(?:\.([\da-fA-F_]*))?[pP]([+-]?\d[\d_]*)$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;
/** Go's `strconv.ParseFloat(text, 64)`. @returns undefined where Go fails, also where the double would be infinite. */
export function parseFloat64(text: string): number | undefined {
  const infinite = INFINITE.exec(text);
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = DECIMAL.test(text) ? decimalValue(text) : hexadecimalValue(text);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function decimalValue(text: string): number | undefined {
  // An underscore stands between two digits.
  if (/(?<!\d)_|_(?!\d)/.test(text)) return undefined;
  return Number(text.replaceAll('_', ''));
}

function hexadecimalValue(text: string): number | undefined {
  const matched = HEXADECIMAL.exec(text);
  // The prefix counts as a digit before an underscore.
  if (!matched || /(?<![\da-fA-FxX])_|_(?![\da-fA-F])/.test(text)) return undefined;
  const [, sign, ...rest] = matched;
  const [whole = '', fraction = '', power = '0'] = rest.map((part: string | undefined) =>
    part?.replaceAll('_', ''),
  );
  if (whole === '' && fraction === '') return undefined;
  const magnitude = nearestDouble(whole, fraction, power);
  return sign === '-' ? -magnitude : magnitude;
}

/** whole.fraction (hexadecimal digits) × 2^power, rounded half to even. */
function nearestDouble(whole: string, fraction: string, power: string): number {
  const digits = BigInt(`0x${whole}${fraction}`);
  if (digits === 0n) return 0;
  const exponent = Number(power) - 4 * fraction.length;
  const bits = digits.toString(2).length;
  // The lowest bit that a double of this size can hold.
  const lowest = Math.max(bits + exponent - 53, -1074);
  const excess = lowest - exponent;
  if (excess <= 0) return bits + exponent > 1024 ? Infinity : Number(digits) * 2 ** exponent;
  if (excess > bits + 1) return 0;
  const step = 1n << BigInt(excess);
  const rest = (digits % step) * 2n;
  let kept = digits / step;
  if (rest > step || (rest === step && kept % 2n === 1n)) kept++;
  return bits + exponent > 1025 ? Infinity : Number(kept) * 2 ** lowest;
}
