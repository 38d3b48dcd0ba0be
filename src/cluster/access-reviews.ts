/** SubjectAccessReviews that requests bring about: the same question once at a time, and so many in the whole process. */
import type { Clock } from '../clock.ts';
import type { LiveCallFacts } from '../metrics.ts';
import type { AccessAnswer, AccessQuestion, CallOptions, Cluster } from './cluster.ts';
import { LIVE_CALL_LIMITS, LiveCalls, type LiveCallLimits } from './live-calls.ts';

/**
 * More than single reads: a policy may ask at every request, and one process is made for 500 of those a second
 * (design §6).
 */
const ACCESS_LIMITS: LiveCallLimits = { ...LIVE_CALL_LIMITS, perSecond: 500, burst: 1_000 };

export interface AccessReviewsOptions {
  readonly cluster: Pick<Cluster, 'reviewAccess'>;
  readonly clock: Clock;
  readonly limits?: Partial<LiveCallLimits>;
  /** Told of each review when it has ended. */
  readonly report?: (facts: LiveCallFacts) => void;
}

/** @throws as LiveCalls.join and Cluster.reviewAccess. */
export type ReviewAccess = (question: AccessQuestion, options: CallOptions) => Promise<AccessAnswer>;

export function createAccessReviews({ cluster, clock, limits, report }: AccessReviewsOptions): ReviewAccess {
  const calls = new LiveCalls<AccessAnswer>({
    call: 'access',
    noun: 'access reviews',
    clock,
    limits: { ...ACCESS_LIMITS, ...limits },
    report,
  });
  return (question, { signal }) =>
    calls.join(
      JSON.stringify(question),
      'review an access',
      (shared) => cluster.reviewAccess(question, { signal: shared }),
      signal,
    );
}
