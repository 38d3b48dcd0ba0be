/** Ranges of costs and sizes as cel-go estimates them: uint64 numbers that stop at the largest. */
import type { CelType } from './cel-type.ts';

export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** Also stands for "unbounded". */
export const UNBOUNDED = 2n ** 64n - 1n;

/** The size of what nothing is known of. */
export const UNKNOWN_SIZE: Range = { min: 0n, max: UNBOUNDED };

export function fixed(value: bigint): Range {
  return { min: value, max: value };
}

function capped(value: bigint): bigint {
  return value > UNBOUNDED ? UNBOUNDED : value;
}

export function addRanges(...ranges: readonly Range[]): Range {
  return ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }));
}

export function multiplyRanges(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** In doubles, and rounded up, as cel-go multiplies by a cost per unit. */
export function scaleRange(range: Range, factor: number): Range {
  return { min: scaled(range.min, factor), max: scaled(range.max, factor) };
}

function scaled(value: bigint, factor: number): bigint {
  return capped(BigInt(Math.ceil(Number(value) * factor)));
}

/** The least range that holds both. */
export function uniteRanges(a: Range, b: Range): Range {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max };
}

/** An argument of a call, or its receiver. */
export interface EstimatedNode {
  readonly type: CelType;
  /** Undefined where it follows from nothing in the expression. */
  readonly size: Range | undefined;
  /** Of an int literal. */
  readonly literal?: bigint;
}

export interface EstimatedCall {
  readonly overloadId: string;
  readonly target: EstimatedNode | undefined;
  /** Without the receiver. */
  readonly args: readonly EstimatedNode[];
  /** What is assumed of sizes of which nothing is known. Default: that nothing is. */
  readonly unknownSize?: Range | undefined;
}

export interface CallEstimate {
  /** Of the call alone. */
  readonly cost: Range;
  /** Of strings, bytes, lists and maps that the call makes, where it is known. */
  readonly resultSize?: Range;
}

/** @returns undefined where the rule has nothing to say: cel-go's own estimate counts then. */
export type EstimateRule = (call: EstimatedCall) => CallEstimate | undefined;

export function sizeOf(node: EstimatedNode): Range {
  return node.size ?? UNKNOWN_SIZE;
}
