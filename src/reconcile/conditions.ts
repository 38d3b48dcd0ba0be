/** Conditions of a Pacto (operator.md §7.1). */
import type { Condition } from './api/pacto.ts';
import { shortText } from './short-text.ts';

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
      message: shortText(condition.message, MESSAGE_LENGTH),
      observedGeneration: generation,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : at,
    };
  });
  const left = before.filter(({ type }) => kept.includes(type) && !now.some((one) => one.type === type));
  return [...next, ...left].sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
}

const ORDER: readonly Condition['type'][] = ['ContractValid', 'ReadinessSatisfied', 'RuntimeObserved'];

interface Service {
  readonly name: string;
  readonly version: string;
}

export function contractParsed({ name, version }: Service): NewCondition {
  const message = `Contract ${name} v${version} is valid`;
  return { type: 'ContractValid', status: 'True', reason: 'Parsed', message };
}

export function referenceParsed({ name, version }: Service): NewCondition {
  const message = `Reference contract ${name} v${version} is valid`;
  return { type: 'ContractValid', status: 'True', reason: 'ReferenceOnly', message };
}

/** What was obtained is no contract. */
export function contractInvalid(message: string): NewCondition {
  return { type: 'ContractValid', status: 'False', reason: 'Invalid', message };
}

/** There is no contract to look at. */
export function contractUnavailable(message: string): NewCondition {
  return { type: 'ContractValid', status: 'Unknown', reason: 'Unavailable', message };
}

/** @param failure why the target itself could not be read (operator.md §20, T13). */
export function runtimeObserved(failure: string | undefined): NewCondition {
  const type = 'RuntimeObserved';
  if (failure === undefined)
    return { type, status: 'True', reason: 'Found', message: 'Runtime evidence collected successfully' };
  const message = `Runtime observation failed: ${failure}`;
  return { type, status: 'False', reason: 'ObservationFailed', message };
}
