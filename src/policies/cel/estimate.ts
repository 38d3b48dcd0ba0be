/**
 * Static cost of an expression (cel-go checker/cost.go with Kubernetes' estimator): least and greatest, 2^64-1 where
 * nothing bounds it. What policies pay at run time does not depend on it.
 */
import type { Literal } from './ast.ts';
import type { CelType } from './cel-type.ts';
import type { Checked } from './checker.ts';
import type { CallEstimate, EstimatedCall, EstimatedNode, Range } from './estimate-range.ts';
import {
  UNBOUNDED,
  UNKNOWN_SIZE,
  addRanges,
  fixed,
  multiplyRanges,
  scaleRange,
  sizeOf,
  uniteRanges,
} from './estimate-range.ts';
import { ACCUMULATOR, type CostNode, type EntrySize, costTree } from './estimate-tree.ts';
import { FUNCTION_ESTIMATES } from './libraries/kubernetes-estimates.ts';
import { OVERLOAD_ESTIMATES } from './libraries/list-estimates.ts';
import { STRING_FUNCTION_ESTIMATES, STRING_OVERLOAD_DEFAULTS } from './libraries/string-estimates.ts';
import { STRING_TRAVERSAL, codePointCount } from './sizes.ts';

const FREE = fixed(0n);
const ONE = fixed(1n);
const LIST = fixed(10n);
const MAP = fixed(30n);
const STRUCT = fixed(40n);

/** Where no element has been looked at yet. */
const NONE: Range = { min: UNBOUNDED, max: 0n };

/** @param assumed the greatest size of each text, list and map of which nothing is known; undefined: no hint at all */
export function estimateCost(checked: Checked, assumed?: bigint): Range {
  return new Estimator(assumed).cost(costTree(checked));
}

interface LocalVariable {
  readonly size: Range | undefined;
  readonly entrySize: EntrySize | undefined;
}

type Shaped<Kind extends CostNode['shape']['kind']> = Extract<CostNode['shape'], { readonly kind: Kind }>;

class Estimator {
  readonly #locals = new Map<string, LocalVariable[]>();
  readonly #assumed: Range | undefined;

  constructor(assumed: bigint | undefined) {
    this.#assumed = assumed === undefined ? undefined : { min: 0n, max: assumed };
  }

  cost(node: CostNode): Range {
    node.cost ??= this.#costOf(node);
    return node.cost;
  }

  #costOf(node: CostNode): Range {
    const { shape } = node;
    switch (shape.kind) {
      case 'literal':
        return FREE;
      case 'ident':
        return ONE;
      case 'test':
        return this.cost(shape.operand);
      case 'select':
        return addRanges(this.cost(shape.operand), isFielded(shape.operand.type) ? ONE : FREE);
      case 'call':
        return this.#callCost(node, shape);
      case 'list':
        return this.#listCost(node, shape.elements);
      case 'map':
        return this.#mapCost(node, shape.entries);
      case 'struct':
        return addRanges(STRUCT, ...shape.values.map((value) => this.cost(value)));
      case 'loop':
        return this.#loopCost(node, shape);
      default:
        return this.#bindCost(node, shape);
    }
  }

  #listCost(node: CostNode, elements: readonly CostNode[]): Range {
    let sum = LIST;
    let size = elements.length === 0 ? FREE : NONE;
    for (const element of elements) {
      sum = addRanges(sum, this.cost(element));
      size = uniteRanges(size, this.#sizeOrUnknown(element));
    }
    node.entrySize = { isList: true, key: ONE, value: size };
    return sum;
  }

  #mapCost(node: CostNode, entries: Shaped<'map'>['entries']): Range {
    let sum = MAP;
    let keySize = entries.length === 0 ? FREE : NONE;
    let valueSize = keySize;
    for (const [key, value] of entries) {
      sum = addRanges(sum, this.cost(key), this.cost(value));
      keySize = uniteRanges(keySize, this.#sizeOrUnknown(key));
      valueSize = uniteRanges(valueSize, this.#sizeOrUnknown(value));
    }
    node.entrySize = { isList: false, key: keySize, value: valueSize };
    return sum;
  }

  #loopCost(node: CostNode, loop: Shaped<'loop'>): Range {
    const begin = addRanges(this.cost(loop.range), this.cost(loop.initial));
    this.#push(ACCUMULATOR, { size: this.#size(loop.initial), entrySize: this.#entrySize(loop.initial) });
    this.#pushVariables(loop);
    const round = addRanges(this.cost(loop.condition), this.cost(loop.step));
    for (const variable of loop.variables) this.#pop(variable);
    const end = this.cost(loop.result);
    this.#pop(ACCUMULATOR);
    const rounds = this.#sizeOrUnknown(loop.range);
    const initialKind = loop.initial.shape.kind;
    if (initialKind === 'literal') this.#setSize(node, this.#size(loop.initial));
    else {
      node.size = rounds;
      this.#setEntrySize(node, this.#entrySize(loop.step));
    }
    return addRanges(begin, end, multiplyRanges(rounds, round));
  }

  #pushVariables({ range, variables }: Shaped<'loop'>): void {
    const entries = this.#entrySize(range);
    const isList = entries?.isList ?? range.type.kind === 'list';
    const [first, second] = variables;
    const single = second === undefined && isList;
    this.#push(first ?? '', { size: single ? entries?.value : entries?.key, entrySize: undefined });
    if (second !== undefined) this.#push(second, { size: entries?.value, entrySize: undefined });
  }

  #bindCost(node: CostNode, { name, value, result }: Shaped<'bind'>): Range {
    // The empty list that the loop goes over is paid for.
    const begin = addRanges(LIST, this.cost(value));
    this.#push(name, { size: this.#size(value), entrySize: this.#entrySize(value) });
    const sum = addRanges(begin, this.cost(result));
    this.#pop(name);
    this.#setSize(node, this.#size(result));
    this.#setEntrySize(node, this.#entrySize(result));
    return sum;
  }

  #callCost(node: CostNode, call: Shaped<'call'>): Range {
    const [first] = call.args;
    if (call.function === 'dyn' && first !== undefined) {
      const cost = addRanges(ONE, this.cost(first));
      this.#setSize(node, this.#size(first));
      this.#setEntrySize(node, this.#entrySize(first));
      return cost;
    }
    const argCosts = call.args.map((arg) => this.cost(arg));
    const args = call.args.map((arg) => this.#estimated(arg));
    if (call.overloads.length === 0) return FREE;
    const targetCost = call.target === undefined ? FREE : this.cost(call.target);
    const target = call.target && this.#estimated(call.target);
    let cost = NONE;
    let resultSize: Range | undefined;
    for (const overloadId of call.overloads) {
      const facts = { overloadId, target, args, unknownSize: this.#assumed };
      const estimate = this.#overloadCost(node, call, facts, argCosts);
      cost = uniteRanges(cost, estimate.cost);
      const size = estimate.resultSize;
      if (size !== undefined) resultSize = resultSize === undefined ? size : uniteRanges(resultSize, size);
      if (first !== undefined && (overloadId === 'index_list' || overloadId === 'index_map')) {
        resultSize = this.#entrySize(first)?.value;
      }
      resultSize ??= this.#size(node);
    }
    this.#setSize(node, resultSize);
    return addRanges(targetCost, cost);
  }

  /** With the arguments, of which `&&`, `||` and `?:` do not need all. */
  #overloadCost(
    node: CostNode,
    call: Shaped<'call'>,
    facts: EstimatedCall,
    argCosts: readonly Range[],
  ): CallEstimate {
    const { overloadId } = facts;
    const estimate =
      OVERLOAD_ESTIMATES.get(overloadId)?.(facts) ??
      FUNCTION_ESTIMATES.get(call.function)?.(facts) ??
      STRING_FUNCTION_ESTIMATES.get(call.function)?.(facts) ??
      STRING_OVERLOAD_DEFAULTS.get(overloadId)?.(facts);
    if (estimate !== undefined) return { ...estimate, cost: addRanges(estimate.cost, ...argCosts) };
    return this.#operatorCost(node, call, facts.args, overloadId, argCosts);
  }

  #operatorCost(
    node: CostNode,
    call: Shaped<'call'>,
    args: readonly EstimatedNode[],
    overloadId: string,
    argCosts: readonly Range[],
  ): CallEstimate {
    const [first, second] = args;
    const paid = (cost: Range): Range => addRanges(cost, ...argCosts);
    if (first === undefined || second === undefined) return { cost: paid(ONE) };
    switch (overloadId) {
      case 'in_list':
        return { cost: paid(scaleRange(sizeOf(second), 1)) };
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: argCosts[0]?.min ?? 0n, max: addRanges(FREE, ...argCosts).max } };
      case 'conditional':
        return this.#conditional(node, call.args, argCosts);
      case 'add_list':
      case 'add_string':
      case 'add_bytes': {
        const resultSize = addRanges(sizeOf(first), sizeOf(second));
        this.#setEntrySize(node, this.#unitedEntrySize(call.args[0], call.args[1]));
        const cost = overloadId === 'add_list' ? ONE : scaleRange(resultSize, STRING_TRAVERSAL);
        return { cost: paid(cost), resultSize };
      }
      default:
        if (!COMPARISON.test(overloadId)) return { cost: paid(ONE) };
        return { cost: paid(comparisonCost(sizeOf(first).max, sizeOf(second).max)) };
    }
  }

  #conditional(node: CostNode, args: readonly CostNode[], argCosts: readonly Range[]): CallEstimate {
    const [condition = FREE, whenTrue = FREE, whenFalse = FREE] = argCosts;
    const [, first, second] = args;
    this.#setEntrySize(node, this.#unitedEntrySize(first, second));
    const resultSize = uniteRanges(this.#sizeOrUnknown(first), this.#sizeOrUnknown(second));
    return { cost: addRanges(condition, uniteRanges(whenTrue, whenFalse)), resultSize };
  }

  #estimated(node: CostNode): EstimatedNode {
    const { shape, type } = node;
    const size = this.#size(node);
    if (shape.kind !== 'literal' || shape.literal.type !== 'int') return { type, size };
    return { type, size, literal: shape.literal.value };
  }

  #push(name: string, variable: LocalVariable): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [variable]);
    else stack.push(variable);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #local(node: CostNode): LocalVariable | undefined {
    return node.shape.kind === 'ident' ? this.#locals.get(node.shape.name)?.at(-1) : undefined;
  }

  #sizeOrUnknown(node: CostNode | undefined): Range {
    return (node && this.#size(node)) ?? UNKNOWN_SIZE;
  }

  #size(node: CostNode): Range | undefined {
    const known = node.size ?? sizeOfShape(node);
    return known ?? (isScalar(node.type) ? ONE : (this.#local(node)?.size ?? this.#assumed));
  }

  #setSize(node: CostNode, size: Range | undefined): void {
    if (size !== undefined) node.size = size;
  }

  #entrySize(node: CostNode): EntrySize | undefined {
    return node.entrySize ?? this.#local(node)?.entrySize;
  }

  #setEntrySize(node: CostNode, size: EntrySize | undefined): void {
    if (size !== undefined) node.entrySize = size;
  }

  #unitedEntrySize(a: CostNode | undefined, b: CostNode | undefined): EntrySize | undefined {
    const first = a && this.#entrySize(a);
    const second = b && this.#entrySize(b);
    if (first === undefined || second === undefined) return undefined;
    const key = uniteRanges(first.key, second.key);
    return { isList: first.isList, key, value: uniteRanges(first.value, second.value) };
  }
}

/** Of strings and bytes, and equality of anything. */
const COMPARISON = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

/** The shorter side is read, if it is not known to be empty. */
function comparisonCost(left: bigint, right: bigint): Range {
  const max = left < right ? left : right;
  return scaleRange({ min: max > 0n ? 1n : 0n, max }, STRING_TRAVERSAL);
}

/** Types whose fields cost something: dyn is not among them. */
function isFielded(type: CelType): boolean {
  return (
    type.kind === 'map' ||
    type.kind === 'struct' ||
    (type.kind === 'opaque' && type.name.startsWith('kubernetes.'))
  );
}

function isScalar(type: CelType): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true;
    case 'wrapper':
      return isScalar(type.of);
    case 'optional':
      return isScalar(type.value);
    default:
      return false;
  }
}

function sizeOfShape({ shape }: CostNode): Range | undefined {
  switch (shape.kind) {
    case 'literal':
      return fixed(BigInt(literalSize(shape.literal)));
    case 'list':
      return fixed(BigInt(shape.elements.length));
    case 'map':
      return fixed(BigInt(shape.entries.length));
    default:
      return undefined;
  }
}

function literalSize(literal: Literal): number {
  if (literal.type === 'string') return codePointCount(literal.value);
  return literal.type === 'bytes' ? literal.value.length : 1;
}
