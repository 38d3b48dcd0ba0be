/** Where in a schema other schemas stand. */
import type { Json } from './answer.ts';

export type SchemaObject = Record<string, Json>;

type Place = 'schema' | 'schemas' | 'map';

const PLACES: ReadonlyMap<string, readonly Place[]> = new Map<string, readonly Place[]>([
  ['$defs', ['map']],
  ['additionalItems', ['schema']],
  ['additionalProperties', ['schema']],
  ['allOf', ['schemas']],
  ['anyOf', ['schemas']],
  ['contains', ['schema']],
  ['contentSchema', ['schema']],
  ['definitions', ['map']],
  ['dependencies', ['map']],
  ['dependentSchemas', ['map']],
  ['else', ['schema']],
  ['if', ['schema']],
  ['items', ['schema', 'schemas']],
  ['not', ['schema']],
  ['oneOf', ['schemas']],
  ['patternProperties', ['map']],
  ['prefixItems', ['schemas']],
  ['properties', ['map']],
  ['propertyNames', ['schema']],
  ['then', ['schema']],
  ['unevaluatedItems', ['schema']],
  ['unevaluatedProperties', ['schema']],
]);

/** Of these, those that look at the same value as the schema that they stand in. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependencies',
  'dependentSchemas',
]);

export interface Subschema {
  /** As in a JSON Pointer, below the schema that it stands in. */
  readonly path: string;
  readonly value: SchemaObject;
  readonly isInPlace: boolean;
}

/** The schemas right below one, but for `true` and `false`. */
export function subschemas(schema: SchemaObject): readonly Subschema[] {
  const found: Subschema[] = [];
  for (const [keyword, places] of PLACES) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const value = schema[keyword];
    const isInPlace = IN_PLACE.has(keyword);
    const add = (path: string, child: Json): void => {
      if (isSchemaObject(child)) found.push({ path, value: child, isInPlace });
    };
    if (places.includes('schemas') && Array.isArray(value))
      for (const [index, child] of value.entries()) add(`/${keyword}/${String(index)}`, child as Json);
    else if (isSchemaObject(value) && places.includes('schema')) add(`/${keyword}`, value);
    else if (isSchemaObject(value) && places.includes('map'))
      for (const [name, child] of Object.entries(value)) add(`/${keyword}/${escapeStep(name)}`, child);
  }
  return found;
}

export function isSchemaObject(value: Json | undefined): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name as one step of a JSON Pointer. */
function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
