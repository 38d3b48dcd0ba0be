/** Which fields of an object are there: always, perhaps or never. */
import { NAMESPACE_NAME_LABEL } from '../../entry.ts';
import type { GroupVersionKind } from '../../../cluster/objects.ts';
import { kindText, type OpenApiSchema, type OpenApiTypes } from '../openapi-schema.ts';

/** `unknown`: nothing is said of the field where it is. */
export type Presence = 'always' | 'optional' | 'never' | 'unknown';

/** A place in an object. */
export interface Place {
  /** Undefined: nothing is known below. */
  readonly schema: OpenApiSchema | undefined;
  /** Of the kind whose object this is; undefined below lists, and where the kind is not known. */
  readonly kind: string | undefined;
  /** From the root, with a dot at the end. */
  readonly path: string;
  /** Whether an object may have fields that its schema does not name, as custom resources may. */
  readonly isOpen: boolean;
  /** Whether it is in `params`, which nobody but an operator writes. */
  readonly isParams?: true;
  /** What it may be as well, as an element of lists that were put together. */
  readonly others?: readonly Place[];
}

export interface FieldPlace {
  readonly presence: Presence;
  readonly place: Place;
}

export const NOWHERE: Place = { schema: undefined, kind: undefined, path: '', isOpen: true };

/** `{}`. */
export const EMPTY: Place = { ...NOWHERE, schema: { type: 'object', properties: {} }, isOpen: false };

/** More are not told apart: nothing is known then. */
const MOST_PLACES = 8;

/** One of several places, of which nobody knows which. */
export function anyOf(places: readonly Place[]): Place {
  const different: Place[] = [];
  for (const place of places.flatMap(({ others = [], ...first }) => [first, ...others])) {
    if (!different.some((one) => isSame(one, place))) different.push(place);
  }
  const [first, ...others] = different;
  if (first === undefined || different.length > MOST_PLACES) return NOWHERE;
  return others.length === 0 ? first : { ...first, others };
}

function isSame(a: Place, b: Place): boolean {
  return (
    a.schema === b.schema &&
    a.kind === b.kind &&
    a.path === b.path &&
    a.isOpen === b.isOpen &&
    a.isParams === b.isParams
  );
}

function each(place: Place): readonly Place[] {
  return place.others === undefined ? [place] : [{ ...place, others: [] }, ...place.others];
}

/** Of a field of one of several places: what one of them may lack may be absent. */
function presenceIn(all: readonly Presence[]): Presence {
  const [first = 'unknown'] = all;
  if (all.every((one) => one === first)) return first;
  const mayLack = all.includes('optional') || (all.includes('never') && all.includes('always'));
  return mayLack ? 'optional' : 'unknown';
}

const TEXT: OpenApiSchema = { type: 'string' };
const TEXTS: OpenApiSchema = { type: 'object', additionalProperties: TEXT };
const ANYTHING: OpenApiSchema = {};

/** Of an object of a kind of which no schema is known (vap.md O08: the name is there when policies are asked). */
const METADATA: OpenApiSchema = {
  type: 'object',
  properties: {
    name: TEXT,
    uid: TEXT,
    creationTimestamp: TEXT,
    labels: TEXTS,
    annotations: TEXTS,
    generateName: TEXT,
    deletionTimestamp: TEXT,
    finalizers: { type: 'array', items: TEXT },
    ownerReferences: { type: 'array', items: ANYTHING },
  },
};
const UNKNOWN_KIND: OpenApiSchema = {
  type: 'object',
  properties: { apiVersion: TEXT, kind: TEXT, metadata: METADATA },
  present: ['apiVersion', 'kind', 'metadata'],
};
/** `namespaceObject` (vap.md D10); every Namespace has the label of its name. */
const NAMESPACE: OpenApiSchema = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: { name: TEXT, labels: TEXTS, annotations: TEXTS },
      present: ['name', 'labels'],
    },
  },
  present: ['metadata'],
};
/** What every API server sets in the object itself; some of it is there at some times, and nobody asks whether. */
const IN_EVERY_OBJECT: ReadonlyMap<string, Presence> = new Map<string, Presence>([
  ['apiVersion', 'always'],
  ['kind', 'always'],
  ['metadata.name', 'always'],
  ['metadata.namespace', 'always'],
  ['metadata.uid', 'always'],
  ['metadata.creationTimestamp', 'always'],
  ['metadata.generation', 'unknown'],
  ['metadata.resourceVersion', 'unknown'],
  ['metadata.managedFields', 'unknown'],
  ['metadata.selfLink', 'unknown'],
]);

export class ObjectPresence {
  readonly #types: OpenApiTypes;

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  /** @param kind undefined where it is not known */
  root(kind: GroupVersionKind | undefined): Place {
    const text = kind === undefined ? '' : kindText(kind);
    const name = Object.hasOwn(this.#types.kinds, text) ? this.#types.kinds[text] : undefined;
    if (name === undefined) return { schema: UNKNOWN_KIND, kind: '', path: '', isOpen: true };
    // As custom-types.ts names them.
    const isOpen = name.startsWith('custom ');
    return { schema: this.#resolved({ ref: name }), kind: text, path: '', isOpen };
  }

  /** @param kind undefined where the policy has no parameters */
  params(kind: GroupVersionKind | undefined): Place {
    return kind === undefined ? NOWHERE : { ...this.root(kind), isParams: true };
  }

  namespace(): Place {
    return { schema: NAMESPACE, kind: undefined, path: '', isOpen: true };
  }

  field(at: Place, name: string): FieldPlace {
    if (at.others === undefined) return this.#field(at, name);
    const fields = each(at).map((one) => this.#field(one, name));
    const there = fields.flatMap(({ presence, place }) => (presence === 'never' ? [] : [place]));
    return { presence: presenceIn(fields.map(({ presence }) => presence)), place: anyOf(there) };
  }

  #field(at: Place, name: string): FieldPlace {
    const { schema, kind, path } = at;
    if (schema === undefined) return { presence: 'unknown', place: NOWHERE };
    const below = (next: OpenApiSchema | undefined): Place => ({
      ...at,
      schema: this.#resolved(next),
      path: `${path}${name}.`,
    });
    if (schema.additionalProperties !== undefined) {
      const presence = name === NAMESPACE_NAME_LABEL && path === 'metadata.labels.' ? 'unknown' : 'optional';
      return { presence, place: below(schema.additionalProperties) };
    }
    const properties = schema.properties ?? {};
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const known = kind === undefined ? undefined : IN_EVERY_OBJECT.get(path + name);
    if (known !== undefined)
      return { presence: known, place: known === 'always' ? below(property) : NOWHERE };
    if (property === undefined) {
      // An object of no properties may be one that keeps everything.
      const isKnown = schema.properties !== undefined && !at.isOpen;
      return { presence: isKnown ? 'never' : 'unknown', place: NOWHERE };
    }
    const isFilledIn = kind !== undefined && this.#filledIn(kind).includes(path + name);
    const presence = isFilledIn || schema.present?.includes(name) === true ? 'always' : 'optional';
    return { presence, place: below(property) };
  }

  /** What a list holds, or a map. */
  element(place: Place): Place {
    return place.others === undefined
      ? this.#element(place)
      : anyOf(each(place).map((one) => this.#element(one)));
  }

  #element(list: Place): Place {
    const of = list.schema?.items ?? list.schema?.additionalProperties;
    return of === undefined ? NOWHERE : { ...list, schema: this.#resolved(of), kind: undefined, path: '' };
  }

  isMap(place: Place): boolean {
    return each(place).some(({ schema }) => schema?.additionalProperties !== undefined);
  }

  #filledIn(kind: string): readonly string[] {
    const { filledIn = {} } = this.#types;
    return (Object.hasOwn(filledIn, kind) ? filledIn[kind] : undefined) ?? [];
  }

  #resolved(schema: OpenApiSchema | undefined): OpenApiSchema | undefined {
    if (schema?.ref === undefined) return schema;
    const { schemas } = this.#types;
    return Object.hasOwn(schemas, schema.ref) ? schemas[schema.ref] : undefined;
  }
}
