/** Static costs of what is done to strings (apiserver pkg/cel/library/cost.go, cel-go checker/cost.go). */
import {
  type CallEstimate,
  type EstimatedNode,
  type EstimateRule,
  type Range,
  UNBOUNDED,
  UNKNOWN_SIZE,
  addRanges,
  fixed,
  multiplyRanges,
  scaleRange,
  sizeOf,
} from '../estimate-range.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL } from '../sizes.ts';

function reading(node: EstimatedNode, times = 1): Range {
  return scaleRange(sizeOf(node), times * STRING_TRAVERSAL);
}

/** Of a search for a pattern: an empty text is no reason for it to be free. */
function searching(text: EstimatedNode, pattern: EstimatedNode): Range {
  const once = scaleRange(addRanges(sizeOf(text), fixed(1n)), STRING_TRAVERSAL);
  return multiplyRanges(once, scaleRange(sizeOf(pattern), REGEX_LENGTH));
}

/** Sizes that cel-go calculates without a look at overflow. */
function wrapped(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

const copy: EstimateRule = ({ target }) => target && { cost: reading(target), resultSize: sizeOf(target) };

/** How often a text is replaced, and what stays of the original: both as they make the result longest. */
function longest(size: bigint, leastOld: bigint, mostNew: bigint): readonly [count: bigint, kept: bigint] {
  if (leastOld === 0n) return [size < UNBOUNDED ? size + 1n : size, size];
  return mostNew <= leastOld ? [0n, size] : [divided(size, leastOld), 0n];
}

/** The same, as they make the result shortest. */
function shortest(size: bigint, mostOld: bigint, leastNew: bigint): readonly [count: bigint, kept: bigint] {
  if (mostOld === 0n) return [size < UNBOUNDED ? size + 1n : size, size];
  return mostOld <= leastNew ? [0n, size] : [divided(size, mostOld), 0n];
}

/** In doubles, rounded up; Go's conversion of what does not fit a uint64 gives 2^63 on amd64. */
function divided(size: bigint, by: bigint): bigint {
  const quotient = BigInt(Math.ceil(Number(size) / Number(by)));
  return quotient > UNBOUNDED ? 2n ** 63n : quotient;
}

const replace: EstimateRule = ({ target, args: [old, replacement] }) => {
  if (target === undefined || old === undefined || replacement === undefined) return undefined;
  const [whole, before, after] = [sizeOf(target), sizeOf(old), sizeOf(replacement)];
  const [mostCount, mostKept] = longest(whole.max, before.min, after.max);
  const [leastCount, leastKept] = shortest(whole.min, before.max, after.min);
  const made = multiplyRanges({ min: leastCount, max: mostCount }, after);
  return { cost: reading(target, 2), resultSize: addRanges(made, { min: leastKept, max: mostKept }) };
};

const split: EstimateRule = ({ target, args: [, limit] }) => {
  if (target === undefined) return undefined;
  const max = limit?.literal === undefined ? sizeOf(target).max : wrapped(limit.literal);
  return { cost: reading(target, 2), resultSize: { min: 0n, max } };
};

const join: EstimateRule = ({ target, args: [separator], unknownSize = UNKNOWN_SIZE }) => {
  if (target === undefined) return undefined;
  const count = sizeOf(target);
  // Nothing is known of the elements, and nothing counts where not even their type is.
  let size = target.type.kind === 'list' ? multiplyRanges(count, unknownSize) : fixed(0n);
  if (separator !== undefined) {
    const less = (n: bigint) => (n > 0n ? n - 1n : 0n);
    const between = multiplyRanges(sizeOf(separator), { min: less(count.min), max: less(count.max) });
    size = addRanges(size, between);
  }
  return { cost: scaleRange(size, STRING_TRAVERSAL), resultSize: size };
};

const find: EstimateRule = ({ target, args: [pattern] }) =>
  target && pattern && { cost: searching(target, pattern), resultSize: { min: 0n, max: sizeOf(target).max } };

/** Kubernetes' rules, by the name of the function. */
export const STRING_FUNCTION_ESTIMATES: ReadonlyMap<string, EstimateRule> = new Map<string, EstimateRule>([
  ['lowerAscii', copy],
  ['upperAscii', copy],
  ['substring', copy],
  ['trim', copy],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
]);

function converted(
  node: EstimatedNode | undefined,
  resultSize: (size: Range) => Range,
): CallEstimate | undefined {
  return node && { cost: reading(node), resultSize: resultSize(sizeOf(node)) };
}

/** cel-go looks at the part here, and at the text when it counts the real cost. */
const testEnd: EstimateRule = ({ args: [part] }) => part && { cost: reading(part) };

/** cel-go's own rules, by the id of the overload: they come last. */
export const STRING_OVERLOAD_DEFAULTS: ReadonlyMap<string, EstimateRule> = new Map<string, EstimateRule>([
  ['string_format', ({ target }) => target && { cost: reading(target) }],
  [
    'string_to_bytes',
    ({ args: [text] }) => converted(text, ({ min, max }) => ({ min, max: wrapped(max * 4n) })),
  ],
  ['bytes_to_string', ({ args: [bytes] }) => converted(bytes, ({ min, max }) => ({ min: min / 4n, max }))],
  [
    'strings_quote',
    ({ args: [text] }) =>
      converted(text, ({ min, max }) => ({ min: wrapped(min + 2n), max: wrapped(max * 2n + 2n) })),
  ],
  ['starts_with_string', testEnd],
  ['ends_with_string', testEnd],
  [
    'matches_string',
    ({ target, args: [pattern] }) => target && pattern && { cost: searching(target, pattern) },
  ],
  [
    'contains_string',
    ({ target, args: [part] }) => target && part && { cost: multiplyRanges(reading(target), reading(part)) },
  ],
]);
