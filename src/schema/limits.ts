/**
 * What a schema and an instance may be at most, looked at before anything compiles or copies them, and without recursion:
 * depth alone overflows every validator, and nested combinators take exponential time to compile (platform.md §5).
 */
import type { Json } from './answer.ts';
import { isSchemaObject } from './places.ts';

export const SCHEMA_LIMITS = {
  textBytes: 256 * 1024,
  depth: 64,
  /** Values of every kind; the largest schemas in use have some 10,000. */
  nodes: 20_000,
  references: 512,
  /** Entries of `allOf`, `anyOf` and `oneOf`, and each `not`, `if`, `then`, `else` and `contains`. */
  branches: 1024,
} as const;

const INSTANCE_LIMITS = {
  /** UTF-16 units of all keys and strings; bundles have at most 1 MiB in a contract (contract.md §2.1). */
  units: 1024 * 1024,
  depth: 128,
  nodes: 50_000,
} as const;

const LISTS_OF_BRANCHES: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);
const BRANCHES: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'contains']);
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** @returns what is over a limit, in words; undefined where nothing is. */
export function schemaExcess(schema: Json): string | undefined {
  let references = 0;
  let branches = 0;
  let isSkipped = false;
  const excess = walk(schema, SCHEMA_LIMITS, (key, value) => {
    if (key === 'dependencies' && isSchemaObject(value)) isSkipped ||= Object.hasOwn(value, '__proto__');
    if (REFERENCES.has(key) && typeof value === 'string') references++;
    if (BRANCHES.has(key)) branches++;
    if (LISTS_OF_BRANCHES.has(key) && Array.isArray(value)) branches += value.length;
    return 0;
  });
  if (excess !== undefined) return `the schema has ${excess}`;
  // ajv passes it over, and a policy would be taken for kept.
  if (isSkipped) return 'the schema has dependencies of "__proto__", which are not judged here';
  if (references > SCHEMA_LIMITS.references)
    return `the schema has more than ${String(SCHEMA_LIMITS.references)} references`;
  if (branches > SCHEMA_LIMITS.branches)
    return `the schema has more than ${String(SCHEMA_LIMITS.branches)} branches (allOf, anyOf, oneOf, not, if, contains)`;
  return undefined;
}

/** As `schemaExcess`, of an instance. */
export function instanceExcess(instance: Json): string | undefined {
  let units = 0;
  const excess = walk(instance, INSTANCE_LIMITS, (key, value) => {
    units += key.length + (typeof value === 'string' ? value.length : 0);
    return units > INSTANCE_LIMITS.units;
  });
  if (excess !== undefined) return `the instance has ${excess}`;
  return units > INSTANCE_LIMITS.units ||
    (typeof instance === 'string' && instance.length > INSTANCE_LIMITS.units)
    ? `the instance has more than ${String(INSTANCE_LIMITS.units)} characters`
    : undefined;
}

/** @param see what is told each key (empty in a list) and value; true ends the walk. */
function walk(
  root: Json,
  limits: { readonly depth: number; readonly nodes: number },
  see: (key: string, value: Json) => unknown,
): string | undefined {
  let nodes = 1;
  let level: readonly Json[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limits.depth) return `more than ${String(limits.depth)} levels`;
    const next: Json[] = [];
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue;
      // Keys and values are not put into lists of their own: an instance is walked on the main thread.
      const keys = Array.isArray(node) ? undefined : Object.keys(node);
      const values = node as Readonly<Record<string | number, Json>>;
      const count = keys?.length ?? (node as readonly Json[]).length;
      nodes += count;
      if (nodes > limits.nodes) return `more than ${String(limits.nodes)} values`;
      for (let index = 0; index < count; index++) {
        const key = keys?.[index] ?? '';
        const value = values[keys === undefined ? index : key] ?? null;
        if (see(key, value) === true) return undefined;
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
  return undefined;
}
