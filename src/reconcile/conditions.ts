/** Conditions of a Pacto (operator.md §7.1). */
import type { Condition } from './api/pacto.ts';

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition may hold 32 KiB; nobody reads so much. */
const MESSAGE_LENGTH = 4_096;

/**
 * Conditions as they are from now on: one that keeps its status keeps its time. What is not among `now` is gone, but for the
 * types in `kept`, of which nothing is known this time (operator.md §20, T5).
 */
export function nextConditions(
  before: readonly Condition[],
  now: readonly NewCondition[],
  {
    generation,
    at,
    kept = [],
  }: { readonly generation: number; readonly at: string; readonly kept?: readonly Condition['type'][] },
): readonly Condition[] {
  const next = now.map((condition): Condition => {
    const { type, status, reason } = condition;
    const old = before.find((one) => one.type === type);
    return {
      type,
      status,
      reason,
      message: condition.message.slice(0, MESSAGE_LENGTH),
      observedGeneration: generation,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : at,
    };
  });
  const left = before.filter(({ type }) => kept.includes(type) && !now.some((one) => one.type === type));
  return [...next, ...left].sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
}

const ORDER: readonly Condition['type'][] = ['ContractValid', 'ReadinessSatisfied', 'RuntimeObserved'];
