/** What of OpenAPI documents types come from, and what is served, as scripts/openapi.ts keeps it. */
import type { GroupVersionKind } from '../../cluster/objects.ts';

export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  /** Properties that are there in every object: required, or with a default. */
  readonly present?: readonly string[];
  readonly additionalProperties?: OpenApiSchema;
  readonly items?: OpenApiSchema;
  /** Name of another schema, in place of everything else. */
  readonly ref?: string;
  readonly intOrString?: true;
  readonly embeddedResource?: true;
}

/** A resource that is served, no subresource. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  /** Plural. */
  readonly resource: string;
  /** Empty where the API server does not say one. */
  readonly singular: string;
  readonly kind: string;
  /** Left out where nobody says. */
  readonly namespaced?: boolean;
}

export interface OpenApiTypes {
  readonly resources: readonly ServedResource[];
  readonly schemas: Readonly<Record<string, OpenApiSchema>>;
  /** Name of the schema of each kind, by `kindText`. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Paths such as `spec.replicas` that the API server fills in for a kind, beyond what schemas say; by `kindText`. */
  readonly filledIn?: Readonly<Record<string, readonly string[]>>;
}

/** As Go prints it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
export function kindText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** Keeps of a published schema what types come from. */
export function pruneSchema(published: unknown): OpenApiSchema {
  if (typeof published !== 'object' || published === null) return {};
  const schema = published as Readonly<Record<string, unknown>>;
  const own = (key: string): unknown => (Object.hasOwn(schema, key) ? schema[key] : undefined);
  const ref = refOf(schema);
  if (ref !== undefined) return { ref };
  const type = own('type');
  const format = own('format');
  const properties = own('properties');
  const additional = own('additionalProperties');
  const items = own('items');
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof format === 'string' ? { format } : {}),
    ...(isObject(properties)
      ? { properties: pruneAll(properties), ...presentOf(properties, own('required')) }
      : {}),
    ...(isObject(additional) ? { additionalProperties: pruneSchema(additional) } : {}),
    ...(isObject(items) ? { items: pruneSchema(items) } : {}),
    // Built-in kinds have the format, custom resources the extension.
    ...(format === 'int-or-string' || own('x-kubernetes-int-or-string') === true
      ? { intOrString: true }
      : {}),
    ...(own('x-kubernetes-embedded-resource') === true ? { embeddedResource: true } : {}),
  };
}

function pruneAll(schemas: Readonly<Record<string, unknown>>): Readonly<Record<string, OpenApiSchema>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, pruneSchema(schema)]));
}

/** A struct that is no pointer has a default too: it is written where it is empty. */
function presentOf(
  properties: Readonly<Record<string, unknown>>,
  required: unknown,
): Pick<OpenApiSchema, 'present'> {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const present = Object.entries(properties)
    .filter(([name, schema]) => names.includes(name) || (isObject(schema) && hasDefault(schema)))
    .map(([name]) => name);
  return present.length === 0 ? {} : { present };
}

function hasDefault(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(schema, 'default') && schema['default'] !== null;
}

/** A reference may be alone in an `allOf`, so that a description can stand beside it. */
function refOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.hasOwn(schema, '$ref') && typeof schema['$ref'] === 'string') {
    return schema['$ref'].replace('#/components/schemas/', '');
  }
  const all = Object.hasOwn(schema, 'allOf') ? schema['allOf'] : undefined;
  if (!Array.isArray(all)) return undefined;
  for (const one of all as readonly unknown[]) {
    const ref = isObject(one) ? refOf(one) : undefined;
    if (ref !== undefined) return ref;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
