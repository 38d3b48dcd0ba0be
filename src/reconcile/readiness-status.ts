/** The readiness of a contract in its status, as a condition and as events (operator.md §7.1, §7.2, §7.4). */
import type { Contract, Readiness } from '../policies/contract/contract.ts';
import { assessReadiness, type AssessedClaim, type ReadinessResult } from '../policies/contract/readiness.ts';
import type { Condition, StatusReadiness } from './api/pacto.ts';
import type { NewCondition } from './conditions.ts';
import type { PlannedEvent } from './pass.ts';
import { shortText } from './short-text.ts';

const DAY_MS = 86_400_000;
/** Of claims and of revisions that a status shows. */
const ENTRIES = 200;
const TEXT_LENGTH = 2_048;

export interface AssessedReadiness {
  readonly readiness: StatusReadiness;
  readonly condition: NewCondition;
  /** When it changes by time alone, wall clock: each midnight until it has expired. */
  readonly nextChangeMs: number | undefined;
}

/** @returns undefined where nothing is claimed. */
export function readinessOf({ readiness }: Contract, nowMs: number): AssessedReadiness | undefined {
  const result = assessReadiness(readiness, new Date(nowMs));
  if (readiness === undefined || result === undefined) return undefined;
  return {
    readiness: shown(result, readiness),
    condition: conditionOf(result),
    nextChangeMs: result.expired ? undefined : (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS,
  };
}

/** What is false or nothing is not there, as Go leaves it out. */
function shown(result: ReadinessResult, { history }: Readiness): StatusReadiness {
  const { score, minScore, passing, totalWeight, earnedWeight, expires, expired, daysRemaining } = result;
  const { doneCount, partialCount, notDoneCount, deferredCount, claims } = result;
  return {
    ...counts({ score, minScore, totalWeight, earnedWeight }),
    ...(passing && { passing }),
    ...(expires !== '' && { expires }),
    ...(expired && { expired }),
    ...(daysRemaining !== undefined && { daysRemaining }),
    ...counts({ doneCount, partialCount, notDoneCount, deferredCount }),
    claims: claims.slice(0, ENTRIES).map(claimOf),
    ...(history.length > 0 && {
      revisions: history.slice(0, ENTRIES).map(({ date, version, author, description }) => ({
        date,
        version: shortText(version, TEXT_LENGTH),
        author: shortText(author, TEXT_LENGTH),
        description: shortText(description, TEXT_LENGTH),
      })),
    }),
  };
}

function claimOf(claim: AssessedClaim): Readonly<Record<string, unknown>> {
  const {
    id,
    type,
    category = '',
    status,
    evidence,
    description = '',
    weight,
    earnedWeight,
    excluded,
  } = claim;
  return {
    id: shortText(id, TEXT_LENGTH),
    type,
    ...(category !== '' && { category }),
    status,
    ...(evidence !== '' && { evidence: shortText(evidence, TEXT_LENGTH) }),
    ...(description !== '' && { description: shortText(description, TEXT_LENGTH) }),
    weight,
    earnedWeight,
    ...(excluded && { excluded: true }),
  };
}

function counts(all: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

function conditionOf(result: ReadinessResult): NewCondition {
  const { state, score, minScore, expires, doneCount, partialCount, notDoneCount, deferredCount } = result;
  const type = 'ReadinessSatisfied';
  const of = `readiness score ${String(score)}`;
  switch (state) {
    case 'Satisfied':
      return { type, status: 'True', reason: state, message: `${of} meets minScore ${String(minScore)}` };
    case 'BelowMinScore':
      return {
        type,
        status: 'False',
        reason: state,
        message: `${of} below minScore ${String(minScore)} (${String(doneCount)} done, ${String(partialCount)} partial, ${String(notDoneCount)} not-done, ${String(deferredCount)} deferred)`,
      };
    case 'Expired':
      return {
        type,
        status: 'False',
        reason: state,
        message: `readiness assessment expired (expires ${expires}); score ${String(score)} below minScore ${String(minScore)}`,
      };
  }
}

/** Said once for each time that the gate closes or opens. */
export function readinessEvents(
  before: readonly Condition[],
  now: NewCondition | undefined,
): readonly PlannedEvent[] {
  if (now === undefined) return [];
  const wasUnmet = before.some(({ type, status }) => type === now.type && status === 'False');
  if (now.status === 'False')
    return wasUnmet ? [] : [{ type: 'Warning', reason: 'ReadinessGateUnmet', message: now.message }];
  return wasUnmet ? [{ type: 'Normal', reason: 'ReadinessRecovered', message: now.message }] : [];
}
