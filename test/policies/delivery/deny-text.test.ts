import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decide } from '../../../src/policies/delivery/decide.ts';
import { oneLine, refuse, shortDigest, textOf } from '../../../src/policies/delivery/deny-text.ts';
import { anInput, anUpstream, CANDIDATE } from './inputs.ts';

const REFUSAL = {
  code: 'NONCOMPLIANT',
  stage: 'payments/payments-prod',
  message: 'payments/payments-staging is NonCompliant',
  next: 'promote a Compliant digest',
} as const;

/** Texts on which Flux deletes and creates anew, in any case (F7 of delivery.md §2.2). */
const FORCED = /is\simmutable|immutable\sfield/i;

it('refuses with 403, Forbidden and no causes, by its code', () => {
  expect(refuse(REFUSAL, { stage: REFUSAL.stage })).toEqual({
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message:
      '[NONCOMPLIANT] payments/payments-prod: payments/payments-staging is NonCompliant. ' +
      'Next: promote a Compliant digest.',
    causes: [],
    codes: ['NONCOMPLIANT'],
    warnings: [],
    auditAnnotations: { stage: 'payments/payments-prod' },
  });
});

describe('one line', () => {
  it.each<[expected: string, of: string]>([
    ['a b', 'a\nb'],
    ['a b', 'a\r\n\t b'],
    ['a b', 'a\u2028\u2029b'],
    ['a b', 'a\u0000\u001bb'],
    ['a b', ' a \u202e\u200bb '],
    ['the field is unchangeable', 'the field is immutable'],
    ['is unchangeable', 'is\nimmutable'],
    ['unchangeable field', 'IMMUTABLE field'],
    ['unchangeableunchangeable', 'immutableImmutable'],
    ['é 🚀', 'é 🚀'],
    ['', '\n'],
  ])('%j of %j', (expected, text) => {
    expect(oneLine(text, 100)).toBe(expected);
  });

  it('has no more characters than it may, and cuts none in two', () => {
    expect(oneLine('🚀'.repeat(5), 5)).toBe('🚀'.repeat(5));
    expect(oneLine('🚀'.repeat(6), 5)).toBe(`${'🚀'.repeat(4)}…`);
  });
});

it.each<[expected: string, of: string]>([
  ['sha256:cccccccccccc…', CANDIDATE],
  ['2.3.0', '2.3.0'],
  ['nothing', ''],
  ['sha256:unchangeable', 'sha256:immutable'],
  [`${'x'.repeat(79)}…`, 'x'.repeat(81)],
])('shows %s for %s', (expected, digest) => {
  expect(shortDigest(digest)).toBe(expected);
});

/** What a stranger may write into a Stage or a contract. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('is', 'Is', 'immutable', 'IMMUTABLE', 'imm', 'utable', 'field', ' ', '\n', '\r', '\t'),
      fc.constantFrom('\u00a0', '\u2028', '\u200b', '\u00ad', '\ufeff', '\ud800'),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom('x'.repeat(2_000)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

function isHarmless(message: string): boolean {
  return !FORCED.test(message) && !/[\r\n\u2028\u2029]/.test(message) && Array.from(message).length < 900;
}

it('is harmless, whatever texts of strangers are in it', () => {
  const property = fc.property(anyText, anyText, anyText, (stage, message, next) =>
    isHarmless(textOf({ code: 'NONCOMPLIANT', stage, message, next })),
  );
  expect(fc.check(property, { seed: 20_260_102, numRuns: 5_000 }).counterexample).toBeNull();
});

it('is harmless for what a decision says of a finding, a freeze or an Operation that a stranger named', () => {
  const property = fc.property(anyText, anyText, (first, second) => {
    const staging = anUpstream({ class: 'NonCompliant', findings: [first, second], status: first });
    const decisions = [
      decide(anInput({ upstreams: { strategy: 'All', from: [staging] } })),
      decide(anInput({ frozen: { untilMs: undefined, reason: first } })),
      decide(anInput({ busyWith: second })),
    ];
    return decisions.every(({ reasonCode, message }) =>
      isHarmless(textOf({ ...REFUSAL, code: reasonCode, message })),
    );
  });
  expect(fc.check(property, { seed: 20_260_102, numRuns: 2_000 }).counterexample).toBeNull();
});
