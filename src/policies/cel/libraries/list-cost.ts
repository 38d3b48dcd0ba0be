/** Costs of the functions that make or compare lists (cel-go ext/lists.go). They count per overload. */
import { goTypeName } from '../go-type-name.ts';
import type { CallFacts } from '../library.ts';
import { EvaluationCancelled } from '../signals.ts';
import { STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import { typeNameOf } from '../type-name.ts';
import { type Value, isIntNumber } from '../values.ts';

/** The call, and the list that it makes: cel-go's `ListCreateBaseCost`. */
const CALL = 1;
const LIST = 10;

/**
 * What one expression may cost at most (vap.md B01). A call that costs more ends the evaluation, so that its result
 * is never looked at and need not be found.
 */
export const EXPRESSION_LIMIT = 1_000_000;

/** Elements compared with each other, whether a list is sorted or made distinct. */
const COMPARISON = 2;

function madeList(work: number): number {
  return Math.trunc(work) + CALL + LIST;
}

/** Whether a list is so long that comparing its elements with each other ends the evaluation. */
export function isTooLongToCompare(list: readonly Value[]): boolean {
  return list.length * list.length * COMPARISON > EXPRESSION_LIMIT;
}

/** By the elements of the result. */
export function resultListCost(overloadId: string) {
  return (facts: CallFacts): number | undefined =>
    facts.overloadId === overloadId ? madeList(actualSize(facts.result)) : undefined;
}

/** By the elements of the list times the levels that are removed. */
export function flattenCost({ overloadId, args: [list = null, depth = 1] }: CallFacts): number | undefined {
  if (overloadId === undefined) return undefined;
  if (typeof depth !== 'bigint' && !(typeof depth === 'number' && isIntNumber(depth))) {
    throw new EvaluationCancelled(
      `internal error: interface conversion: ref.Val is ${goTypeName(depth)}, not types.Int`,
    );
  }
  return madeList(actualSize(list) * Number(depth));
}

/** By the square of a list, which is the first argument or, of keys, the second; strings and bytes count more. */
export function selfCompareCost(index: 0 | 1) {
  return ({ overloadId, args }: CallFacts): number | undefined => {
    if (overloadId === undefined) return undefined;
    const list = args[index] ?? null;
    if (!Array.isArray(list)) throw notLister(list);
    const [first] = list as readonly Value[];
    const isText = typeof first === 'string' || first instanceof Uint8Array;
    return madeList(list.length * list.length * (isText ? COMPARISON + STRING_TRAVERSAL : COMPARISON));
  };
}

/** The cost is counted of what is no list too, and the API server's code does not survive that. */
function notLister(value: Value): EvaluationCancelled {
  const missing = ADDABLE.has(typeNameOf(value)) ? 'Contains' : 'Add';
  return new EvaluationCancelled(
    `internal error: interface conversion: ${goTypeName(value)} is not traits.Lister: missing method ${missing}`,
  );
}

/** Types whose values can be added up, at least. */
const ADDABLE: ReadonlySet<string> = new Set([
  'bytes',
  'double',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'int',
  'string',
  'uint',
]);
