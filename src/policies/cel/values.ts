/**
 * Values of an evaluation. JSON of a review is used as it is, nothing is copied (cel.md §5.2), and numbers follow the
 * number model of reviews (design decision 2, src/json.ts):
 *
 * | CEL                | here                                                                              |
 * |--------------------|-----------------------------------------------------------------------------------|
 * | int                | number that is a safe integer and not -0, else bigint (never within 2^53)         |
 * | double             | any other number; a `Number` object where the value is a safe integer and not -0 |
 * | uint               | Uint                                                                              |
 * | string, bool, null | as they are; strings count in code points                                         |
 * | bytes              | Uint8Array                                                                        |
 * | list               | array                                                                             |
 * | map                | plain object of a review (own string keys only), or CelMap                        |
 * | timestamp, duration | Timestamp, Duration: bigint nanoseconds                                          |
 * | type               | TypeValue                                                                         |
 * | optional           | Optional                                                                          |
 * | quantity, ip, …    | a subclass of Opaque                                                              |
 * | error              | CelError: returned, not thrown, so that `&&`, `||` and macros can absorb it       |
 */

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Timestamp {
  /** Nanoseconds since the Unix epoch. */
  readonly nanoseconds: bigint;
  /** East of UTC, of the zone that the text of the timestamp had: `string()` prints it, arithmetic keeps it. */
  readonly offsetMinutes: number;
  constructor(nanoseconds: bigint, offsetMinutes = 0) {
    this.nanoseconds = nanoseconds;
    this.offsetMinutes = offsetMinutes;
  }
}

export class Duration {
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class TypeValue {
  /** As `type(x)` prints: `int`, `list`, `google.protobuf.Timestamp`, `kubernetes.Quantity`. */
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  /** Undefined for `optional.none()`. */
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** Values that a library brings along. */
export abstract class Opaque {
  /** Of the runtime type: `kubernetes.Quantity`, `net.IP`. */
  abstract readonly typeName: string;
  /** For costs, where the type has a size: IP addresses and networks (bytes). */
  readonly size?: number;
  /** @returns undefined where equality is not defined with that value: `no such overload`. */
  abstract equals(other: Value): boolean | undefined;

  /** Go's name of the type, where it is not the usual one of `typeName`: some error texts show it. */
  goType(): string | undefined {
    return undefined;
  }

  /** What makes it the same key of a map, where Go compares keys of this type by value; else by place in memory. */
  mapKey(): string | undefined {
    return undefined;
  }
}

/** An error of an evaluation, with cel-go's text. */
export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/**
 * A map that an expression made. Keys of different types are different keys, but a number is found under another type
 * too: a double as an int or uint, these two as each other. A double that is a key is found by doubles only.
 */
export class CelMap {
  /** By what is equal to itself in JavaScript: strings, ints, bools, null. */
  readonly #plain = new Map<unknown, readonly [key: Value, value: Value]>();
  /** By texts with the type. */
  readonly #typed = new Map<string, readonly [key: Value, value: Value]>();
  /** Under keys that Go finds by their place in memory, or not at all: lists, maps, NaN. */
  readonly #lone: (readonly [key: Value, value: Value])[] = [];

  /** @param entries of equal keys the last one counts. */
  constructor(entries: Iterable<readonly [key: Value, value: Value]> = []) {
    for (const entry of entries) this.#set(entry);
  }

  #set(entry: readonly [key: Value, value: Value]): void {
    const [key] = entry;
    const typed = typedKey(key);
    if (typed !== undefined) this.#typed.set(typed, entry);
    else if ((typeof key === 'object' && key !== null) || Number.isNaN(key)) this.#lone.push(entry);
    else this.#plain.set(key, entry);
  }

  get size(): number {
    return this.#plain.size + this.#typed.size + this.#lone.length;
  }

  has(key: Value): boolean {
    return this.#find(key) !== undefined;
  }

  /** For whoever builds the map, before anybody else sees it. @returns false where the key is there already. */
  insert(key: Value, value: Value): boolean {
    if (this.#find(key) !== undefined) return false;
    this.#set([key, value]);
    return true;
  }

  get(key: Value): Value | undefined {
    return this.#find(key)?.[1];
  }

  #find(key: Value): readonly [key: Value, value: Value] | undefined {
    if (typeof key === 'string') return this.#plain.get(key);
    const double = doubleValue(key);
    if (double !== undefined) return this.#findDouble(double);
    const exact = this.#findTyped(key);
    if (exact !== undefined) return exact;
    if (key instanceof Uint) return key.value < TWO_TO_63 ? this.#plain.get(intOf(key.value)) : undefined;
    if ((typeof key !== 'number' && typeof key !== 'bigint') || key < 0) return undefined;
    return this.#typed.get(`uint ${String(key)}`);
  }

  #findTyped(key: Value): readonly [key: Value, value: Value] | undefined {
    const typed = typedKey(key);
    // Made by a function, so that it is the same one to Go where it is the same one here.
    if (typed === undefined && (key instanceof Opaque || key instanceof Optional))
      return this.#lone.find(([known]) => known === key);
    return typed === undefined ? this.#plain.get(key) : this.#typed.get(typed);
  }

  #findDouble(double: number): readonly [key: Value, value: Value] | undefined {
    if (Number.isNaN(double)) return undefined;
    const exact = this.#typed.get(`double ${String(double + 0)}`);
    if (exact !== undefined || !Number.isInteger(double)) return exact;
    if (double >= 2 ** 64 || double <= -(2 ** 63)) return undefined;
    const integer = BigInt(double);
    const int = integer < TWO_TO_63 ? this.#plain.get(intOf(integer)) : undefined;
    return int ?? this.#typed.get(`uint ${String(integer)}`);
  }

  /** In no particular order. */
  *entries(): IterableIterator<readonly [key: Value, value: Value]> {
    yield* this.#plain.values();
    yield* this.#typed.values();
    yield* this.#lone;
  }
}

const TWO_TO_63 = 2n ** 63n;

/** Text under which a key is kept that is no key of a JavaScript map by itself. */
function typedKey(key: Value): string | undefined {
  const double = doubleValue(key);
  if (double !== undefined) return Number.isNaN(double) ? undefined : `double ${String(double + 0)}`;
  if (typeof key !== 'object') return undefined;
  if (key instanceof Uint) return `uint ${String(key.value)}`;
  // Zones other than UTC are other keys to Go each time.
  if (key instanceof Timestamp && key.offsetMinutes === 0) return `timestamp ${String(key.nanoseconds)}`;
  if (key instanceof Duration) return `duration ${String(key.nanoseconds)}`;
  if (key instanceof Opaque) {
    const own = key.mapKey();
    return own === undefined ? undefined : `${key.typeName} ${own}`;
  }
  return key instanceof TypeValue ? `type ${key.name}` : undefined;
}

/** The number of a double in either form; undefined for everything else. */
function doubleValue(value: Value): number | undefined {
  if (typeof value === 'number') return isIntNumber(value) ? undefined : value;
  return isBoxedDouble(value) ? value.valueOf() : undefined;
}

/** Plain object of a review: own keys only, whatever they are called. */
export interface JsonMap {
  readonly [key: string]: Value;
}

export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  // The built-in wrapper, on purpose (see the table above).
  | Number // eslint-disable-line
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | Opaque
  | CelError
  | readonly Value[]
  | CelMap
  | JsonMap;

/** A double: boxed where a plain number would be taken for an int. */
export function doubleOf(value: number): Value {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? (Object(value) as Value) : value;
}

/** An int from a bigint within int64. */
export function intOf(value: bigint): Value {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Whether a plain number is an int; any other plain number is a double. */
export function isIntNumber(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Whether a value is a double in a box (see the table above). */
// oxlint-disable-next-line typescript/no-wrapper-object-types -- it is the wrapper that is looked for
export function isBoxedDouble(value: unknown): value is Number {
  // oxlint-disable-next-line unicorn/no-instanceof-builtins -- the box is made here, in this realm
  return typeof value === 'object' && value instanceof Number;
}
