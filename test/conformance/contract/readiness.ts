import type { Readiness } from '../../../src/policies/contract/contract.ts';
import { type ReadinessResult, assessReadiness } from '../../../src/policies/contract/readiness.ts';
import type { Comparer, ContractCase } from './case.ts';
import { fieldDifferences } from './fields.ts';

export const comparers: Readonly<Record<string, Comparer>> = {
  readiness({ input, answer }: ContractCase): readonly string[] {
    const { readiness, now } = input as { readiness: Partial<Readiness> | null; now: string };
    const result = assessReadiness(
      readiness === null ? undefined : { expires: '', claims: [], history: [], ...readiness },
      new Date(now),
    );
    return fieldDifferences(withState(answer), result === undefined ? {} : recordedShape(result));
  },
};

/** The recording has no word for the state of the gate: contract.md §8.4 gives it. */
function withState(answer: ContractCase['answer']): Readonly<Record<string, unknown>> {
  if (answer === null) return {};
  return {
    ...answer,
    state: answer['passing'] ? 'Satisfied' : answer['expired'] ? 'Expired' : 'BelowMinScore',
  };
}

/** The result in the recording's words (test/golden/contract/README.md). */
function recordedShape(result: ReadinessResult): Readonly<Record<string, unknown>> {
  const { claims, daysRemaining = null, ...rest } = result;
  const checks = claims.map((claim) => Object.assign({ category: '', description: '' }, claim));
  return { ...rest, daysRemaining, checks };
}
