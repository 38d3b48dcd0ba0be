/**
 * Takes out of a schema what ajv reads and JSON Schema does not know (`$async`, `nullable`): to everybody else these are
 * annotations.
 */
import type { Json } from './answer.ts';

/** What stands in a keyword's place. */
type Place = 'schema' | 'schemas' | 'map';

const PLACES: ReadonlyMap<string, readonly Place[]> = new Map([
  ...['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'not'].map(
    at('schema'),
  ),
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'].map(at('schema')),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map(at('schemas')),
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas'].map(at('map')),
  ...['patternProperties', 'properties'].map(at('map')),
  ['items', ['schema', 'schemas']],
]);

function at(...places: readonly Place[]): (keyword: string) => [string, readonly Place[]] {
  return (keyword) => [keyword, places];
}

const ONLY_OF_AJV = ['$async', 'nullable'];

/** @param schema as `JSON.parse` gave it; it is changed. */
export function normalize(schema: Json): void {
  const schemas: Json[] = [schema];
  for (let node = schemas.pop(); node !== undefined; node = schemas.pop()) {
    if (!isObject(node)) continue;
    for (const keyword of ONLY_OF_AJV)
      if (Object.hasOwn(node, keyword)) Reflect.deleteProperty(node, keyword);
    for (const [keyword, value] of Object.entries(node))
      for (const place of PLACES.get(keyword) ?? []) {
        if (place === 'schema') schemas.push(value);
        else if (place === 'schemas')
          schemas.push(...(Array.isArray(value) ? (value as readonly Json[]) : []));
        else if (isObject(value)) schemas.push(...Object.values(value));
      }
  }
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
