import { describe, expect, it } from 'vitest';

import { decide } from '../../../src/policies/delivery/decide.ts';
import {
  REASON_CODES,
  type Currency,
  type Decision,
  type DecisionInput,
  type ReasonCode,
  type VerdictClass,
} from '../../../src/policies/delivery/decision.ts';
import { APPROVALS } from './decide-oracle.ts';
import { anInput, anUpstream, MINUTE_MS, NOW_MS, product, someApprovals, someEvidence } from './inputs.ts';

const CLASSES: readonly VerdictClass[] = [
  'Compliant',
  'Stabilizing',
  'Unsupported',
  'Unknown',
  'NonCompliant',
  'NotEvaluated',
];
const CURRENCIES: readonly Currency[] = ['Fresh', 'Stale', 'WrongSubject', 'Missing'];
const TARGETS = ['AllowCures', 'Block', 'Ignore'] as const;

const STEP_0: readonly Partial<DecisionInput>[] = [
  { change: 'Same' },
  { change: 'Rollback' },
  { isPinned: false },
  { identityChanged: true },
  { mode: 'Off' },
  { isPolicyInvalid: true },
  { hasBreakGlass: true },
  { frozen: { untilMs: undefined, reason: 'audit' } },
  { isHeld: true },
  { busyWith: 'promote-2' },
];

/** Something of each cell. */
const INPUTS: readonly DecisionInput[] = [
  ...STEP_0.map(anInput),
  ...product(CLASSES, CURRENCIES, [0, 90 * MINUTE_MS]).map(([verdict, currency, soakMs]) =>
    anInput({
      upstreams: { strategy: 'All', from: [anUpstream({ class: verdict, currency }, { soakMs })] },
    }),
  ),
  ...product(CLASSES, CURRENCIES, TARGETS).map(([verdict, currency, target]) =>
    anInput({ own: someEvidence({ class: verdict, currency }), target, movedAtMs: NOW_MS - 2 * MINUTE_MS }),
  ),
  ...(['better', 'worse'] as const).map((ratchet) => anInput({ ratchet })),
  anInput({ upstreams: { strategy: 'All', from: [] }, readiness: 'Unsatisfied' }),
  ...Object.values(APPROVALS).map((given) => anInput({ approvals: someApprovals(given) })),
  anInput({
    onUnknown: 'Allow',
    upstreams: { strategy: 'All', from: [anUpstream({ class: 'Unsupported' })] },
  }),
];
const DECISIONS: readonly Decision[] = INPUTS.map(decide);

const ROWS_2 = [
  'Compliant/Fresh',
  'Compliant/Stale',
  'Stabilizing',
  'Unknown/Fresh',
  'Unknown/Stale',
  'NonCompliant/Fresh',
  'NonCompliant/Stale',
  'Missing',
];

/** As delivery.md §3.7 has them. */
const CELLS: readonly string[] = [
  'S0 Same',
  'S0 Rollback',
  'S0 NotPinned',
  'S0 PointerIdentity',
  'S0 Off',
  'S0 PolicyInvalid',
  'S0 BreakGlass',
  'S0 Frozen',
  'S0 Held',
  'S0 Busy',
  'C Better',
  'C Worse',
  'T1 None',
  ...product(CLASSES, ['Fresh', 'Soaking', 'Stale', 'Absent']).map(([row, column]) => `T1 ${row}/${column}`),
  ...product(ROWS_2, TARGETS).map(([row, column]) => `T2 ${row}/${column}`),
  'R Unsatisfied',
  'T3 None',
  'T3 Missing',
  'T3 Met',
  'T3 Outdated/Invalidate',
  'T3 Outdated/Keep',
  'T3 Expired',
  'T3 Rejected',
  'T3 SelfApproved',
];

describe('each decision names the cells that it went through', () => {
  it('of which there are those of the tables and no others', () => {
    const found = new Set(DECISIONS.flatMap(({ cells }) => cells));
    expect([...found].sort()).toEqual([...CELLS].sort());
  });

  it('the one that decided last', () => {
    expect(DECISIONS.filter(({ cell, cells }) => cell !== cells.at(-1))).toEqual([]);
  });

  it.each<[cells: readonly string[], of: string, input: Partial<DecisionInput>]>([
    [['T1 Compliant/Fresh', 'T2 Compliant/Fresh/AllowCures', 'T3 None'], 'what is allowed', {}],
    [['S0 Frozen'], 'a freeze', { frozen: { untilMs: undefined, reason: '' } }],
    [['C Better', 'T3 None'], 'a cure that the objects show', { ratchet: 'better' }],
    [
      ['T1 Compliant/Fresh', 'T2 NonCompliant/Fresh/AllowCures', 'T3 None'],
      'a cure that is proved elsewhere',
      { own: someEvidence({ class: 'NonCompliant' }) },
    ],
    [
      ['T1 NonCompliant/Fresh'],
      'the worst of all upstreams',
      { upstreams: { strategy: 'All', from: [anUpstream(), anUpstream({ class: 'NonCompliant' })] } },
    ],
    [
      ['T1 Compliant/Fresh', 'T2 Compliant/Fresh/AllowCures', 'R Unsatisfied'],
      'a contract that is not ready',
      { readiness: 'Unsatisfied' },
    ],
  ])('%j of %s', (cells, _of, input) => {
    expect(decide(anInput(input)).cells).toEqual(cells);
  });
});

/** Those that a webhook gives without the tables: what is tested is that nothing else is left over. */
const WITHOUT_TABLES: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'DRIFT_CORRECTION',
  'SUSPEND',
  'DELETE',
  'NO_STAGE',
  'NOT_ADMIN',
  'ROLE_REQUIRED',
  'FIXED',
  'MALFORMED',
  'GATE_UNAVAILABLE',
]);

it('gives each reason code that is not of a webhook alone', () => {
  const found = new Set(DECISIONS.map(({ reasonCode }) => reasonCode));
  const expected = REASON_CODES.filter((code) => !WITHOUT_TABLES.has(code));
  expect([...found].sort()).toEqual([...expected].sort());
});
