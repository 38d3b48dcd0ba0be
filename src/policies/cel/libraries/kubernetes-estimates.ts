/** Static costs of the functions that Kubernetes adds, by function (apiserver pkg/cel/library/cost.go). */
import type { CelType } from '../cel-type.ts';
import {
  type EstimatedNode,
  type EstimateRule,
  type Range,
  addRanges,
  fixed,
  multiplyRanges,
  scaleRange,
  sizeOf,
} from '../estimate-range.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL } from '../sizes.ts';

const UNIT = fixed(1n);
/** Bytes of an address. */
const ADDRESS: Range = { min: 4n, max: 16n };
/** Longest name and longest expression of a named format (apiserver pkg/cel/limits.go). */
const FORMAT_NAME = 64n;
const FORMAT_EXPRESSION = 128;

const unit: EstimateRule = () => ({ cost: UNIT });

function reading(node: EstimatedNode, times = 1): Range {
  return scaleRange(sizeOf(node), times * STRING_TRAVERSAL);
}

/** The first argument, once over. */
const readArgument: EstimateRule = ({ args: [text] }) => text && { cost: reading(text) };

/** What the elements of a list are. Maps count by their keys; undefined: no parameters, as of strings. */
function elementType(type: CelType): CelType | undefined {
  switch (type.kind) {
    case 'list':
      return type.element;
    case 'map':
      return type.key;
    case 'optional':
      return type.value;
    case 'type':
      return type.of;
    default:
      return undefined;
  }
}

/** One unit an element, and the text of elements that are texts; a string is read once. */
const traverse: EstimateRule = ({ target }) => {
  if (target === undefined) return undefined;
  const type = elementType(target.type);
  if (type === undefined) return { cost: reading(target) };
  const isText = type.kind === 'string' || type.kind === 'bytes';
  const element = isText ? addRanges(UNIT, reading({ type, size: undefined })) : UNIT;
  return { cost: multiplyRanges(sizeOf(target), element) };
};

/** A selector is a list, and every two characters of it may be a requirement. */
const selector: EstimateRule = ({ args: [text] }) => {
  if (text === undefined) return undefined;
  const requirements = scaleRange(scaleRange(sizeOf(text), 0.5), 50);
  return { cost: addRanges(fixed(10n), reading(text), requirements) };
};

const url: EstimateRule = ({ args: [text] }) => text && { cost: reading(text), resultSize: sizeOf(text) };

const ip: EstimateRule = (call) => (call.overloadId === 'cidr_ip' ? { cost: UNIT } : readArgument(call));

/** Two addresses, and the text of the one that has to be read. */
function compareAddresses(textOverload: string, more: Range): EstimateRule {
  return ({ overloadId, args: [other] }) => {
    if (other === undefined) return undefined;
    const cost = addRanges(scaleRange(addRanges(ADDRESS, ADDRESS), STRING_TRAVERSAL), more);
    return { cost: overloadId === textOverload ? addRanges(cost, reading(other)) : cost };
  };
}

const containsCidr = addRanges(scaleRange(ADDRESS, STRING_TRAVERSAL), UNIT);

const validate: EstimateRule = ({ args: [text] }) =>
  text && { cost: scaleRange(reading(text), FORMAT_EXPRESSION * REGEX_LENGTH) };

/** Accessors, builders and comparisons. */
const UNIT_FUNCTIONS: readonly string[] = (
  'serviceAccount path group resource subresource namespace name allowed reason error ' +
  'errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast ' +
  'isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger ' +
  'asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch ' +
  'getScheme getHostname getHost getPort getEscapedPath getQuery '
)
  .trim()
  .split(' ');

/** Equality of Kubernetes' own types: what both sides must be alike in to be compared so. */
const equals: EstimateRule = ({ args: [left, right] }) => {
  if (left?.type.kind !== 'opaque' || right?.type.kind !== 'opaque' || left.type.name !== right.type.name) {
    return undefined;
  }
  switch (left.type.name) {
    case 'kubernetes.NamedFormat':
      return { cost: scaleRange({ min: 1n, max: FORMAT_NAME }, STRING_TRAVERSAL) };
    case 'kubernetes.URL':
      // Only the right side's size is looked at, in Kubernetes too.
      return { cost: scaleRange({ min: 1n, max: right.size?.max ?? 1n }, STRING_TRAVERSAL) };
    default:
      return { cost: UNIT };
  }
};

/** By the name of the function. */
export const FUNCTION_ESTIMATES: ReadonlyMap<string, EstimateRule> = new Map<string, EstimateRule>([
  ...UNIT_FUNCTIONS.map((name): [string, EstimateRule] => [name, unit]),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'].map(
    (name): [string, EstimateRule] => [name, traverse],
  ),
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (name): [string, EstimateRule] => [name, readArgument],
  ),
  ['check', () => ({ cost: fixed(350_000n) })],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ['url', url],
  ['ip', ip],
  ['ip.isCanonical', ({ args: [text] }) => text && { cost: reading(text, 2) }],
  ['containsIP', compareAddresses('cidr_contains_ip_string', fixed(0n))],
  ['containsCIDR', compareAddresses('cidr_contains_cidr_string', containsCidr)],
  ['validate', validate],
  ['_==_', equals],
]);
