/**
 * A second measure beside the cost. Where cel-go charges little for much work (`==` on large maps, `in` a list that is
 * dyn, a pattern without a length), or its values are cheaper to make than ours, the cost does not bound the time.
 * Effort does: it is counted in about a nanosecond, and an evaluation ends at half a second of it. No expression that
 * the API server answers in its time comes near.
 */
import { EvaluationCancelled } from './signals.ts';
import type { Value } from './values.ts';

/** Text of an overrun of the limit of one expression (cel-go interpreter/runtimecost.go). */
export const LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

const MAX_EFFORT = 500_000_000;
/** Longest text that a function may make: UTF-16 units. */
const MAX_TEXT = 16 * 1024 * 1024;
/** Most elements that a function may put into a list. */
const MAX_ELEMENTS = 4_000_000;

const PER_ELEMENT = 30;
/** Of a map: its keys are listed and looked up. */
const PER_MAP = 1500;
const PER_ENTRY = 400;
/** Units of a text that go by in one. */
const TEXT_SHIFT = 3;

export class Effort {
  #spent = 0;

  /** @throws EvaluationCancelled */
  spend(units: number): void {
    this.#spent += units;
    if (this.#spent > MAX_EFFORT) throw new EvaluationCancelled(LIMIT_EXCEEDED);
  }

  elements(count: number): void {
    this.spend(count * PER_ELEMENT);
  }

  entries(count: number): void {
    this.spend(PER_MAP + count * PER_ENTRY);
  }

  /** Going once over a value, not into it. */
  pass(value: Value): void {
    if (typeof value === 'string') this.spend(value.length >> TEXT_SHIFT);
    else if (Array.isArray(value)) this.elements(value.length);
  }
}

/** @throws EvaluationCancelled before a text is made that is too long. */
export function allowText(units: number): void {
  if (units > MAX_TEXT) throw new EvaluationCancelled(LIMIT_EXCEEDED);
}

/** @throws EvaluationCancelled before a list is made that is too long. */
export function allowElements(count: number): void {
  if (count > MAX_ELEMENTS) throw new EvaluationCancelled(LIMIT_EXCEEDED);
}

/** Of looking for a pattern in a text. */
export function searchEffort([text]: readonly Value[]): number {
  return typeof text === 'string' ? text.length * 50 : 0;
}

/** Of printing values into a text. */
export function printEffort(_args: readonly Value[], result: Value): number {
  return typeof result === 'string' ? result.length * 250 : 0;
}

/** Of sorting a list. */
export function sortEffort([list]: readonly Value[]): number {
  return Array.isArray(list) && list.length > 1 ? list.length * Math.log2(list.length) * 500 : 0;
}
