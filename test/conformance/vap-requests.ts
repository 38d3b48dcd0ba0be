/** Compares our answers to recorded requests. */
import type { Cel } from '../../src/policies/cel/cel.ts';
import type { CaseRunner, RecordedCase } from './vap-family.ts';
import { outcomesOf, policySetOf, type RequestCase } from './vap-case.ts';
import { requestDifferences } from './vap-differences.ts';

export const requestRunner: CaseRunner = {
  handles(one: RecordedCase): boolean {
    return 'bindings' in one && 'review' in one;
  },

  reasonToLeave(one: RecordedCase): string | undefined {
    const { review, numberTypeLost } = one as RequestCase;
    if (review === null) return 'a webhook never sees it';
    return numberTypeLost === undefined ? undefined : 'the review has lost the type of a number';
  },

  differences(one: RecordedCase, cel: Cel): readonly string[] {
    const recorded = one as RequestCase;
    const { review, moreReviews = [], policyReview } = recorded;
    const set = policySetOf(recorded, cel);
    const reviews = review === null ? [] : [review, ...moreReviews];
    const found = requestDifferences(recorded, outcomesOf(recorded, reviews, set));
    // What an entry with the policy's own rules gets must lead to the same answer (vap.md F6).
    if (policyReview !== undefined && policyReview !== null) {
      const again = requestDifferences(recorded, outcomesOf(recorded, [policyReview], set));
      found.push(...again.map((text) => `by policyReview: ${text}`));
    }
    return found;
  },
};
