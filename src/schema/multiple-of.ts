/** `multipleOf` on decimals, as Go's library computes: by doubles 19.99 would be no multiple of 0.01. */

/** What a number looks like when it is written: `12.5`, `1e-7`. */
const WRITTEN = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** Both numbers as they are written; exact, as the exponent of a double has three digits. */
export function isMultipleOf(value: number, factor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0;
  const left = decimal(value);
  const right = decimal(factor);
  if (left === undefined || right === undefined) return false;
  const places = Math.max(left.places, right.places);
  const scaled = ({ digits, places: own }: Decimal): bigint => digits * 10n ** BigInt(places - own);
  return scaled(left) % scaled(right) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  /** Behind the point; negative where zeros follow the digits. */
  readonly places: number;
}

function decimal(number: number): Decimal | undefined {
  const match = WRITTEN.exec(String(number));
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  return { digits: BigInt(whole + fraction), places: fraction.length - Number(exponent) };
}
