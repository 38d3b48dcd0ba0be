/**
 * What an API server makes of a custom object by its schema, so that the schema can be tried without one: defaults are
 * filled in, unknown fields are dropped, and what does not fit is refused. A real one is asked by
 * test/cluster/pacto-crds.cluster.test.ts.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats/dist/formats.js';

export interface Structural {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

export type Taken = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

export function taker(schema: Structural): (value: unknown) => Taken {
  const ajv = new Ajv2020({ strict: false });
  const { int32, int64, 'date-time': dateTime } = formats.fullFormats;
  for (const [name, format] of Object.entries({ int32, int64, 'date-time': dateTime })) {
    if (format !== undefined) ajv.addFormat(name, format);
  }
  const validate = ajv.compile(schema);
  return (value) => {
    const pruned = prune(schema, structuredClone(value));
    return validate(pruned) && listsAreMaps(schema, pruned) ? { ok: true, value: pruned } : { ok: false };
  };
}

function prune(schema: Structural, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((one) => prune(items, one));
  }
  if (typeof value !== 'object' || value === null) return value;
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined) {
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, prune(additionalProperties, field)]),
    );
  }
  if (properties === undefined) return value;
  const kept = Object.entries(value).flatMap(([key, field]) => {
    const known = properties[key];
    return known === undefined ? [] : [[key, prune(known, field)] as const];
  });
  const defaults = Object.entries(properties).flatMap(([key, { default: fallback }]) =>
    fallback === undefined || Object.hasOwn(value, key) ? [] : [[key, fallback] as const],
  );
  return Object.fromEntries([...kept, ...defaults]);
}

function listsAreMaps(schema: Structural, value: unknown): boolean {
  if (Array.isArray(value)) {
    const { items, 'x-kubernetes-list-map-keys': keys } = schema;
    const names = value.map((one) =>
      JSON.stringify(keys?.map((key) => (one as Record<string, unknown>)[key])),
    );
    if (keys !== undefined && new Set(names).size < names.length) return false;
    return items === undefined || value.every((one) => listsAreMaps(items, one));
  }
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, field]) => {
    const known = schema.properties?.[key];
    return known === undefined || listsAreMaps(known, field);
  });
}
