/**
 * Turns every reference of a schema into a JSON Pointer from its root, and takes out the names that they were made of: so
 * none leads outside, and ajv, which overflows on some names, sees none. What depends on how a schema was reached
 * (`$dynamicRef`, `$recursiveRef`) becomes plain where only one target is possible, and is refused where not.
 */
import type { Json } from './answer.ts';
import { isSchemaObject, subschemas, type SchemaObject } from './places.ts';

/** Where a schema without a name stands; no host has it. */
const NOWHERE = 'schema:///root.json';

export class ReferenceFault extends Error {
  /** `outside`: not a schema. `unsupported`: a schema, but not for us. */
  readonly kind: 'outside' | 'unsupported';

  constructor(kind: ReferenceFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ReferenceRules {
  readonly idKeyword: 'id' | '$id';
  /** Up to draft 7: anchors are written in the id, and beside `$ref` nothing counts. */
  readonly isOld: boolean;
  /** Its keyword for references that depend on the way on which they are reached. */
  readonly dynamic: '$dynamicRef' | '$recursiveRef' | undefined;
  /** Whether a name is one of the metaschemas, which are at hand. */
  readonly isMetaschema: (name: string) => boolean;
  /** Throws where what a reference leads to, in a place where no schema was expected, is none. */
  readonly mustBeSchema: (value: Json) => void;
}

interface Visited {
  readonly schema: SchemaObject;
  readonly pointer: string;
  readonly base: string;
}

const NAMES = ['$anchor', '$dynamicAnchor', '$recursiveAnchor'];

export class References {
  readonly #root: Json;
  readonly #rules: ReferenceRules;
  readonly #visited = new Map<SchemaObject, Visited>();
  /** Pointers by name of the resource, and of anchors with `#` and their name behind it. */
  readonly #named = new Map<string, string>([[NOWHERE, '']]);
  /** Resources with each `$dynamicAnchor`; those with `$recursiveAnchor` under the empty name. */
  readonly #dynamic = new Map<string, Set<string>>();
  readonly #targets = new Map<SchemaObject, SchemaObject[]>();
  #leadsToMetaschema = false;

  /** @param root is changed. Throws ReferenceFault. */
  constructor(root: SchemaObject, rules: ReferenceRules) {
    this.#root = root;
    this.#rules = rules;
    this.#visit(root, '', NOWHERE);
    // Grows while references lead to places where no schema was expected.
    for (const visited of this.#visited.values()) this.#rewrite(visited);
    for (const schema of this.#visited.keys())
      for (const name of [...NAMES, rules.idKeyword])
        if (typeof schema[name] === 'string' || typeof schema[name] === 'boolean')
          Reflect.deleteProperty(schema, name);
  }

  /** Whether a reference to a metaschema is left. */
  get leadsToMetaschema(): boolean {
    return this.#leadsToMetaschema;
  }

  get schemas(): Iterable<SchemaObject> {
    return this.#visited.keys();
  }

  /** All schemas that look at the same value as one, and itself. */
  inPlaceOf(schema: SchemaObject): ReadonlySet<SchemaObject> {
    const found = new Set([schema]);
    for (const next of found) for (const other of this.#inPlace(next)) found.add(other);
    return found;
  }

  #inPlace(schema: SchemaObject): readonly SchemaObject[] {
    const children = subschemas(schema).filter(({ isInPlace }) => isInPlace);
    return [...children.map(({ value }) => value), ...(this.#targets.get(schema) ?? [])];
  }

  /** Whether a schema comes back to itself without having gone deeper into the instance. */
  hasCircle(): boolean {
    const state = new Map<SchemaObject, 'open' | 'done'>();
    const stack: SchemaObject[] = [...this.#visited.keys()];
    for (let schema = stack.at(-1); schema !== undefined; schema = stack.at(-1)) {
      if (state.get(schema) !== undefined) {
        state.set(schema, 'done');
        stack.pop();
        continue;
      }
      state.set(schema, 'open');
      for (const next of this.#inPlace(schema)) {
        if (state.get(next) === 'open') return true;
        if (state.get(next) === undefined) stack.push(next);
      }
    }
    return false;
  }

  #visit(root: SchemaObject, rootPointer: string, rootBase: string): void {
    const waiting: Visited[] = [{ schema: root, pointer: rootPointer, base: rootBase }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { schema, pointer } = next;
      if (this.#visited.has(schema)) continue;
      const base = this.#name(schema, pointer, next.base);
      this.#visited.set(schema, { schema, pointer, base });
      for (const { path, value } of subschemas(schema))
        waiting.push({ schema: value, pointer: pointer + path, base });
    }
  }

  /** @returns the base of what stands in the schema. */
  #name(schema: SchemaObject, pointer: string, outerBase: string): string {
    const { idKeyword, isOld } = this.#rules;
    const id = own(schema, idKeyword);
    let base = outerBase;
    if (typeof id === 'string' && !(isOld && Object.hasOwn(schema, '$ref'))) {
      const [name, fragment] = split(resolve(id, outerBase));
      if (name !== outerBase) this.#register(name, pointer);
      base = name;
      if (isOld && fragment !== '') this.#register(`${base}#${fragment}`, pointer);
    }
    if (isOld) return base;
    const anchor = own(schema, '$anchor');
    if (typeof anchor === 'string') this.#register(`${base}#${anchor}`, pointer);
    const name = this.#dynamicName(schema);
    if (name === undefined) return base;
    if (name !== '') this.#register(`${base}#${name}`, pointer);
    this.#dynamic.set(name, (this.#dynamic.get(name) ?? new Set()).add(base));
    return base;
  }

  /** The name under which a dynamic reference may find a schema; that of draft 2019-09 is empty. */
  #dynamicName(schema: SchemaObject): string | undefined {
    if (this.#rules.dynamic === '$recursiveRef')
      return own(schema, '$recursiveAnchor') === true ? '' : undefined;
    const name = own(schema, '$dynamicAnchor');
    return typeof name === 'string' ? name : undefined;
  }

  #register(name: string, pointer: string): void {
    const known = this.#named.get(name);
    if (known !== undefined && known !== pointer)
      throw new ReferenceFault('outside', `two of its schemas are named ${name}`);
    this.#named.set(name, pointer);
  }

  #rewrite({ schema, base }: Visited): void {
    const plain = own(schema, '$ref');
    if (typeof plain === 'string') schema['$ref'] = this.#target(schema, plain, base);
    const { dynamic } = this.#rules;
    const reference = dynamic === undefined ? undefined : own(schema, dynamic);
    if (dynamic === undefined || typeof reference !== 'string') return;
    Reflect.deleteProperty(schema, dynamic);
    const target = this.#target(schema, reference, base);
    const found = this.#targets.get(schema)?.at(-1);
    const name = found === undefined ? undefined : this.#dynamicName(found);
    const isDynamic = name !== undefined && (name === '' || reference.endsWith(`#${name}`));
    if (isDynamic && (this.#dynamic.get(name)?.size ?? 0) > 1)
      throw new ReferenceFault(
        'unsupported',
        `its ${dynamic} may lead to several schemas, which is not supported`,
      );
    if (Object.hasOwn(schema, '$ref'))
      schema['allOf'] = [...((schema['allOf'] as readonly Json[] | undefined) ?? []), { $ref: target }];
    else schema['$ref'] = target;
  }

  /** @returns the reference as ajv reads it. */
  #target(schema: SchemaObject, reference: string, base: string): string {
    const [name, fragment] = split(resolve(reference, base));
    const resource = this.#named.get(name);
    if (resource === undefined && this.#rules.isMetaschema(name)) {
      this.#leadsToMetaschema = true;
      return `${name}#${fragment}`;
    }
    const isPointer = fragment === '' || fragment.startsWith('/');
    const pointer = isPointer ? resource : this.#named.get(`${name}#${fragment}`);
    if (pointer === undefined)
      throw new ReferenceFault('outside', 'points outside of it, or at nothing in it');
    const full = isPointer ? pointer + fragment : pointer;
    const target = valueAt(this.#root, full);
    if (target === undefined) throw new ReferenceFault('outside', 'points at nothing in it');
    if (isSchemaObject(target)) {
      this.#targets.set(schema, [...(this.#targets.get(schema) ?? []), target]);
      if (!this.#visited.has(target)) {
        this.#rules.mustBeSchema(target);
        this.#visit(target, full, name);
      }
    } else if (typeof target !== 'boolean') this.#rules.mustBeSchema(target);
    return `#${full.split('/').map(encodeURIComponent).join('/')}`;
  }
}

function own(schema: SchemaObject, keyword: string): Json | undefined {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
}

function resolve(reference: string, base: string): string {
  const url = URL.parse(reference, base);
  if (url === null) throw new ReferenceFault('outside', 'is no reference that can be resolved');
  return url.href;
}

/** @returns a URL without its fragment, and the fragment, decoded. */
function split(url: string): [string, string] {
  const [name = '', fragment = ''] = url.split('#', 2);
  try {
    return [name, decodeURIComponent(fragment)];
  } catch {
    throw new ReferenceFault('outside', 'has a fragment that is not encoded as it must be');
  }
}

function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json = root;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as SchemaObject)[name] as Json;
  }
  return value;
}
