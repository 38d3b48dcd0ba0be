/** The CustomResourceDefinition of `Approval` (delivery.md §3.3). `npm run crds` writes it out. */
import { APPROVAL } from '../../cluster/kinds.ts';
import { choice, crd, object, rules, text, time, type Schema } from './crd-schema.ts';
import { digest, name, person } from './delivery-schema.ts';

const SPEC: Schema = object(
  'Who decided what, and what they saw; it never changes.',
  {
    operation: object(
      'What it is about.',
      { name: name('Its name.'), uid: text('Its uid.', { minLength: 1, maxLength: 64 }) },
      ['name', 'uid'],
    ),
    digest: digest('What the Operation moves to.'),
    decision: choice('The decision.', ['Approve', 'Reject', 'BreakGlass']),
    role: name('In which role of the identity policy.'),
    reason: text('Why; for Reject and BreakGlass.', { maxLength: 1_024, default: '' }),
    ticket: text('Where it is discussed; for BreakGlass.', { maxLength: 256, default: '' }),
    expiresAt: time('Until when it counts; left out, as long as the Stage says.'),
    approvedBy: person('Who decided; filled in.'),
    seen: object('What was true when they decided; filled in.', {
      verdict: text('Status of the Pacto.', { maxLength: 63 }),
      verdictResourceVersion: text('Version of the Pacto.', { maxLength: 64 }),
      gateDecision: text('What the gate said.', { maxLength: 63 }),
      policySha256: text('Of the identity policy.', { pattern: '^([a-f0-9]{64})?$' }),
    }),
  },
  ['decision', 'digest', 'operation', 'role'],
  rules(
    [
      "self.decision == 'Approve' || (has(self.reason) && self.reason != '')",
      'Reject and BreakGlass say why: reason',
    ],
    ["self.decision != 'BreakGlass' || (has(self.ticket) && self.ticket != '')", 'BreakGlass needs a ticket'],
  ),
);

export const APPROVAL_CRD: object = crd({
  ...APPROVAL,
  description: 'One decision of one person about an Operation.',
  columns: [
    { name: 'Operation', type: 'string', jsonPath: '.spec.operation.name' },
    { name: 'Decision', type: 'string', jsonPath: '.spec.decision' },
    { name: 'By', type: 'string', jsonPath: '.spec.approvedBy.username' },
  ],
  spec: SPEC,
});
