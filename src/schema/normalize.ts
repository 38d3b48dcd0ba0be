/** What ajv reads differently from JSON Schema, written so that both mean the same, or refused where that cannot be. */
import type { Json } from './answer.ts';
import type { SchemaObject } from './places.ts';
import { ReferenceFault, type References } from './references.ts';

/** To everybody else these are annotations. */
const ONLY_OF_AJV = ['$async', 'nullable'];

/** A schema that fits everything, which ajv does not leave out. */
const ANYTHING: Json = { allOf: [true] };

const PROTO = '__proto__';
const PROTO_PATTERN = '^(?:__proto__)$';

/**
 * Throws where ajv would be wrong: to it, `contains` looks at every item, and so does `items` of a schema of several
 * that need not fit.
 */
export function refuseUnsupported(references: References): void {
  for (const schema of references.schemas) {
    if (!Object.hasOwn(schema, 'unevaluatedItems')) continue;
    for (const other of references.inPlaceOf(schema))
      if (Object.hasOwn(other, 'contains') || (other !== schema && looksAtAllItems(other)))
        throw new ReferenceFault(
          'unsupported',
          'unevaluatedItems beside contains or items of another schema is not supported',
        );
  }
}

function looksAtAllItems(schema: SchemaObject): boolean {
  const hasItems = Object.hasOwn(schema, 'items') && !Array.isArray(schema['items']);
  return hasItems || Object.hasOwn(schema, 'additionalItems') || Object.hasOwn(schema, 'unevaluatedItems');
}

/**
 * @param schemas all schemas of a document; they are changed.
 * @param isOld up to draft 7.
 */
export function normalize(schemas: Iterable<SchemaObject>, isOld: boolean): void {
  for (const schema of schemas) {
    for (const keyword of ONLY_OF_AJV)
      if (Object.hasOwn(schema, keyword)) Reflect.deleteProperty(schema, keyword);
    // The one keyword beside `$ref` that ajv does not ignore there.
    if (isOld && Object.hasOwn(schema, '$ref')) Reflect.deleteProperty(schema, 'type');
    rewriteProto(schema);
    // Else it forgets what `if` looked at.
    if (Object.hasOwn(schema, 'if'))
      for (const branch of ['then', 'else']) if (!Object.hasOwn(schema, branch)) schema[branch] = ANYTHING;
  }
}

/** ajv passes over a property of this name. */
function rewriteProto(schema: SchemaObject): void {
  const properties = Object.hasOwn(schema, 'properties') ? (schema['properties'] as SchemaObject) : {};
  if (!Object.hasOwn(properties, PROTO)) return;
  schema['patternProperties'] = {
    ...(schema['patternProperties'] as SchemaObject | undefined),
    [PROTO_PATTERN]: properties[PROTO] as Json,
  };
}
