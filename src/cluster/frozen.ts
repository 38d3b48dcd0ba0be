/** Copies that nobody can change: how memory.ts keeps and hands out objects without copying at each read. */
import { types } from 'node:util';

/**
 * A deep, frozen copy, as JSON would carry it: members that are undefined are left out. Keys such as `__proto__` are
 * data. A part that was frozen by this function before is shared, not copied again.
 */
export function frozenCopy<T>(value: T, known: WeakSet<object>): T {
  return copy(value, known) as T;
}

function copy(value: unknown, known: WeakSet<object>): unknown {
  if (typeof value !== 'object' || value === null || known.has(value)) return value;
  if (types.isNumberObject(value)) return Object.freeze(Object(Number(value)));
  const made = Array.isArray(value) ? value.map((item) => copy(item, known)) : copyOfMembers(value, known);
  known.add(made);
  return Object.freeze(made);
}

function copyOfMembers(value: object, known: WeakSet<object>): object {
  const made: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (key === '__proto__') {
      Object.defineProperty(made, key, {
        value: copy(member, known),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    } else {
      made[key] = copy(member, known);
    }
  }
  return made;
}
