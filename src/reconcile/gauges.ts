/** What the gauges say of a Pacto, from its status alone: any process that reads it says the same. */
import type { PactoFacts } from '../metrics-pactos.ts';
import type { Pacto, StatusReadiness } from './api/pacto.ts';

export function gaugeFacts({ namespace, name, status }: Pacto): PactoFacts {
  return { namespace, name, status: status.contractStatus, readiness: readinessFacts(status) };
}

function readinessFacts(status: Pacto['status']): PactoFacts['readiness'] {
  const readiness: unknown = status.readiness;
  if (typeof readiness !== 'object' || readiness === null || Array.isArray(readiness)) return undefined;
  const { score, passing, expired, doneCount, partialCount, notDoneCount, deferredCount } =
    readiness as StatusReadiness;
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
