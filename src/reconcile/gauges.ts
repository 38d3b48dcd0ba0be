/** What the gauges say of a Pacto, from its status alone: any process that reads it says the same. */
import type { PactoFacts } from '../metrics-pactos.ts';
import type { Pacto } from './api/pacto.ts';

export function gaugeFacts({ namespace, name, status }: Pacto): PactoFacts {
  return { namespace, name, status: status.contractStatus, readiness: readinessFacts(status) };
}

function readinessFacts({ readiness }: Pacto['status']): PactoFacts['readiness'] {
  if (readiness === undefined) return undefined;
  const { score, passing, expired, doneCount, partialCount, notDoneCount, deferredCount } = readiness;
  return {
    score: numberOf(score),
    passing: passing === true,
    state: expired === true ? 'Expired' : passing === true ? 'Satisfied' : 'BelowMinScore',
    checks: {
      done: numberOf(doneCount),
      partial: numberOf(partialCount),
      'not-done': numberOf(notDoneCount),
      deferred: numberOf(deferredCount),
    },
  };
}

/** Somebody else may have written the status. */
function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
