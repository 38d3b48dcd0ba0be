/** The score that a service gives itself (contract.md §8), apart from whether it keeps its contract. */
import type { Claim, Readiness } from './contract.ts';
import { utcDay } from './text-rules.ts';

const DEFAULT_MINIMUM_SCORE = 100;
const DEFAULT_PARTIAL_CREDIT = 0.5;

const DAY_MS = 86_400_000;

/** Where the engine's own count of days ends, at 2^63 - 1 nanoseconds (contract.md §8.2). */
const MAXIMUM_DAYS = 106_751;

/** `Satisfied` passes the gate (contract.md §8.4). */
export type ReadinessState = 'Satisfied' | 'Expired' | 'BelowMinScore';

export interface ReadinessResult {
  /** 0 to 100. */
  readonly score: number;
  readonly totalWeight: number;
  readonly earnedWeight: number;
  readonly minScore: number;
  readonly partialCredit: number;
  readonly expires: string;
  readonly expired: boolean;
  /** Whole days in UTC; absent once expired. */
  readonly daysRemaining?: number;
  readonly doneCount: number;
  readonly partialCount: number;
  readonly notDoneCount: number;
  readonly deferredCount: number;
  readonly passing: boolean;
  readonly state: ReadinessState;
  readonly claims: readonly AssessedClaim[];
}

export interface AssessedClaim extends Claim {
  /** 0 where the claim is excluded, or the assessment expired. */
  readonly earnedWeight: number;
  /** Deferred: in neither total. */
  readonly excluded: boolean;
}

/** @returns undefined where nothing is claimed: then there is no gate either (contract.md §8.1) */
export function assessReadiness(readiness: Readiness | undefined, now: Date): ReadinessResult | undefined {
  if (readiness === undefined || readiness.claims.length === 0) return undefined;
  const { minScore = DEFAULT_MINIMUM_SCORE, partialCredit = DEFAULT_PARTIAL_CREDIT, expires } = readiness;
  const daysRemaining = daysUntil(expires, now);
  const expired = daysRemaining === undefined;
  const claims = readiness.claims.map((claim) => assessClaim(claim, partialCredit, expired));
  const counted = claims.filter(({ excluded }) => !excluded);
  const totalWeight = sum(counted.map(({ weight }) => weight));
  const earnedWeight = sum(counted.map((claim) => claim.earnedWeight));
  // Division first: 29 / 200 * 100 is below 14.5 (contract.md §8.1).
  const score = totalWeight > 0 ? Math.round((earnedWeight / totalWeight) * 100) : 0;
  const state = expired ? 'Expired' : score >= minScore ? 'Satisfied' : 'BelowMinScore';
  const doneCount = countOf(counted, 'done');
  const partialCount = countOf(counted, 'partial');
  return {
    score,
    totalWeight,
    earnedWeight,
    minScore,
    partialCredit,
    expires,
    expired,
    ...(!expired && { daysRemaining }),
    doneCount,
    partialCount,
    notDoneCount: counted.length - doneCount - partialCount,
    deferredCount: claims.length - counted.length,
    passing: state === 'Satisfied',
    state,
    claims,
  };
}

function assessClaim(claim: Claim, partialCredit: number, expired: boolean): AssessedClaim {
  const excluded = claim.status === 'deferred';
  return { ...claim, excluded, earnedWeight: expired ? 0 : earned(claim, partialCredit) };
}

function earned({ status, weight }: Claim, partialCredit: number): number {
  if (status === 'done') return weight;
  return status === 'partial' ? Math.round(weight * partialCredit) : 0;
}

/** Through the last instant of the day, in UTC. @returns undefined once it is over, and for a date that is none */
function daysUntil(expires: string, now: Date): number | undefined {
  const last = utcDay(expires);
  if (last === undefined) return undefined;
  const days = last / DAY_MS - Math.floor(now.getTime() / DAY_MS);
  // Not `days < 0`: a `now` that is no time at all must count as expired too.
  return days >= 0 ? Math.min(days, MAXIMUM_DAYS) : undefined;
}

function countOf(claims: readonly Claim[], status: string): number {
  return claims.filter((claim) => claim.status === status).length;
}

function sum(weights: readonly number[]): number {
  return weights.reduce((total, weight) => total + weight, 0);
}
