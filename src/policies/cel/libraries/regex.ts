/** Kubernetes' library of regular expressions: `find` and `findAll`. */
import { INT, STRING, listOf } from '../cel-type.ts';
import { searchEffort } from '../effort.ts';
import type { Library } from '../library.ts';
import { CelError, type Value } from '../values.ts';
import { member } from './declare.ts';
import { plainValue } from './go-value.ts';
import { type Pattern, Patterns, compilePattern } from './patterns.ts';
import { patternCost } from './standard-strings.ts';

type Search = (pattern: Pattern, text: string, limit: number) => Value;

const find: Search = (pattern, text) => pattern.find(text);
const findAll: Search = (pattern, text, limit) => pattern.findAll(text, limit);

function bind(search: Search) {
  return (source: string): ((...args: readonly Value[]) => Value) | CelError => {
    const pattern = compilePattern(source);
    if (pattern instanceof CelError) return pattern;
    return (given = null, _source, most = -1) => {
      const text = plainValue(given);
      const limit = plainValue(most);
      if (typeof text !== 'string' || !isInt(limit)) return new CelError('no such overload');
      return search(pattern, text, Number(limit));
    };
  };
}

function isInt(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** @returns the library; patterns that are not constants stay compiled as long as it lives. */
export function regexLibrary(): Library {
  const patterns = new Patterns();
  const searching =
    (search: Search) =>
    (text: string, source: string, limit: number | bigint = -1): Value => {
      const pattern = patterns.get(source);
      if (pattern instanceof CelError) return new CelError(`Illegal regex: ${pattern.message}`);
      return search(pattern, text, Number(limit));
    };
  return {
    name: 'kubernetes.regex',
    since: 0,
    functions: [
      {
        name: 'find',
        cost: (facts) => patternCost(facts),
        effort: searchEffort,
        overloads: [member('string_find_string', [STRING, STRING], STRING, searching(find))],
        constantRegex: { index: 1, bind: bind(find) },
      },
      {
        name: 'findAll',
        cost: (facts) => patternCost(facts),
        effort: searchEffort,
        overloads: [
          member('string_find_all_string', [STRING, STRING], listOf(STRING), searching(findAll)),
          member('string_find_all_string_int', [STRING, STRING, INT], listOf(STRING), searching(findAll)),
        ],
        constantRegex: { index: 1, bind: bind(findAll) },
      },
    ],
  };
}
