/**
 * Reads a foreign value into a known shape as the API server's decoder does: fields that the shape does not have are
 * dropped and named, null counts as left out, and the first value of a wrong type makes the whole unreadable.
 */

export type Shape =
  | { readonly kind: 'string' | 'bool' | 'int'; readonly goType: string }
  /** Kept as it is: nobody here reads what is in it. */
  | { readonly kind: 'raw' }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'map'; readonly of: Shape }
  | StructShape;

export interface StructShape {
  readonly kind: 'struct';
  /** Of the Go type, without its package: error texts name it. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Shape>;
  /** Fields that in Go belong to an embedded struct, with its name and a dot: faults name it too. */
  readonly embedded: ReadonlyMap<string, string>;
}

/** What is left of a struct: own members of its shape's fields only, none of them null. */
export type Shaped = Readonly<Record<string, unknown>>;

export function text(goType = 'string'): Shape {
  return { kind: 'string', goType };
}

export function listOfShape(of: Shape): Shape {
  return { kind: 'list', of };
}

export function struct(
  name: string,
  fields: Readonly<Record<string, Shape>>,
  embedded: Readonly<Record<string, string>> = {},
): StructShape {
  return {
    kind: 'struct',
    name,
    fields: new Map(Object.entries(fields)),
    embedded: new Map(Object.entries(embedded)),
  };
}

/** Unknown fields that are named; the decoder stops counting there. */
const MAX_WARNINGS = 100;

export type Decoded =
  | { readonly ok: true; readonly value: Shaped; readonly warnings: readonly string[] }
  /** In the decoder's words: `json: cannot unmarshal …`. */
  | { readonly ok: false; readonly fault: string };

export function decode(value: unknown, shape: StructShape): Decoded {
  const decoder = new Decoder();
  const decoded = decoder.read(value, shape, { struct: '', field: '', path: '' });
  if (decoder.fault !== undefined) return { ok: false, fault: decoder.fault };
  return { ok: true, value: (decoded ?? {}) as Shaped, warnings: decoder.warnings };
}

/** Where the decoder is. */
interface Place {
  /** Innermost struct, as a fault names it. */
  readonly struct: string;
  /** Fields on the way, joined by dots, without indices. */
  readonly field: string;
  /** The same with indices, as a warning names it. */
  readonly path: string;
}

class Decoder {
  fault: string | undefined;
  readonly warnings: string[] = [];

  read(value: unknown, shape: Shape, at: Place): unknown {
    if (value === null || value === undefined) return undefined;
    switch (shape.kind) {
      case 'raw':
        return value;
      case 'list':
        return Array.isArray(value) ? this.#list(value, shape.of, at) : this.#wrong(value, shape, at);
      case 'map':
        return isRecord(value) ? this.#map(value, shape.of, at) : this.#wrong(value, shape, at);
      case 'struct':
        return isRecord(value) ? this.#struct(value, shape, at) : this.#wrong(value, shape, at);
      default:
        return isOfKind(value, shape.kind) ? value : this.#wrong(value, shape, at);
    }
  }

  #list(values: readonly unknown[], of: Shape, at: Place): unknown[] {
    return values.map((value, index) => {
      const path = `${at.path}[${String(index)}]`;
      // A null among others is there all the same, and empty.
      return this.read(value, of, { ...at, path }) ?? zeroOf(of);
    });
  }

  #map(values: Shaped, of: Shape, at: Place): Shaped {
    const entries = Object.entries(values);
    // Object.fromEntries defines members, so that `__proto__` is one like any other.
    return Object.fromEntries(entries.map(([key, value]) => [key, this.read(value, of, at) ?? zeroOf(of)]));
  }

  #struct(values: Shaped, { name, fields, embedded }: StructShape, at: Place): Shaped {
    const read: [string, unknown][] = [];
    for (const [key, value] of Object.entries(values)) {
      const path = at.path === '' ? key : `${at.path}.${key}`;
      const shape = fields.get(key);
      if (shape === undefined) {
        if (this.warnings.length < MAX_WARNINGS) this.warnings.push(`unknown field ${JSON.stringify(path)}`);
        continue;
      }
      const member = (embedded.get(key) ?? '') + key;
      const field = at.field === '' ? member : `${at.field}.${member}`;
      const decoded = this.read(value, shape, { struct: name, field, path });
      if (decoded !== undefined) read.push([key, decoded]);
    }
    return Object.fromEntries(read);
  }

  #wrong(value: unknown, shape: Shape, { struct: name, field }: Place): undefined {
    const target = field === '' ? 'Go value' : `Go struct field ${name}.${field}`;
    this.fault ??= `json: cannot unmarshal ${nameOf(value, shape)} into ${target} of type ${goTypeOf(shape)}`;
    return undefined;
  }
}

function isRecord(value: unknown): value is Shaped {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxed(value);
}

/** A double whose value is an integer (design decision 2). */
function isBoxed(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Number]' && typeof value === 'object';
}

function isOfKind(value: unknown, kind: 'string' | 'bool' | 'int'): boolean {
  switch (kind) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint' || Number.isSafeInteger(value);
  }
}

function zeroOf(shape: Shape): unknown {
  switch (shape.kind) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int':
      return 0;
    case 'list':
      return [];
    default:
      return {};
  }
}

function nameOf(value: unknown, shape: Shape): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number' || typeof value === 'bigint' || isBoxed(value)) {
    // A number that is none for this type is told.
    return shape.kind === 'int' ? `number ${String(value)}` : 'number';
  }
  return 'object';
}

function goTypeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'list':
      return `[]${goTypeOf(shape.of)}`;
    case 'map':
      return `map[string]${goTypeOf(shape.of)}`;
    case 'struct':
      return `v1.${shape.name}`;
    case 'raw':
      return 'interface {}';
    default:
      return shape.goType;
  }
}
