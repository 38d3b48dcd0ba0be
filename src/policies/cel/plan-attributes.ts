/** Names, fields, indexes and `?:` (cel-go interpreter/attributes.go, planner.go). */
import type { Frame } from './frame.ts';
import { goNativeTypeName, goTypeName } from './go-type-name.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import type { Attribute, Plan, Qualifier, Run } from './plan.ts';
import { missing, qualify, withoutWrapper } from './qualify.ts';
import { CelError, Optional, Uint, type Value, isBoxedDouble } from './values.ts';

const NONE = new Optional(undefined);

/** Reads an attribute as a whole. */
export function attributePlan(attribute: Attribute): Plan {
  const { resolve, cost } = attribute;
  if (cost === 0) return { attribute, run: resolve };
  return {
    attribute,
    run: (frame) => {
      const value = resolve(frame);
      frame.step(cost);
      return value;
    },
  };
}

/** `has(…)`: as an attribute, but for the value and the cost of the whole. */
export function testPlan(attribute: Attribute): Plan {
  const { resolve, cost } = attribute;
  return {
    attribute,
    run: (frame) => {
      const value = resolve(frame);
      if (cost === 0) frame.refund();
      return value instanceof Optional ? value.value !== undefined : value;
    },
  };
}

/**
 * A variable, or what any other expression gives, and steps from there.
 *
 * @param native whether the values are those of a review, not cel-go's own: some error texts tell.
 */
export function attributeOf(
  root: Run,
  cost: number,
  native: boolean,
  qualifiers: readonly Qualifier[] = [],
): Attribute {
  const resolve = resolver(root, qualifiers);
  return {
    resolve,
    with: (qualifier) => attributeOf(root, cost, native, [...qualifiers, qualifier]),
    cost,
    key: keyRun(resolve, native && qualifiers.every(isNativeStep)),
  };
}

/** The value as a key, or the error of one that is none. */
export function keyRun(run: Run, native: boolean): Run {
  return (frame) => {
    const value = run(frame);
    return value instanceof CelError ? value : checkKey(value, native);
  };
}

/** The attribute that a plan is, or one that starts from its value. */
export function asAttribute(plan: Plan): Attribute {
  return plan.attribute ?? attributeOf(plan.run, 1, false);
}

/** Strings and ints step from Go value to Go value, everything else by cel-go's own types. */
function isNativeStep({ key }: Qualifier): boolean {
  if (!('constant' in key)) return true;
  return typeof key.constant === 'string' || typeof key.constant === 'number';
}

/** `condition ? truthy : falsy`. Reading the branch as a whole costs nothing where the branch is an attribute. */
export function conditionalAttribute(condition: Run, truthy: Attribute, falsy: Attribute): Attribute {
  return {
    resolve: chooser(condition, truthy.resolve, falsy.resolve),
    with: (qualifier) => conditionalAttribute(condition, truthy.with(qualifier), falsy.with(qualifier)),
    cost: 0,
    key: chooser(condition, truthy.key, falsy.key),
  };
}

function chooser(condition: Run, whenTrue: Run, whenFalse: Run): Run {
  return (frame) => {
    const chosen = condition(frame);
    if (chosen === true) return whenTrue(frame);
    if (chosen === false) return whenFalse(frame);
    return chosen instanceof CelError ? chosen : NO_SUCH_OVERLOAD;
  };
}

function resolver(root: Run, qualifiers: readonly Qualifier[]): Run {
  if (qualifiers.length === 0) {
    return (frame) => {
      const value = root(frame);
      return value instanceof Optional ? unwrapped(frame, value) : value;
    };
  }
  const keys = qualifiers.map(({ key, optional, test }) =>
    'constant' in key && typeof key.constant === 'string' && !optional && !test ? key.constant : undefined,
  );
  return keys.every((key) => key !== undefined) ? fields(root, keys, qualifiers) : steps(root, qualifiers);
}

/** As the value reads that is in it. */
function unwrapped(frame: Frame, optional: Optional): Optional {
  if (optional.value === undefined) return optional;
  const inner = readFromOptional(frame, optional.value);
  return inner === optional.value ? optional : new Optional(inner);
}

/** A list that `+` adds to in place is empty to whoever reads it that way. */
function readFromOptional(frame: Frame, value: Value): Value {
  return frame.mutable?.has(value) === true ? [] : withoutWrapper(value);
}

/** `a.b.c`: the way that nearly every expression goes. */
function fields(root: Run, keys: readonly string[], qualifiers: readonly Qualifier[]): Run {
  // Names that every object inherits are looked at more closely.
  if (keys.some((key) => key in Object.prototype)) return steps(root, qualifiers);
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return oneField(root, only, qualifiers);
  return (frame) => {
    let value = root(frame);
    if (value instanceof CelError) return value;
    if (value instanceof Optional) return follow(frame, value, qualifiers);
    let taken = 0;
    for (const key of keys) {
      const next = field(value, key);
      taken++;
      if (next === undefined || next instanceof CelError) {
        frame.step(taken);
        return next ?? missing(value, key);
      }
      value = next;
    }
    frame.step(taken);
    return value;
  };
}

function oneField(root: Run, key: string, qualifiers: readonly Qualifier[]): Run {
  return (frame) => {
    const value = root(frame);
    if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      frame.step(1);
      const found = (value as Readonly<Record<string, Value>>)[key];
      return found === undefined ? missing(value, key) : found;
    }
    return value instanceof CelError ? value : follow(frame, value, qualifiers);
  };
}

/** `value.key` for a key that no object inherits. */
function field(value: Value, key: string): Value | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype
    ? (value as Readonly<Record<string, Value>>)[key]
    : qualify(value, key);
}

function steps(root: Run, qualifiers: readonly Qualifier[]): Run {
  return (frame) => {
    const first = root(frame);
    return first instanceof CelError ? first : follow(frame, first, qualifiers);
  };
}

/** Takes the steps one by one. From the first optional one on, what is absent makes the whole an empty optional. */
function follow(frame: Frame, first: Value, qualifiers: readonly Qualifier[]): Value {
  let value = first;
  let optional = false;
  if (first instanceof Optional) {
    if (first.value === undefined) return first;
    value = readFromOptional(frame, first.value);
    if (value instanceof CelError) return value;
    optional = true;
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional;
    const next = optional ? optionalStep(frame, value, qualifier) : step(frame, value, qualifier);
    if (next === undefined) return NONE;
    if (next instanceof CelError) return next;
    value = next;
  }
  return optional ? new Optional(value) : value;
}

function step(frame: Frame, value: Value, { key, test }: Qualifier): Value {
  const name = keyOf(frame, key);
  const found = name instanceof CelError ? name : qualify(value, name);
  frame.step(1);
  if (found instanceof CelError) return found;
  if (test) return found !== undefined;
  return found === undefined ? missing(value, name) : found;
}

/** Steps that lead nowhere are free. */
function optionalStep(frame: Frame, value: Value, { key }: Qualifier): Value | undefined {
  const name = keyOf(frame, key);
  const found = name instanceof CelError ? name : qualify(value, name);
  if (found !== undefined && !(found instanceof CelError)) frame.step(1);
  return found;
}

function keyOf(frame: Frame, key: Qualifier['key']): Value {
  return 'constant' in key ? key.constant : key.run(frame);
}

/** @returns the key, or the error of a value that is none. */
export function checkKey(value: Value, native: boolean): Value {
  if (isKey(value)) return value;
  return new CelError(`invalid qualifier type: ${native ? goNativeTypeName(value) : goTypeName(value)}`);
}

function isKey(value: Value): boolean {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return true;
    default:
      return value instanceof Uint || isBoxedDouble(value);
  }
}
