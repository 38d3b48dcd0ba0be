/**
 * `resource.Quantity` of Kubernetes' apimachinery (0.36.3): numbers with the suffixes of Kubernetes. It keeps a number
 * as an int64 and a power of ten while that is enough and as a decimal of any length beyond; which one it is can be
 * seen (`isInteger`), and a decimal is shared by the quantities that were copied from each other, so that adding to
 * one changes the others (cel.md trap 22).
 */

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Digits of an int64 that are always safe. */
const INT64_DIGITS = 18;
/** The same with a binary suffix, whose powers count three digits each: Kubernetes is more careful there. */
const BINARY_DIGITS = 14;
/** Finest power of ten. */
const NANO = -9;

/**
 * Zeros that a decimal may be extended by. Go knows no limit and would fill its memory (`1e2147483647` plus one);
 * no quantity of a cluster comes near.
 */
const MAX_ZEROS = 10_000;

type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export class QuantityFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const FORMAT_FAULT =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_FAULT = 'unable to parse numeric part of quantity';
const SUFFIX_FAULT = "unable to parse quantity's suffix";

/** A decimal of any length, changed in place: `unscaled / 10^scale`. */
class Decimal {
  unscaled: bigint;
  scale: number;

  constructor(unscaled: bigint, scale: number) {
    this.unscaled = unscaled;
    this.scale = scale;
  }
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: Format;
}

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);

const SMALLEST_INT64 = -(2n ** 63n);

/** By the power of 1024, from one. */
const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function readSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL_SUFFIXES.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary >= 0) return { base: 2, exponent: 10 * (binary + 1), format: 'BinarySI' };
  const [, sign, digits] = /^[eE]([+-]?)0*([0-9]{1,19})$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const exponent = BigInt(digits) * (sign === '-' ? -1n : 1n);
  if (!isInt64(exponent)) return undefined;
  return { base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' };
}

function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX;
}

/** The parts of a quantity's text. */
interface Scanned {
  readonly isNegative: boolean;
  readonly hasDigits: boolean;
  /** Without leading zeros. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

/** Where the run of these characters that begins at `at` ends. Linear, as a regular expression here would not be. */
function skip(text: string, at: number, characters: string): number {
  let end = at;
  while (end < text.length && characters.includes(text.charAt(end))) end++;
  return end;
}

const DIGITS = '0123456789';

/** No digits are a zero, but for suffixes that no int64 takes (parseLong). */
function scan(text: string): Scanned | undefined {
  const start = text.startsWith('-') || text.startsWith('+') ? 1 : 0;
  const wholeAt = skip(text, start, '0');
  const wholeEnd = skip(text, wholeAt, DIGITS);
  const whole = text.slice(wholeAt, wholeEnd);
  const fractionAt = text.charAt(wholeEnd) === '.' ? wholeEnd + 1 : wholeEnd;
  const suffixAt = fractionAt === wholeEnd ? wholeEnd : skip(text, fractionAt, DIGITS);
  const lettersEnd = skip(text, suffixAt, 'eEinumkKMGTP');
  const sign = text.charAt(lettersEnd);
  if (skip(text, lettersEnd + (sign === '-' || sign === '+' ? 1 : 0), DIGITS) < text.length) return undefined;
  return {
    isNegative: text.startsWith('-'),
    hasDigits: wholeEnd > start || suffixAt > fractionAt,
    whole: whole === '' ? '0' : whole,
    fraction: text.slice(fractionAt, suffixAt),
    suffix: text.slice(suffixAt),
  };
}

/** `resource.ParseQuantity`. */
export function parseQuantity(text: string): ResourceQuantity | QuantityFault {
  if (text === '') return new QuantityFault(FORMAT_FAULT);
  if (text === '0') return new ResourceQuantity('DecimalSI', 0n, 0, undefined, text);
  const scanned = scan(text);
  if (scanned === undefined) return new QuantityFault(FORMAT_FAULT);
  const suffix = readSuffix(scanned.suffix);
  if (suffix === undefined) return new QuantityFault(SUFFIX_FAULT);
  return parseSmall(text, scanned, suffix) ?? parseLong(scanned, suffix);
}

/** Whether the digits are few enough for an int64, and from where on its power of ten counts. */
function parseSmall(text: string, scanned: Scanned, suffix: Suffix): ResourceQuantity | undefined {
  const { isNegative, whole, fraction } = scanned;
  const { exponent, format } = suffix;
  const isBinary = format === 'BinarySI';
  if (isBinary && fraction !== '') return undefined;
  const digits = isBinary
    ? BINARY_DIGITS - whole.length - Math.trunc((exponent * 3) / 10)
    : INT64_DIGITS - whole.length - fraction.length;
  const scale = isBinary ? 0 : (exponent - fraction.length) | 0;
  if (digits < 0 || scale < NANO) return undefined;
  const shifted = whole + fraction;
  const written = BigInt(shifted);
  const value = isBinary ? written << BigInt(exponent) : written;
  if (value > INT64_MAX) return undefined;
  // The text stays as it was written where that is canonical, by the rules of Kubernetes.
  const isCanonical = isBinary
    ? (written & 7n) !== 0n
    : scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
  return new ResourceQuantity(format, isNegative ? -value : value, scale, undefined, isCanonical ? text : '');
}

/** Rounded up (away from zero) to whole nanos, and capped at the largest int64 if binary. */
function parseLong(scanned: Scanned, suffix: Suffix): ResourceQuantity | QuantityFault {
  if (!scanned.hasDigits) return new QuantityFault(NUMERIC_FAULT);
  let amount = BigInt(scanned.whole + scanned.fraction);
  let scale = scanned.fraction.length;
  let { format } = suffix;
  if (suffix.base === 10) scale = (scale - suffix.exponent) | 0;
  else amount <<= BigInt(suffix.exponent);
  if (amount !== 0n) {
    const nanos = roundUp(amount, scale, -NANO);
    if (nanos === undefined) return new QuantityFault(NUMERIC_FAULT);
    amount = nanos;
    scale = -NANO;
  }
  if (format === 'BinarySI') {
    const one = 10n ** BigInt(-NANO);
    if (amount > INT64_MAX * one) {
      amount = INT64_MAX;
      scale = 0;
    } else if (amount > 0n && amount < one) format = 'DecimalSI';
  }
  const decimal = new Decimal(scanned.isNegative ? -amount : amount, scale);
  return new ResourceQuantity(format, 0n, 0, decimal, '');
}

/** The number `unscaled / 10^from` at another scale, rounded away from zero; undefined: too long (MAX_ZEROS). */
function roundUp(unscaled: bigint, from: number, to: number): bigint | undefined {
  if (to >= from) return extended(unscaled, to - from);
  const sign = unscaled < 0n ? -1n : 1n;
  const digits = (unscaled * sign).toString().length;
  // Less than one in the last place.
  if (from - to > digits) return unscaled === 0n ? 0n : sign;
  const divisor = 10n ** BigInt(from - to);
  const quotient = unscaled / divisor;
  return unscaled % divisor === 0n ? quotient : quotient + sign;
}

function extended(unscaled: bigint, zeros: number): bigint | undefined {
  if (zeros === 0 || unscaled === 0n) return unscaled;
  return zeros > MAX_ZEROS ? undefined : unscaled * 10n ** BigInt(zeros);
}

function compareBigint(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function signOf(value: bigint): number {
  return compareBigint(value, 0n);
}

/** How many digits stand before the point; less than one: zeros behind it. */
function magnitude({ unscaled, scale }: Decimal): number {
  return (unscaled < 0n ? -unscaled : unscaled).toString().length - scale;
}

function compareDecimals(a: Decimal, b: Decimal): number {
  const sign = signOf(a.unscaled);
  if (sign !== signOf(b.unscaled)) return sign < signOf(b.unscaled) ? -1 : 1;
  if (sign === 0) return 0;
  const difference = magnitude(a) - magnitude(b);
  if (difference !== 0) return difference > 0 ? sign : -sign;
  // Of one magnitude: as many zeros are missing as the other has digits more.
  const scale = Math.max(a.scale, b.scale);
  return compareBigint(
    a.unscaled * 10n ** BigInt(scale - a.scale),
    b.unscaled * 10n ** BigInt(scale - b.scale),
  );
}

/** `math.Pow10`, which multiplies two powers from tables and so is not always the nearest double. */
function powerOfTen(exponent: number): number {
  if (exponent > 308) return Infinity;
  if (exponent < -323) return 0;
  const rest = Math.abs(exponent) % 32;
  return exponent < 0
    ? Number(`1e${String(exponent + rest)}`) / Number(`1e${String(rest)}`)
    : Number(`1e${String(exponent - rest)}`) * Number(`1e${String(rest)}`);
}

/** The quantity times a power of ten, without overflow of an int64. */
function scaledUp(value: bigint, zeros: number): bigint | undefined {
  if (value === 0n || zeros === 0) return value;
  if (zeros > INT64_DIGITS) return undefined;
  const scaled = value * 10n ** BigInt(zeros);
  return isInt64(scaled) ? scaled : undefined;
}

/** Removes a factor as often as it divides. */
function withoutFactor(value: bigint, factor: bigint): { value: bigint; times: number } {
  let rest = value;
  let times = 0;
  while (rest !== 0n && rest % factor === 0n) {
    rest /= factor;
    times++;
  }
  return { value: rest, times };
}

export class ResourceQuantity {
  #format: Format;
  /** The number where there is no decimal: `value * 10^scale`. */
  #value: bigint;
  #scale: number;
  #decimal: Decimal | undefined;
  /** As written or printed before; empty: to be made. */
  #text: string;

  constructor(format: Format, value: bigint, scale: number, decimal: Decimal | undefined, text: string) {
    this.#format = format;
    this.#value = value;
    this.#scale = scale;
    this.#decimal = decimal;
    this.#text = text;
  }

  /** A plain integer, as `add` and `sub` take one. */
  static ofInt(value: bigint): ResourceQuantity {
    return new ResourceQuantity('DecimalExponent', value, 0, undefined, '');
  }

  /** Shares the decimal, if there is one. */
  copy(): ResourceQuantity {
    return new ResourceQuantity(this.#format, this.#value, this.#scale, this.#decimal, this.#text);
  }

  sign(): number {
    return signOf(this.#decimal?.unscaled ?? this.#value);
  }

  /** @returns undefined where the number is kept as a decimal, has a fraction, or does not fit. */
  asInt64(): bigint | undefined {
    if (this.#decimal !== undefined || this.#scale < 0) return undefined;
    return scaledUp(this.#value, this.#scale);
  }

  asApproximateFloat(): number {
    const base = Number(this.#decimal?.unscaled ?? this.#value);
    const exponent = this.#decimal === undefined ? this.#scale : -this.#decimal.scale;
    return exponent === 0 ? base : base * powerOfTen(exponent);
  }

  /** Turns itself, but not the other, into a decimal where one of both is. */
  compare(other: ResourceQuantity): number {
    if (this.#decimal === undefined && other.#decimal === undefined) {
      return this.#compareSmall(other);
    }
    return compareDecimals(this.#ownDecimal(), other.#decimal ?? other.#newDecimal());
  }

  #compareSmall(other: ResourceQuantity): number {
    const zeros = this.#scale - other.#scale;
    if (zeros === 0) return compareBigint(this.#value, other.#value);
    if (zeros > 0 && zeros <= INT64_DIGITS)
      return compareBigint(this.#value * 10n ** BigInt(zeros), other.#value);
    if (zeros < 0 && zeros >= -INT64_DIGITS)
      return compareBigint(this.#value, other.#value * 10n ** BigInt(-zeros));
    return compareDecimals(this.#newDecimal(), other.#newDecimal());
  }

  /**
   * Adds in place: to the shared decimal where this has one.
   *
   * @param sign 1: add; -1: subtract
   * @returns false where the sum would be too long (MAX_ZEROS)
   */
  add(other: ResourceQuantity, sign: 1n | -1n): boolean {
    this.#text = '';
    if (this.sign() === 0) this.#format = other.#format;
    if (this.#decimal === undefined && other.#decimal === undefined && this.#addSmall(other, sign))
      return true;
    const decimal = this.#ownDecimal();
    const added = other.#decimal ?? other.#newDecimal();
    const scale = Math.max(decimal.scale, added.scale);
    const a = extended(decimal.unscaled, scale - decimal.scale);
    const b = extended(added.unscaled, scale - added.scale);
    if (a === undefined || b === undefined) return false;
    decimal.unscaled = a + sign * b;
    decimal.scale = scale;
    return true;
  }

  #addSmall(other: ResourceQuantity, sign: 1n | -1n): boolean {
    // The smallest int64 has no counterpart: it stays itself.
    const added = BigInt.asIntN(64, sign * other.#value);
    if (added === 0n) return true;
    if (this.#value === 0n) {
      this.#value = added;
      this.#scale = other.#scale;
      return true;
    }
    const scale = Math.min(this.#scale, other.#scale);
    const a = scaledUp(this.#value, this.#scale - scale);
    const b = scaledUp(added, other.#scale - scale);
    if (a === undefined || b === undefined || !isInt64(a + b)) return false;
    this.#value = a + b;
    this.#scale = scale;
    return true;
  }

  #newDecimal(): Decimal {
    return new Decimal(this.#value, -this.#scale);
  }

  /** Its decimal, which it keeps from now on. */
  #ownDecimal(): Decimal {
    if (this.#decimal === undefined) {
      this.#decimal = this.#newDecimal();
      this.#value = 0n;
      this.#scale = 0;
    }
    return this.#decimal;
  }

  toString(): string {
    if (this.#text === '') this.#text = this.#canonicalText();
    return this.#text;
  }

  #canonicalText(): string {
    const amount = this.#decimal ?? this.#newDecimal();
    if (amount.unscaled === 0n) return '0';
    const whole = this.#format === 'BinarySI' ? wholeOfBinary(amount) : undefined;
    if (whole !== undefined) {
      // Go cannot negate the smallest int64, and finds no factors in it.
      if (this.#decimal === undefined && whole === SMALLEST_INT64) return String(whole);
      const { value, times } = withoutFactor(whole, 1024n);
      return String(value) + (times === 0 ? '' : (BINARY_SUFFIXES[times - 1] ?? ''));
    }
    return decimalText(amount, this.#format);
  }
}

/** What is printed with a binary suffix: whole numbers from 1024 on. Everything else has a decimal one. */
function wholeOfBinary({ unscaled, scale }: Decimal): bigint | undefined {
  const whole = roundUp(unscaled, scale, 0);
  if (whole === undefined) return undefined;
  const isExact = scale <= 0 || unscaled % 10n ** BigInt(scale) === 0n;
  return isExact && (whole >= 1024n || whole <= -1024n) ? whole : undefined;
}

function decimalText({ unscaled, scale }: Decimal, format: Format): string {
  const { value, times } = withoutFactor(unscaled, 10n);
  const exponent = times - scale;
  // Powers of ten come in threes.
  const zeros = ((exponent % 3) + 3) % 3;
  const power = exponent - zeros;
  const number = String(value * 10n ** BigInt(zeros));
  if (format === 'DecimalExponent') return power === 0 ? number : `${number}e${String(power)}`;
  for (const [suffix, known] of DECIMAL_SUFFIXES) if (known === power) return number + suffix;
  // Kubernetes has no suffix here, and prints none.
  return number;
}
