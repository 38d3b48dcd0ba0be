import { describe, expect, it } from 'vitest';
import { decideNodeIdentity } from '../../../src/policies/identity/decide.ts';
import { answer } from './answer.ts';
import { CASES } from './cases.ts';
import { settings } from './settings.ts';

describe('node identity', () => {
  it.each(CASES.filter((one) => one.webhook === 'node-identity').map((one) => [one.name, one] as const))(
    '%s',
    (_name, one) => {
      const verdict = answer(
        (evidence) => decideNodeIdentity(one.request, settings(one.settings), evidence),
        { serverVersion: { major: 1, minor: one.minor ?? 36 } },
        one.cluster,
      );
      expect(verdict.allowed ? [] : verdict.codes).toEqual(one.codes);
    },
  );
});
