/** Numbers as Go writes them. */

/** Decimal exponents outside of which Go's shortest form has an `e`. */
const PLAIN_FROM = -4;
const PLAIN_BELOW = 6;

/** The shortest text that reads back as the same double, as Go's `%v`: `1e+21`, `+Inf`. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const size = Number(exponent);
  if (size >= PLAIN_FROM && size < PLAIN_BELOW) return String(value);
  const sign = size < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(size)).padStart(2, '0')}`;
}
