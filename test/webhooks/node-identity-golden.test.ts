/**
 * The recorded reviews of the node-identity family (test/golden/vap/README.md): we never allow what the recorded
 * policy denied, and where we deny more, the table says by which rule of node-identity.md.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../src/cluster/objects.ts';
import { readJson } from '../../src/json.ts';
import { decideBy, identity } from './decide-by.ts';

interface RecordedReview {
  readonly request: AdmissionRequest;
}

interface RecordedCase {
  readonly id: string;
  readonly policies: readonly {
    readonly spec: { readonly validations?: readonly { readonly expression: string }[] };
  }[];
  readonly review: RecordedReview | null;
  readonly moreReviews?: readonly RecordedReview[];
  readonly policyReview?: RecordedReview | null;
  readonly answer: { readonly allowed: boolean };
}

const { cases } = readJson(readFileSync('test/golden/vap/node-identity.json')) as {
  cases: readonly RecordedCase[];
};

/** Why we deny what a recorded policy let pass. The short policies are upstream's first example, with its gaps. */
const DENIED_MORE: Readonly<Record<string, string>> = {
  'ni04-two-values-simple': 'NI04: two values are ambiguous, even where the first matches',
  'ni05-two-equal-simple': 'NI05: exactly one value, equal ones too',
  'ni29-key-case': 'NI01: the recorded policy asks for another key only, and there is no node claim',
  'ni-token-unbound-extra': 'NI01: the recorded policy only annotates, and the token has no node claim',
  'ni-token-unscheduled-extra': 'NI01: the recorded policy only annotates, and the token has no node claim',
};

/** The configuration that the recorded policy stands for, read from its rules and not from the name of the case. */
function configurationFor(recorded: RecordedCase, namespace: string): ReturnType<typeof identity> {
  const rules = recorded.policies
    .flatMap(({ spec }) => (spec.validations ?? []).map((validation) => validation.expression))
    .join('\n');
  const only = /request\.namespace == '([^']+)'/.exec(rules)?.[1];
  return identity({
    // Impersonated agents have their account in its own namespace, those with real tokens in that of the case.
    agents: ['pacto-node-agent/pacto-node-agent', `${namespace}/pacto-node-agent`],
    namespaces: [only ?? namespace],
    requirePodClaims: rules.includes('authentication.kubernetes.io/pod-name'),
  });
}

async function allowsReview(recorded: RecordedCase, { request }: RecordedReview): Promise<boolean> {
  const configuration = configurationFor(recorded, request.namespace ?? '');
  return (await decideBy(configuration, request)).allowed;
}

/** A request is allowed when all its reviews are: a deleted collection has one for each object. */
async function allows(recorded: RecordedCase): Promise<boolean> {
  const reviews = [recorded.review, ...(recorded.moreReviews ?? [])].filter((review) => review !== null);
  const answers = await Promise.all(reviews.map((review) => allowsReview(recorded, review)));
  return answers.every(Boolean);
}

describe('recorded reviews', () => {
  it('are there', () => {
    expect(cases.length).toBe(62);
    expect(cases.filter((recorded) => recorded.review === null)).toEqual([]);
  });

  it.each(cases.filter(({ answer: { allowed } }) => !allowed).map((one) => [one.id, one] as const))(
    'denies %s like the recorded policy',
    async (_id, recorded) => {
      expect(await allows(recorded)).toBe(false);
    },
  );

  it.each(
    cases
      .filter(({ id, answer: { allowed } }) => allowed && DENIED_MORE[id] === undefined)
      .map((one) => [one.id, one] as const),
  )('allows %s like the recorded policy', async (_id, recorded) => {
    expect(await allows(recorded)).toBe(true);
  });

  it.each(Object.entries(DENIED_MORE))('denies %s beyond the recorded policy: %s', async (id) => {
    const recorded = cases.filter((one) => one.id === id);
    expect(recorded.map((one) => one.answer.allowed)).toEqual([true]);
    expect(await Promise.all(recorded.map(allows))).toEqual([false]);
  });

  it('get the same verdict in the version that the policy’s own entry received', async () => {
    const both = cases.flatMap((recorded) => {
      const { policyReview } = recorded;
      return policyReview === undefined || policyReview === null ? [] : [{ recorded, policyReview }];
    });
    expect(both).not.toEqual([]);
    const answers = both.map(({ recorded, policyReview }) => allowsReview(recorded, policyReview));
    expect(await Promise.all(answers)).toEqual(both.map(({ recorded }) => recorded.answer.allowed));
  });
});
