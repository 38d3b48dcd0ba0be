/** Adds the kinds of CustomResourceDefinitions to those of an API server, as it would publish them. */
import { kindText, pruneSchema } from './openapi-schema.ts';
import type { OpenApiSchema, OpenApiTypes, ServedResource } from './openapi-schema.ts';

const METADATA_SCHEMA = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const TEXT: OpenApiSchema = { type: 'string' };
/** What the API server puts into every resource; the schema of metadata is its own. */
const RESOURCE_MEMBERS = { apiVersion: TEXT, kind: TEXT, metadata: { ref: METADATA_SCHEMA } } as const;

/** @param definitions of apiextensions.k8s.io/v1; what is none, or not served, is passed over */
export function withCustomResources(types: OpenApiTypes, definitions: readonly unknown[]): OpenApiTypes {
  const added = definitions.flatMap(versionsOf);
  return {
    ...types,
    resources: [...types.resources, ...added.map(({ served }) => served)],
    schemas: { ...types.schemas, ...Object.fromEntries(added.map(({ name, schema }) => [name, schema])) },
    kinds: {
      ...types.kinds,
      ...Object.fromEntries(added.map(({ served, name }) => [kindText(served), name])),
    },
  };
}

interface CustomVersion {
  readonly served: ServedResource;
  /** Of the schema. */
  readonly name: string;
  readonly schema: OpenApiSchema;
}

function versionsOf(definition: unknown): CustomVersion[] {
  const spec = at(definition, 'spec');
  const group = at(spec, 'group');
  const names = at(spec, 'names');
  const kind = at(names, 'kind');
  const resource = at(names, 'plural');
  const singular = at(names, 'singular');
  const scope = at(spec, 'scope');
  const versions = at(spec, 'versions');
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof resource !== 'string') return [];
  if (!Array.isArray(versions)) return [];
  return (versions as readonly unknown[]).flatMap((one): CustomVersion[] => {
    const version = at(one, 'name');
    if (typeof version !== 'string' || at(one, 'served') !== true) return [];
    const served = {
      group,
      version,
      resource,
      singular: typeof singular === 'string' ? singular : kind.toLowerCase(),
      kind,
      ...(typeof scope === 'string' ? { namespaced: scope === 'Namespaced' } : {}),
    };
    const published = at(at(one, 'schema'), 'openAPIV3Schema');
    const schema = asResource({ type: 'object', ...embedding(withoutRefs(pruneSchema(published))) });
    return [{ served, name: `custom ${kindText(served)}`, schema }];
  });
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

function asResource(schema: OpenApiSchema): OpenApiSchema {
  return { ...schema, properties: { ...schema.properties, ...RESOURCE_MEMBERS } };
}

/** References are not allowed in a definition, so that one in it leads nowhere. */
function withoutRefs(schema: OpenApiSchema): OpenApiSchema {
  return schema.ref === undefined ? schema : {};
}

/** Puts what every resource has into resources within resources, too. */
function embedding(schema: OpenApiSchema): OpenApiSchema {
  const { properties, additionalProperties, items } = schema;
  const inner = (one: OpenApiSchema): OpenApiSchema => {
    const embedded = embedding(withoutRefs(one));
    return embedded.embeddedResource === true ? asResource(embedded) : embedded;
  };
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)])),
        }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: inner(additionalProperties) }),
    ...(items === undefined ? {} : { items: inner(items) }),
  };
}
