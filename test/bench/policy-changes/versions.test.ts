import { describe, expect, test } from 'vitest';

import type { KeptAnswer } from '../load-job.ts';
import { benchPolicies } from '../policies/policy-objects.ts';
import { checkAnswers, copiesOf, versionOf, type Change } from './versions.ts';

const CHANGES: readonly Change[] = [
  { policy: 0, version: 0, allowed: true, atMs: 0 },
  { policy: 1, version: 0, allowed: true, atMs: 0 },
  { policy: 0, version: 1, allowed: false, atMs: 1_000 },
  { policy: 0, version: 2, allowed: true, atMs: 3_000 },
];

function answer(version: number, sentMs: number, changes: Partial<KeptAnswer> = {}): KeptAnswer {
  const allowed = version !== 1;
  return {
    path: 0,
    sentMs,
    answeredMs: sentMs + 10,
    allowed,
    message: allowed ? '' : `denied request: version ${version}`,
    annotations: [`version ${version}`],
    ...changes,
  };
}

const check = (...answers: KeptAnswer[]) => checkAnswers(CHANGES, answers, 500);

describe('answers while policies change', () => {
  test('are right before, within and after the delay of a change', () => {
    expect(
      check(
        answer(0, 900),
        answer(0, 1_200),
        answer(1, 1_300),
        answer(1, 3_100),
        answer(2, 3_200),
        answer(0, 3_300, { path: 1 }),
      ),
    ).toEqual({ wrong: {}, delayMs: { median: 150, max: 200 } });
  });

  test('may be of either version while both are under way', () => {
    // The older one was asked before the newer one was there.
    expect(check(answer(1, 1_100, { answeredMs: 1_200 }), answer(0, 1_150)).wrong).toEqual({});
  });

  test.each<[string, readonly KeptAnswer[]]>([
    ['no version that was written', [answer(7, 2_000)]],
    ['no version that was written', [answer(0, 2_000, { annotations: [] })]],
    ['no version that was written', [answer(1, 2_000, { path: 1 })]],
    ['verdict of another version', [answer(1, 2_000, { allowed: true })]],
    ['verdict of another version', [answer(0, 500, { allowed: false, message: 'version 0' })]],
    ['message of another version', [answer(1, 2_000, { message: 'denied request: version 0' })]],
    ['answered before the version was written', [answer(1, 900)]],
    ['an older version after the delay', [answer(0, 1_500)]],
    ['an older version after the delay', [answer(0, 3_600)]],
    ['an older version after a newer one', [answer(1, 1_100), answer(0, 1_120)]],
  ])('are wrong as "%s"', (fault, answers) => {
    expect(check(...answers).wrong).toEqual({ [fault]: 1 });
  });
});

describe('versions of a policy', () => {
  test('say which they are, and refuse or not', () => {
    const [policy] = copiesOf(benchPolicies(), 64);
    const { spec } = versionOf(policy!, { policy: 0, version: 12, allowed: false, atMs: 0 });
    expect(spec.auditAnnotations).toEqual([{ key: 'version', valueExpression: "'version 12'" }]);
    expect(spec.validations.at(-1)).toEqual({ expression: 'false', messageExpression: 'variables.version' });
    expect(spec.variables?.at(-1)).toEqual({ name: 'version', expression: "'version 12'" });
  });

  test('are of as many policies as are asked for, each with a name of its own', () => {
    const names = copiesOf(benchPolicies(), 64).map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(64);
  });
});
