/** What the macros of two variables add to a map with (cel-go ext/comprehensions.go). */
import { mapOf, param } from '../cel-type.ts';
import type { Library } from '../library.ts';
import { goText } from './go-value.ts';
import { CelError, CelMap, type JsonMap, type Value } from '../values.ts';
import { define, global } from './declare.ts';

const K = param('K');
const V = param('V');
const MAP = mapOf(K, V);

/** Entries of a map of either kind. */
export function entriesOf(map: CelMap | JsonMap): Iterable<readonly [key: Value, value: Value]> {
  return map instanceof CelMap ? map.entries() : Object.entries(map);
}

/** Adds entries to a map that is being built. @returns the error of a key that is there already. */
export function insertInto(
  map: CelMap,
  added: Iterable<readonly [key: Value, value: Value]>,
): CelError | undefined {
  for (const [key, value] of added) {
    if (!map.insert(key, value)) return new CelError(`insert failed: key ${goText(key)} already exists`);
  }
  return undefined;
}

function insert(map: CelMap | JsonMap, added: Iterable<readonly [key: Value, value: Value]>): Value {
  const result = new CelMap(entriesOf(map));
  return insertInto(result, added) ?? result;
}

export const comprehensionsLibrary: Library = {
  name: 'cel.lib.ext.comprev2',
  since: 32,
  functions: [
    define('cel.@mapInsert', undefined, [
      global(
        '@mapInsert_map_key_value',
        [MAP, K, V],
        MAP,
        (map: CelMap | JsonMap, key: Value, value: Value) => insert(map, [[key, value]]),
      ),
      global('@mapInsert_map_map', [MAP, MAP], MAP, (map: CelMap | JsonMap, added: CelMap | JsonMap) =>
        insert(map, entriesOf(added)),
      ),
    ]),
  ],
};
