/** Whether a look came to something new: what need not be written is not. */
import { isDeepStrictEqual } from 'node:util';
import type { PactoStatus } from './api/pacto.ts';

/**
 * Times of looking aside: `lastReconciledAt`, and `observedAt`, which each finding repeats. An empty list is as good as none
 * (operator.md §1.1.2), and the order of keys is nobody's business.
 */
export function isSameStatus(before: PactoStatus, now: PactoStatus): boolean {
  return isDeepStrictEqual(comparable(before), comparable(now));
}

function comparable({ lastReconciledAt: _at, ...status }: PactoStatus): unknown {
  return JSON.parse(
    JSON.stringify(status, (key, value: unknown) => {
      if (key === 'observedAt') return undefined;
      return Array.isArray(value) && value.length === 0 ? undefined : value;
    }),
  );
}
