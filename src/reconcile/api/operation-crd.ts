/** The CustomResourceDefinition of `Operation` (delivery.md §3.2). `npm run crds` writes it out. */
import { OPERATION } from '../../cluster/kinds.ts';
import { OPERATION_TYPES } from '../../policies/delivery/operation.ts';
import {
  CONDITIONS,
  choice,
  crd,
  duration,
  flag,
  int64,
  listOf,
  object,
  rules,
  text,
  time,
  type Schema,
} from './crd-schema.ts';
import { digest, name, person, pin } from './delivery-schema.ts';

const SPEC: Schema = object(
  'What is asked for. Only cancel may change.',
  {
    stage: name('Stage of this namespace.'),
    type: choice('What it is.', OPERATION_TYPES),
    digest: digest('What to move to.'),
    tag: text('What it is called, for people.', { maxLength: 256 }),
    expectedCurrent: text('What the Stage stands on; left out, what it stood on when this was made.', {
      maxLength: 256,
    }),
    reason: text('Why; for a Rollback.', { maxLength: 1_024, default: '' }),
    ticket: text('Where it is discussed.', { maxLength: 256, default: '' }),
    deadline: { ...duration('How long it may take.'), default: '30m' },
    requestedBy: person('Who asked; filled in.'),
    cancel: { ...flag('Whether it is taken back.'), default: false },
  },
  ['digest', 'stage', 'type'],
  rules([
    "self.type != 'Rollback' || (has(self.reason) && self.reason != '')",
    'a Rollback says why: reason',
  ]),
);

const STATUS: Schema = object('What became of it.', {
  observedGeneration: int64('Generation that this is about.'),
  phase: text('Where it is.', { maxLength: 63 }),
  reasonCode: text('Why, as a code.', { maxLength: 63 }),
  message: text('Why, as a sentence.', { maxLength: 1_024 }),
  startedAt: time('When it began.'),
  finishedAt: time('When it ended.'),
  phaseSince: time('Since when it is where it is.'),
  conditions: CONDITIONS,
  gate: {
    type: 'object',
    description: 'What the gate said when it let it through.',
    'x-kubernetes-preserve-unknown-fields': true,
  },
  approvals: {
    ...listOf(
      'Who agreed.',
      object('One approval.', {
        name: text('Its name.', { maxLength: 253 }),
        uid: text('Its uid.', { maxLength: 64 }),
        by: text('Who.', { maxLength: 1_024 }),
        role: text('In which role.', { maxLength: 253 }),
        at: time('When.'),
        decision: text('What they said.', { maxLength: 63 }),
      }),
    ),
    maxItems: 64,
  },
  moves: {
    ...listOf(
      'What is moved, in this order.',
      object(
        'One pointer.',
        {
          pointer: text('Its name within the Stage.', { maxLength: 253 }),
          from: pin('What it held.'),
          to: pin('What it is to hold.'),
          state: choice('How far it is.', ['Intent', 'Done', 'Reverted', 'Contested']),
          resourceVersion: text('Version of the object then.', { maxLength: 64 }),
          at: time('When.'),
        },
        ['from', 'pointer', 'state', 'to'],
      ),
    ),
    maxItems: 8,
  },
  flux: {
    type: 'object',
    description: 'What Flux made of it.',
    'x-kubernetes-preserve-unknown-fields': true,
  },
  verification: object('What followed.', {
    firstCompliantAt: time('When its verdict was Compliant first.'),
    lastVerdict: text('The verdict seen last.', { maxLength: 63 }),
    until: time('When it is verified.'),
  }),
  record: { type: 'object', description: 'The signed record.', 'x-kubernetes-preserve-unknown-fields': true },
});

export const OPERATION_CRD: object = crd({
  ...OPERATION,
  description: 'One attempt to move a Stage; its history.',
  columns: [
    { name: 'Stage', type: 'string', jsonPath: '.spec.stage' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Digest', type: 'string', jsonPath: '.spec.digest' },
  ],
  spec: SPEC,
  status: STATUS,
});
