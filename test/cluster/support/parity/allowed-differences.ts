/** What may be different through a webhook, by the rows of vap.md §2.0: nothing else, and each must be seen. */

/** In every case where it can be: they are turned into what must be seen, and compared to the letter. */
export const RULES = {
  F1: 'the sentence of the policy follows `admission webhook "<entry>" denied the request: `',
  F4: 'an audit key begins with the name of the entry, and the value is the same',
  F11: 'webhooks are asked together: another one is asked about what ours refuses, and warnings of several policies come in any order',
} as const;

export interface AllowedDifference {
  /** Of the sending. */
  readonly id: string;
  readonly difference: 'F4' | 'F5' | 'F13';
  readonly why: string;
  /** Each difference that is found, in their order. */
  readonly shows: readonly RegExp[];
}

export const ALLOWED_DIFFERENCES: readonly AllowedDifference[] = [
  {
    id: 'own/webhook-configuration',
    difference: 'F5',
    why: 'no webhook is asked about webhook configurations, so the request passes',
    shows: [
      /^refusal of .*: wanted \{.*guarded.* got undefined$/s,
      /^printed: wanted .*guarded.* got .*shop-guard/s,
    ],
  },
  {
    id: 'own/integral-double',
    difference: 'F13',
    why: 'the API server writes 1.0 into the review as 1, which is an int',
    shows: [/^annotations of .*: wanted .*whole":"double".* got .*whole":"int"/s],
  },
  {
    id: 'own/failures-of-two-policies',
    difference: 'F4',
    why: 'the API server has one annotation for all policies and writes the first failure alone; we have one for each entry',
    shows: [/^annotations of .*: wanted \{[^{]*\{[^{]*\}\]"\} got .*first.*second/s],
  },
];
