import type { CallFacts, Library } from '../../../../src/policies/cel/library.ts';
import {
  CelError,
  Duration,
  Opaque,
  Timestamp,
  Uint,
  type Value,
  isBoxedDouble,
} from '../../../../src/policies/cel/values.ts';

/** Calls an overload of a library by its id. */
export function callOverload(library: Library, id: string, ...args: readonly Value[]): Value {
  return find(library, id).overload.impl(...args);
}

/** What a call of an overload costs; 1 where its function has no rule for it. */
export function costOfOverload(library: Library, facts: CallFacts & { readonly overloadId: string }): number {
  return find(library, facts.overloadId).definition.cost?.(facts) ?? 1;
}

function find(library: Library, id: string) {
  for (const definition of library.functions) {
    const overload = definition.overloads.find((candidate) => candidate.id === id);
    if (overload !== undefined) return { definition, overload };
  }
  throw new Error(`${library.name} has no overload ${id}`);
}

/** A value as a test compares it: errors with a mark, numbers with their type. */
export function shown(value: Value): unknown {
  if (value instanceof CelError) return `error: ${value.message}`;
  if (value instanceof Uint) return `${String(value.value)}u`;
  if (value instanceof Duration) return `${String(value.nanoseconds)}ns`;
  if (value instanceof Timestamp)
    return `${String(value.nanoseconds)}ns${value.offsetMinutes === 0 ? '' : ` ${String(value.offsetMinutes)}m`}`;
  if (isBoxedDouble(value)) return `double ${String(value)}`;
  return value;
}

/** The canonical text of a value that a library prints: an address, a quantity, … */
export function printed(value: Value): string {
  if (!(value instanceof Opaque)) throw new Error(`not printed: ${JSON.stringify(shown(value))}`);
  // oxlint-disable-next-line typescript/no-base-to-string -- libraries print their values themselves
  return String(value);
}
