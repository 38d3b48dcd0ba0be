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
}

/** An error of an evaluation, with cel-go's text. */
export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** A map that an expression made: its keys are compared as CEL compares (numbers across types). */
export class CelMap {
  readonly #entries: Map<unknown, readonly [key: Value, value: Value]>;

  constructor(entries: Iterable<readonly [key: Value, value: Value]> = []) {
    this.#entries = new Map();
    for (const entry of entries) this.#entries.set(mapKey(entry[0]), entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Value): boolean {
    return this.#entries.has(mapKey(key));
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  /** In the order of construction. */
  entries(): IterableIterator<readonly [key: Value, value: Value]> {
    return this.#entries.values();
  }
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

/** Keys that are equal in CEL have the same key here: 1, 1u and 1.0 are one key. */
function mapKey(key: Value): unknown {
  if (key instanceof Uint) return Number.isSafeInteger(Number(key.value)) ? Number(key.value) : key.value;
  if (isBoxedDouble(key)) return key.valueOf();
  if (typeof key === 'number' && Number.isInteger(key)) {
    if (Object.is(key, -0)) return 0;
    return Number.isSafeInteger(key) ? key : BigInt(key);
  }
  return key;
}
