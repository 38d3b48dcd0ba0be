/**
 * Doubles of `format`, as golang.org/x/text prints them for en_US (cel.md, trap 3): groups of three, ∞, and powers of
 * ten instead of an `e`.
 */
import { formatFixed, shortestDigits, significantDigits } from '../go-float.ts';

/** Decimals of `%f` and `%e` where the clause names none. */
const DEFAULT_PRECISION = 6;
/** Above it the printer reads no further digit of a precision or width, and then finds no verb. */
const MAX_NUMBER = 1_000_000;
const NO_VERB = '%!(NOVERB)';

const SUPERSCRIPTS = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/**
 * `%.<precision>f`. The printer keeps the precision in 16 bits as the most, and in 8 bits as the least number of
 * decimals.
 */
export function printFixed(value: number, precision: bigint = BigInt(DEFAULT_PRECISION)): string {
  if (!isReadable(precision)) return NO_VERB;
  const special = printSpecial(value);
  if (special !== undefined) return special;
  const magnitude = Math.abs(value);
  const most = Number(BigInt.asIntN(16, precision));
  const [whole = '', decimals = ''] = (most < 0 ? plain(magnitude) : formatFixed(magnitude, most)).split('.');
  const fraction = decimals.replace(/0+$/, '').padEnd(Number(precision & 0xffn), '0');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return `${value < 0 ? '-' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `%.<precision>e`. cel-go hands the precision over as a *width*; the decimals are always six. */
export function printScientific(value: number, precision: bigint = BigInt(DEFAULT_PRECISION)): string {
  if (!isReadable(precision)) return NO_VERB;
  const width = Number(BigInt.asUintN(16, precision));
  return (printSpecial(value) ?? scientific(value)).padStart(width, ' ');
}

function scientific(value: number): string {
  const { digits, exponent } = significantDigits(Math.abs(value), DEFAULT_PRECISION + 1);
  const power = exponent - 1;
  const raised = Math.abs(power)
    .toString()
    .padStart(2, '0')
    .replaceAll(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '');
  return `${value < 0 ? '-' : ''}${digits.slice(0, 1)}.${digits.slice(1)}×10${power < 0 ? '⁻' : ''}${raised}`;
}

function printSpecial(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value < 0 ? '-∞' : '∞';
}

function plain(magnitude: number): string {
  const { digits, exponent } = shortestDigits(magnitude);
  if (exponent <= 0) return `0.${'0'.repeat(-exponent)}${digits}`;
  return `${digits.slice(0, exponent).padEnd(exponent, '0')}.${digits.slice(exponent)}`;
}

function isReadable(number: bigint): boolean {
  return number / 10n <= MAX_NUMBER;
}
