/** How a library declares its functions: one file a library below libraries/, one list in environment.ts. */
import type { CelType } from './cel-type.ts';
import type { CelError, Value } from './values.ts';

/**
 * The newest of the two bounds decides whether an environment has something: minors of the *compatibility version*
 * (vap.md §2.10). `since: 0` is always there.
 */
export interface Gate {
  readonly since: number;
  /** Not there any more from this minor on. */
  readonly until?: number;
}

export interface Overload extends Partial<Gate> {
  /** cel-go's id, such as `string_to_int64`: unique over all functions; some costs and error texts go by it. */
  readonly id: string;
  /** Receiver style: the first parameter is the receiver. */
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /**
   * Arguments are values, never errors (unless the function is not strict), of the declared types: dispatch has
   * looked. Failures are returned as CelError, nothing is thrown but the two signals of cost.ts and authorizer.
   */
  readonly impl: (...args: readonly Value[]) => Value;
  /**
   * cel-go binds it for any number of arguments, though it has one or two: what follows an argument that is an error
   * is not evaluated then, and such a call costs nothing. With three and more, and with none, that is always so.
   */
  readonly variadic?: boolean;
}

/** What is known of a call when its cost is counted. */
export interface CallFacts {
  readonly args: readonly Value[];
  readonly result: Value;
  /** Undefined where the checker could not resolve one overload (dyn operands): overload costs do not count then. */
  readonly overloadId: string | undefined;
}

export interface FunctionDefinition extends Partial<Gate> {
  /** `size`, `sets.contains`, `_+_`. Several definitions of one name add their overloads. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * Runtime cost of one call, arguments excluded; undefined: 1, as cel-go charges a call it knows nothing about
   * (cel.md §5.8).
   */
  readonly cost?: (facts: CallFacts) => number | undefined;
  /** Error values reach the implementation (`_||_`-like functions, `optional` accessors). Default: false. */
  readonly nonStrict?: boolean;
  /** cel-go looks at no types before the call (DisableTypeGuards): implementations get values of any type. */
  readonly unguarded?: boolean;
  /**
   * cel-go binds one implementation for all overloads: that of the first overload gets values of any type, if the
   * first of them satisfies this; otherwise the call is `no such overload: <name>`.
   */
  readonly singleton?: (first: Value) => boolean;
  /**
   * What a call takes beyond going over its arguments once, in about nanoseconds, where that is so much more than the
   * cost that the cost does not bound it (effort.ts). Default: nothing.
   */
  readonly effort?: (args: readonly Value[], result: Value) => number;
  /** An argument that is compiled when the program is built, where it is a constant string. */
  readonly constantRegex?: ConstantRegex;
}

export interface ConstantRegex {
  /** Of the argument; the receiver is 0. */
  readonly index: number;
  /**
   * @returns what runs instead of the overload, on arguments of any type (the pattern among them), or why the
   * pattern is none: the program is refused then (cel.md, trap 21).
   */
  readonly bind: (pattern: string) => ((...args: readonly Value[]) => Value) | CelError;
}

export interface Library extends Gate {
  readonly name: string;
  readonly functions: readonly FunctionDefinition[];
  /** Names that stand for a type in expressions: `net.IP`, `optional_type`. */
  readonly typeNames?: Readonly<Record<string, CelType>>;
}
