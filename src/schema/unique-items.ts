/**
 * `uniqueItems` in time linear to the list: ajv compares each item with each, which takes minutes for 20,000 objects
 * (platform.md §5).
 */
import type { Json } from './answer.ts';

export function areUnique(items: readonly Json[]): boolean {
  const seen = new Set<unknown>();
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

/** Texts begin with a quote, so that none is taken for a written-out list or object. */
function keyOf(item: Json): unknown {
  if (typeof item === 'string') return `"${item}`;
  return typeof item === 'object' && item !== null ? canonical(item) : item;
}

/** One text for all values that JSON Schema calls equal. Recursion is bound by the depth that an instance may have. */
function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value === 0 ? 0 : value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonical).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`;
}
