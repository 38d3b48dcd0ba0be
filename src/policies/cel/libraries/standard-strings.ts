/** Tests on strings of the standard library. */
import { BOOL, STRING } from '../cel-type.ts';
import { searchEffort } from '../effort.ts';
import type { CallFacts, FunctionDefinition, Library } from '../library.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL, actualSize, standardSize, stringCost } from '../sizes.ts';
import { CelError, type Value } from '../values.ts';
import { global, member } from './declare.ts';
import { plainValue } from './go-value.ts';
import { Patterns, compilePattern } from './patterns.ts';

const PARAMETERS = [STRING, STRING];

/** cel-go looks at the types within the function, not before it. */
function test(
  name: string,
  id: string,
  cost: NonNullable<FunctionDefinition['cost']>,
  isTrue: (text: string, part: string) => boolean,
): FunctionDefinition {
  const impl = (text: Value, part: Value): Value =>
    typeof text === 'string' && typeof part === 'string' ? isTrue(text, part) : noSuchOverload();
  return { name, cost, unguarded: true, overloads: [member(id, PARAMETERS, BOOL, impl)] };
}

function noSuchOverload(): CelError {
  return new CelError('no such overload');
}

function receiverCost({ args }: CallFacts): number {
  return stringCost(args[0] ?? null);
}

function containsCost({ args }: CallFacts): number {
  return stringCost(args[0] ?? null) * stringCost(args[1] ?? null);
}

/** Of a search of the first argument for the pattern that the second is. An empty text is no reason for it to be free. */
export function patternCost({ args }: CallFacts, sizeOf = actualSize): number {
  const text = Math.ceil((1 + sizeOf(args[0] ?? null)) * STRING_TRAVERSAL);
  return text * Math.ceil(sizeOf(args[1] ?? null) * REGEX_LENGTH);
}

/** @returns the library; patterns that are not constants stay compiled as long as it lives. */
export function standardStrings(): Library {
  const patterns = new Patterns();
  const matches = (text: Value, source: Value): Value => {
    if (typeof text !== 'string' || typeof source !== 'string') return noSuchOverload();
    const pattern = patterns.get(source);
    return pattern instanceof CelError ? pattern : pattern.test(text);
  };
  return {
    name: 'standard strings',
    since: 0,
    functions: [
      test('contains', 'contains_string', containsCost, (text, part) => text.includes(part)),
      test('endsWith', 'ends_with_string', receiverCost, (text, part) => text.endsWith(part)),
      test('startsWith', 'starts_with_string', receiverCost, (text, part) => text.startsWith(part)),
      {
        name: 'matches',
        // Only the overload with a receiver is known to be more than an ordinary call.
        cost: (facts) => (facts.overloadId === 'matches' ? undefined : patternCost(facts, standardSize)),
        effort: searchEffort,
        overloads: [
          global('matches', PARAMETERS, BOOL, matches),
          member('matches_string', PARAMETERS, BOOL, matches),
        ],
        singleton: (first) => typeof first === 'string',
        constantRegex: { index: 1, bind: bindMatches },
      },
    ],
  };
}

function bindMatches(source: string): ((text: Value) => Value) | CelError {
  const pattern = compilePattern(source);
  if (pattern instanceof CelError) return pattern;
  return (given) => {
    const text = plainValue(given);
    return typeof text === 'string' ? pattern.test(text) : noSuchOverload();
  };
}
