/** What a leaf says: what the schema wants, and of the instance only names of properties and kinds of values. */
import { quote } from '../errors.ts';
import type { Fault } from './leaves.ts';

/** Names or values listed in one message. */
const MOST_LISTED = 5;

type Say = (wanted: unknown, fault: Fault) => string;

const SAYINGS: ReadonlyMap<string, Say> = new Map<string, Say>([
  ['false schema', () => 'nothing is allowed here'],
  ['unevaluatedProperties', () => 'this property is not allowed'],
  ['unevaluatedItems', () => 'this item is not allowed'],
  ['items', () => 'this item is not allowed'],
  ['additionalItems', () => 'has more items than are allowed'],
  [
    'additionalProperties',
    (_wanted, { properties }) => `has properties that are not allowed: ${listed(properties)}`,
  ],
  ['required', (_wanted, { properties }) => `lacks ${listed(properties)}`],
  ['type', (wanted, { error }) => `is ${kindOf(error.data)}, not ${kinds(wanted)}`],
  ['const', (wanted) => `is not ${literal(wanted)}`],
  ['enum', (wanted) => `is none of ${literals(wanted)}`],
  [
    'format',
    (wanted) =>
      wanted === 'regex'
        ? 'is no regular expression (RE2, without look-around and back-references)'
        : `does not have the format ${literal(wanted)}`,
  ],
  ['pattern', (wanted) => `does not match the pattern ${literal(wanted)}`],
  ['minimum', outOfBounds],
  ['maximum', outOfBounds],
  ['exclusiveMinimum', outOfBounds],
  ['exclusiveMaximum', outOfBounds],
  ['multipleOf', (wanted) => `is no multiple of ${literal(wanted)}`],
  ['minLength', (wanted) => `is shorter than ${count(wanted, 'character')}`],
  ['maxLength', (wanted) => `is longer than ${count(wanted, 'character')}`],
  ['minItems', (wanted) => `has fewer than ${count(wanted, 'item')}`],
  ['maxItems', (wanted) => `has more than ${count(wanted, 'item')}`],
  ['uniqueItems', () => 'has equal items'],
  ['minProperties', (wanted) => `has fewer than ${count(wanted, 'property', 'properties')}`],
  ['maxProperties', (wanted) => `has more than ${count(wanted, 'property', 'properties')}`],
  ['dependentRequired', lacksBeside],
  ['dependencies', lacksBeside],
  ['contains', () => 'does not have as many items of a kind as it must'],
  ['not', () => 'is what it must not be'],
  ['oneOf', () => 'fits more than one schema of which exactly one must fit'],
  ['anyOf', () => 'fits no schema of several'],
]);

export function leafMessage(fault: Fault): string {
  const { error } = fault;
  const name = error.propertyName === undefined ? '' : `the property name ${quote(error.propertyName)} `;
  const say = SAYINGS.get(error.keyword);
  return name + (say?.(error.schema, fault) ?? `breaks the keyword ${quote(error.keyword)}`);
}

function lacksBeside(_wanted: unknown, { error, properties }: Fault): string {
  const property = (error.params as { readonly property?: unknown }).property;
  return `has ${quote(String(property))} but lacks ${listed(properties)}`;
}

const BOUNDS: ReadonlyMap<unknown, string> = new Map([
  ['<=', 'at most'],
  ['>=', 'at least'],
  ['<', 'less than'],
  ['>', 'more than'],
]);

/** In draft 4 a bound says beside it whether it belongs to what it bounds. */
function outOfBounds(_wanted: unknown, { error }: Fault): string {
  const { comparison, limit } = error.params as { readonly comparison?: unknown; readonly limit?: unknown };
  return `must be ${BOUNDS.get(comparison) ?? String(comparison)} ${String(limit)}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map((name) => quote(name));
  const left = names.length - shown.length;
  return left > 0 ? `${shown.join(', ')} and ${String(left)} more` : shown.join(', ');
}

function literals(wanted: unknown): string {
  if (!Array.isArray(wanted)) return 'the values that are allowed';
  const shown = wanted.slice(0, MOST_LISTED).map(literal);
  const left = wanted.length - shown.length;
  return left > 0 ? `${shown.join(', ')} and ${String(left)} more` : shown.join(', ');
}

/** A value of the schema. */
function literal(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'the list' : 'the object';
  return typeof value === 'string' ? quote(value) : String(value);
}

function count(wanted: unknown, one: string, more = `${one}s`): string {
  return `${String(wanted)} ${wanted === 1 ? one : more}`;
}

function kinds(wanted: unknown): string {
  const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  return names.map((name) => withArticle(String(name))).join(' or ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}

function withArticle(kind: string): string {
  if (kind === 'null') return kind;
  return `${/^[aio]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
