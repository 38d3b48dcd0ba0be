import { describe, expect, it } from 'vitest';
import { policyStatus, type PolicyStatusInput } from '../../../src/policies/vap/policy-status.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';

const facts = (change: Partial<PolicyStatusInput> = {}): PolicyStatusInput => ({
  generation: 3,
  compileErrors: [],
  typeWarnings: [],
  notEnforced: [],
  enforcedBy: 'Webhook',
  entry: 'a.policies.gate.pacto.trianalab.io',
  now: NOW,
  ...change,
});

const conditions = (change: Partial<PolicyStatusInput>) =>
  policyStatus(facts(change)).conditions.map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    message,
  ]);

describe('conditions', () => {
  it.each<[string, Partial<PolicyStatusInput>, readonly unknown[]]>([
    ['compiles', {}, ['Ready', 'True', 'Compiled', 'every expression compiles']],
    [
      'does not compile',
      { compileErrors: [{ field: 'spec.variables[0].expression', error: 'no\nmore' }] },
      [
        'Ready',
        'False',
        'CompileErrors',
        '1 of its expressions do not compile, the first is spec.variables[0].expression',
      ],
    ],
    [
      'may not be as it is, whether it compiles or not',
      { faults: ['its paramKind is not allowed'], compileErrors: [{ field: 'f', error: 'e' }] },
      ['Ready', 'False', 'NotAllowed', 'its paramKind is not allowed'],
    ],
    [
      'is enforced by a webhook entry',
      {},
      ['Enforced', 'True', 'Webhook', 'the webhook entry a.policies.gate.pacto.trianalab.io enforces it'],
    ],
    [
      'is enforced by a webhook entry in part',
      { notEnforced: ['Nodes'] },
      [
        'Enforced',
        'True',
        'Webhook',
        'the webhook entry a.policies.gate.pacto.trianalab.io enforces it, but for what notEnforcedHere names',
      ],
    ],
    [
      'is enforced by the API server',
      { enforcedBy: 'Native', entry: undefined, notEnforced: ['Nodes'] },
      ['Enforced', 'True', 'Native', 'the API server enforces it'],
    ],
    [
      'is not enforced',
      { enforcedBy: 'None', entry: undefined },
      ['Enforced', 'False', 'NotEnforced', 'neither the API server nor a webhook entry enforces it'],
    ],
    [
      'is not enforced, and somebody knows why',
      { enforcedBy: 'None', because: { reason: 'NoBinding', message: 'has no binding' } },
      ['Enforced', 'False', 'NoBinding', 'has no binding'],
    ],
  ])('say that a policy %s', (_title, change, condition) => {
    expect(conditions(change)).toContainEqual(condition);
  });

  it('keep the time of their last change as long as they stay, and take a new one when they do not', () => {
    const previous = policyStatus(facts());
    const next = policyStatus(
      facts({ previous, now: LATER, enforcedBy: 'None', entry: undefined, generation: 4 }),
    );
    expect(
      next.conditions.map(({ type, lastTransitionTime, observedGeneration }) => [
        type,
        lastTransitionTime,
        observedGeneration,
      ]),
    ).toEqual([
      ['Ready', NOW, 4],
      ['Enforced', LATER, 4],
    ]);
  });
});

describe('what is stored', () => {
  const previous = policyStatus(facts({ notEnforced: ['Nodes'] }));

  it('is given back where nothing changed, whatever an API server leaves out or sorts anew', () => {
    const sorted = JSON.parse(JSON.stringify(previous)) as Record<string, unknown>;
    const { compileErrors: _, typeChecking: __, ...stored } = sorted;
    const reversed = Object.fromEntries(Object.entries(stored).toReversed());
    for (const kept of [previous, reversed, { ...reversed, typeChecking: {} }])
      expect(policyStatus(facts({ notEnforced: ['Nodes'], previous: kept, now: LATER }))).toBe(kept);
  });

  it.each<[string, Partial<PolicyStatusInput>]>([
    ['a generation', { generation: 4 }],
    ['an enforcement point', { enforcedBy: 'Native' }],
    ['a sentence', { notEnforced: ['Nodes', 'Events'] }],
    ['no sentence', { notEnforced: [] }],
    ['a warning', { typeWarnings: [{ fieldRef: 'f', warning: 'w' }] }],
    ['another entry', { entry: 'b' }],
  ])('is not given back for %s', (_title, change) => {
    expect(policyStatus(facts({ notEnforced: ['Nodes'], ...change, previous, now: LATER }))).not.toBe(
      previous,
    );
  });

  it.each([
    undefined,
    null,
    'text',
    [],
    { conditions: 'none' },
    { conditions: [null, { type: 'Ready', lastTransitionTime: 1 }] },
    { conditions: [{ __proto__: null, type: 'Enforced', status: 'True', lastTransitionTime: null }] },
  ])('may be anything, such as %j', (kept) => {
    const status = policyStatus(facts({ previous: kept }));
    expect(status.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([NOW, NOW]);
  });
});

it('stays within the bounds of the schema', () => {
  const long = `${'x'.repeat(4_095)}😀`;
  const status = policyStatus(
    facts({
      compileErrors: Array.from({ length: 1_000 }, () => ({ field: 'f', error: long })),
      faults: [long],
    }),
  );
  expect(status.compileErrors).toHaveLength(100);
  expect(status.compileErrors[0]?.error).toBe(`${'x'.repeat(4_095)}…`);
  expect(status.conditions[0]?.message).toHaveLength(1_024);
});
