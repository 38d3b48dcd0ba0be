/** Literals of lists and maps. Those of constants only are made when the program is built, and cost nothing. */
import type { Literal } from './ast.ts';
import { type Plan, PlanFailure, type Run, constantPlan } from './plan.ts';
import { LIST_COST } from './plan-macros.ts';
import { goText } from './libraries/go-value.ts';
import { requireHashable } from './qualify.ts';
import { CelError, CelMap, Optional, Uint, type Value, doubleOf, intOf } from './values.ts';

const MAP_COST = 30;

export function literalValue(literal: Literal): Value {
  switch (literal.type) {
    case 'int':
      return intOf(literal.value);
    case 'uint':
      return new Uint(literal.value);
    case 'double':
      return doubleOf(literal.value);
    case 'null':
      return null;
    default:
      return literal.value;
  }
}

export interface ElementPlan {
  readonly plan: Plan;
  /** `?`: left out where its optional is empty. */
  readonly optional: boolean;
}

export function listLiteralPlan(elements: readonly ElementPlan[]): Plan {
  const constants = elements.map(({ plan }) => plan.constant);
  if (constants.every((constant) => constant !== undefined) && !elements.some(isOptional)) {
    return constantPlan(constants);
  }
  const runs = elements.map(({ plan }) => plan.run);
  if (!elements.some(isOptional)) return plainList(runs);
  return {
    run: (frame) => {
      const list: Value[] = [];
      let error: CelError | undefined;
      for (const { plan, optional } of elements) {
        const value = plan.run(frame);
        error = value instanceof CelError ? value : optional ? addOptional(list, value) : undefined;
        if (error !== undefined) break;
        if (!optional) list.push(value);
      }
      frame.charge(LIST_COST);
      return error ?? list;
    },
  };
}

function isOptional({ optional }: { readonly optional: boolean }): boolean {
  return optional;
}

function plainList(runs: readonly Run[]): Plan {
  return {
    run: (frame) => {
      const list: Value[] = [];
      for (const run of runs) {
        const value = run(frame);
        if (value instanceof CelError) {
          frame.charge(LIST_COST);
          return value;
        }
        list.push(value);
      }
      frame.charge(LIST_COST);
      return list;
    },
  };
}

function addOptional(list: Value[], value: Value): CelError | undefined {
  if (!(value instanceof Optional)) {
    return new CelError(`cannot initialize optional list element from non-optional value ${goText(value)}`);
  }
  if (value.value !== undefined) list.push(value.value);
  return undefined;
}

export interface EntryPlan {
  readonly key: Plan;
  readonly value: Plan;
  readonly optional: boolean;
}

export function mapLiteralPlan(entries: readonly EntryPlan[]): Plan {
  const constant = constantMap(entries);
  if (constant !== undefined) return constantPlan(constant);
  return {
    run: (frame) => {
      const made: (readonly [Value, Value])[] = [];
      let error: CelError | undefined;
      for (const entry of entries) {
        const key = entry.key.run(frame);
        const value = key instanceof CelError ? key : entry.value.run(frame);
        error = value instanceof CelError ? value : addEntry(made, key, value, entry.optional);
        if (error !== undefined) break;
      }
      frame.charge(MAP_COST);
      return error ?? new CelMap(made);
    },
  };
}

function addEntry(
  made: (readonly [Value, Value])[],
  key: Value,
  value: Value,
  optional: boolean,
): CelError | undefined {
  requireHashable(key);
  if (!optional) {
    made.push([key, value]);
    return undefined;
  }
  if (!(value instanceof Optional)) {
    return new CelError(
      `cannot initialize optional entry '${goText(key)}' from non-optional value ${goText(value)}`,
    );
  }
  if (value.value !== undefined) {
    made.push([key, value.value]);
    return undefined;
  }
  // An empty optional takes away what the same key had before.
  const others = made.filter(([known]) => !new CelMap([[known, null]]).has(key));
  made.splice(0, made.length, ...others);
  return undefined;
}

function constantMap(entries: readonly EntryPlan[]): CelMap | undefined {
  const pairs: (readonly [Value, Value])[] = [];
  for (const { key, value, optional } of entries) {
    if (key.constant === undefined || value.constant === undefined || optional) return undefined;
    // Of constants, only bytes have no hash.
    if (key.constant instanceof Uint8Array) {
      throw new PlanFailure('panic', 'runtime error: hash of unhashable type types.Bytes');
    }
    pairs.push([key.constant, value.constant]);
  }
  return new CelMap(pairs);
}
