/** Static types of Kubernetes kinds out of their OpenAPI schemas (vap.md T03, T05). */
import type { GroupVersionKind } from '../../cluster/objects.ts';
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP } from '../cel/cel-type.ts';
import { listOf, mapOf, type CelType } from '../cel/cel-type.ts';
import { fieldNames } from './identifiers.ts';
import { kindText, type OpenApiSchema, type OpenApiTypes } from './openapi-schema.ts';

const TEXT_SCHEMA: OpenApiSchema = { type: 'string' };
/** What every resource has, whatever its schema says. */
const LEAST_METADATA: OpenApiSchema = {
  type: 'object',
  properties: { name: TEXT_SCHEMA, generateName: TEXT_SCHEMA },
};
/** Stands for a schema within itself. */
const PLACEHOLDER: OpenApiSchema = { type: 'object' };

/** Kinds of an API server and of custom resources. */
export class KindTypes {
  readonly #types: OpenApiTypes;
  readonly #known = new Map<string, CelType | undefined>();

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  /** The core group and no other stands for all groups, as in the API server's own look-up (vap.md T03). */
  kindsOf(group: string, version: string, resource: string): readonly GroupVersionKind[] {
    const name = resource.toLowerCase();
    const found: GroupVersionKind[] = [];
    for (const served of this.#types.resources) {
      if (served.version !== version || (group !== '' && served.group !== group)) continue;
      if (served.resource === name || served.singular === name) found.push(served);
    }
    return found.map((one) => ({ group: one.group, version: one.version, kind: one.kind }));
  }

  /** @returns undefined where there is no schema for the kind; dyn where there is one that says nothing */
  typeOf(kind: GroupVersionKind): CelType | undefined {
    const key = kindText(kind);
    if (!this.#known.has(key)) this.#known.set(key, this.#make(key, kind.kind));
    return this.#known.get(key);
  }

  #make(key: string, name: string): CelType | undefined {
    const { kinds } = this.#types;
    const ref = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    const schema = ref === undefined ? undefined : this.#schema(ref);
    if (ref === undefined || schema === undefined) return undefined;
    return this.#type(schema, { name, refs: new Set([ref]), isResource: true }) ?? DYN;
  }

  #schema(ref: string): OpenApiSchema | undefined {
    const { schemas } = this.#types;
    return Object.hasOwn(schemas, ref) ? schemas[ref] : undefined;
  }

  /** @returns undefined where an expression may not see a value of this schema */
  #type(schema: OpenApiSchema, place: Place): CelType | undefined {
    if (schema.ref !== undefined) return this.#referred(schema.ref, place);
    if (schema.intOrString === true) return DYN;
    switch (schema.type) {
      case 'array':
        return this.#list(schema, place);
      case 'object':
        return this.#object(place.isResource ? this.#asResource(schema) : schema, place);
      case 'string':
        return stringType(schema.format);
      case 'boolean':
        return BOOL;
      case 'number':
        return DOUBLE;
      case 'integer':
        return INT;
      default:
        return undefined;
    }
  }

  #referred(ref: string, place: Place): CelType | undefined {
    if (place.refs.has(ref)) return this.#type(PLACEHOLDER, place);
    const schema = this.#schema(ref);
    if (schema === undefined || schema.ref !== undefined) return undefined;
    return this.#type(schema, {
      ...place,
      refs: new Set([...place.refs, ref]),
      isResource: place.isResource || schema.embeddedResource === true,
    });
  }

  #list({ items }: OpenApiSchema, place: Place): CelType | undefined {
    const element = items === undefined ? undefined : this.#inner(items, place, '@idx');
    return element === undefined ? undefined : listOf(element);
  }

  #object({ properties = {}, additionalProperties }: OpenApiSchema, place: Place): CelType | undefined {
    if (additionalProperties !== undefined) {
      const value = this.#inner(additionalProperties, place, '@elem');
      return value === undefined ? undefined : mapOf(STRING, value);
    }
    const fields = new Map<string, CelType>();
    for (const [property, schema] of Object.entries(properties)) {
      const names = fieldNames(property);
      const type = names.length === 0 ? undefined : this.#inner(schema, place, names[0] ?? '');
      if (type !== undefined) for (const name of names) fields.set(name, type);
    }
    return { kind: 'struct', name: place.name, fields };
  }

  #inner(schema: OpenApiSchema, { name, refs }: Place, step: string): CelType | undefined {
    return this.#type(schema, {
      name: `${name}.${step}`,
      refs,
      isResource: schema.embeddedResource === true,
    });
  }

  #asResource(schema: OpenApiSchema): OpenApiSchema {
    const { properties = {} } = schema;
    const metadata = this.#resolved(own(properties, 'metadata'));
    const members = metadata?.properties ?? {};
    const isWhole =
      own(properties, 'kind')?.type === 'string' &&
      own(properties, 'apiVersion')?.type === 'string' &&
      metadata?.type === 'object' &&
      own(members, 'name')?.type === 'string' &&
      own(members, 'generateName')?.type === 'string';
    if (isWhole) return schema;
    const least = { kind: TEXT_SCHEMA, apiVersion: TEXT_SCHEMA, metadata: LEAST_METADATA };
    return { ...schema, properties: { ...properties, ...least } };
  }

  #resolved(schema: OpenApiSchema | undefined): OpenApiSchema | undefined {
    return schema?.ref === undefined ? schema : this.#schema(schema.ref);
  }
}

interface Place {
  /** Of the type, if it becomes a struct. */
  readonly name: string;
  /** Schemas that this one is in. */
  readonly refs: ReadonlySet<string>;
  readonly isResource: boolean;
}

function own(schemas: Readonly<Record<string, OpenApiSchema>>, name: string): OpenApiSchema | undefined {
  return Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return BYTES;
    case 'duration':
      return DURATION;
    case 'date':
    case 'date-time':
      return TIMESTAMP;
    default:
      return STRING;
  }
}
