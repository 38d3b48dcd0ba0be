/**
 * What the rules need of JSON Schema (draft 2020-12), done elsewhere: schemas of a bundle are hostile, and only a worker
 * with limits may compile them (design decision 6). `src/schema` fits this shape.
 */
import type { JsonValue } from './json-value.ts';

export interface SchemaLeaf {
  /** JSON Pointer into the instance; empty for its root. */
  readonly instancePath: string;
  readonly message: string;
}

export type SchemaAnswer =
  | { readonly outcome: 'valid' }
  /** At least one leaf of the error tree. */
  | { readonly outcome: 'invalid'; readonly leaves: readonly SchemaLeaf[] }
  /** The text is not JSON. */
  | { readonly outcome: 'not-json'; readonly reason: string }
  /** JSON, but no schema that compiles: the metaschema, a `$ref` that is not local, a pattern that RE2 does not know. */
  | { readonly outcome: 'not-a-schema'; readonly reason: string }
  /** Over a limit of size, depth, time or memory: nothing is proved either way. */
  | { readonly outcome: 'refused'; readonly reason: string };

export interface SchemaChecks {
  /** Compiles alone: never `invalid`. */
  compile(schemaText: string): Promise<SchemaAnswer>;
  validate(schemaText: string, instance: JsonValue): Promise<SchemaAnswer>;
}
