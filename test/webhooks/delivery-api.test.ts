/** The rules for Operations and Approvals (delivery.md §3.2, §3.3). */
import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../src/cluster/objects.ts';
import {
  approval,
  COLLECTOR,
  COMMANDER,
  created,
  deleted,
  expectAll,
  in30m,
  MANAGER,
  operation,
  OTHER_MANAGER,
  stampOf,
  updated,
  WORLD,
  type Members,
} from './delivery-api-site.ts';
import { ADMIN, ALICE, API, GOOD, identityPolicy, NEW, siteWith } from './delivery-site.ts';

describe('an Operation', () => {
  expectAll([
    ['is made by who may promote', created(operation()), 'ALLOWED'],
    ['is not by who may not', created(operation({}, undefined, ALICE), ALICE), 'ROLE_REQUIRED'],
    ['is not in the name of another', created(operation({}, undefined, OTHER_MANAGER)), 'MALFORMED'],
    [
      'is not without a name, as where stamps are missing',
      created(operation({ requestedBy: undefined })),
      'MALFORMED',
    ],
    ['is not for no Stage', created(operation({ stage: 'nowhere' })), 'NO_STAGE'],
    ['is not to a tag', created(operation({ digest: 'latest' })), 'MALFORMED'],
    ['is not from a text of several lines', created(operation({ expectedCurrent: 'a\nb' })), 'MALFORMED'],
    [
      'goes back to what was good',
      created(operation({ type: 'Rollback', digest: GOOD, reason: 'x' })),
      'ALLOWED',
    ],
    [
      'does not go back to what never was',
      created(operation({ type: 'Rollback', digest: NEW, reason: 'x' })),
      'MALFORMED',
    ],
    ['is cancelled by whoever asked', updated(operation({ cancel: true }), operation()), 'ALLOWED'],
    ['is cancelled by an admin', updated(operation({ cancel: true }), operation(), ADMIN), 'ALLOWED'],
    [
      'is not cancelled by anybody',
      updated(operation({ cancel: true }), operation(), ALICE),
      'ROLE_REQUIRED',
    ],
    [
      'does not go on after that',
      updated(operation({ cancel: false }), operation({ cancel: true })),
      'FIXED',
    ],
    ['does not change otherwise', updated(operation({ digest: GOOD }), operation()), 'FIXED'],
    ['does not change by an admin either', updated(operation({ digest: GOOD }), operation(), ADMIN), 'FIXED'],
    [
      'may get a label',
      updated(
        { ...operation(), metadata: { ...operation().metadata, labels: { a: 'b' } } },
        operation(),
        ALICE,
      ),
      'SAME',
    ],
    ['is not deleted before it is over', deleted(operation()), 'FIXED'],
    ['is not before it is over by an admin', deleted(operation({}, { phase: 'Moving' }), ADMIN), 'FIXED'],
    ['is deleted when it is taken back before it began', deleted(operation({ cancel: true })), 'ALLOWED'],
    ['is history when it is over', deleted(operation({}, { phase: 'Succeeded' })), 'NOT_ADMIN'],
    ['is deleted by an admin when it is over', deleted(operation({}, { phase: 'Failed' }), ADMIN), 'ALLOWED'],
    [
      'is deleted when its record is exported',
      deleted(operation({}, { phase: 'Failed', record: { exported: true } })),
      'ALLOWED',
    ],
    ['is deleted by the garbage collector', deleted(operation({}, { phase: 'Moving' }), COLLECTOR), 'DELETE'],
    [
      'is deleted with its namespace',
      deleted(operation({}, { phase: 'Moving' })),
      'DELETE',
      [
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'payments', deletionTimestamp: '2026-01-01T00:00:00Z' },
        },
      ],
    ],
  ]);

  it('goes back, and not forward, by the last policy that could be read', async () => {
    const objects = [...WORLD];
    const site = siteWith(objects);
    expect((await site.ask(API, created(operation()))).code).toBe('ALLOWED');
    objects[2] = identityPolicy('version: 2');
    expect((await site.ask(API, created(operation()))).code).toBe('POLICY_INVALID');
    const back = operation({ type: 'Rollback', digest: GOOD, reason: 'x' });
    expect((await site.ask(API, created(back))).code).toBe('ALLOWED');
  });
});

describe('an Approval', () => {
  const there = [operation()];
  expectAll([
    ['is given by who may', created(approval(), OTHER_MANAGER), 'ALLOWED', there],
    ['is not by who may not', created(approval({}, ALICE), ALICE), 'ROLE_REQUIRED', there],
    [
      'is not in a role of others',
      created(approval({ role: 'stage-admin' }), OTHER_MANAGER),
      'ROLE_REQUIRED',
      there,
    ],
    ['is not by whoever asked', created(approval({}, MANAGER), MANAGER), 'SELF_APPROVAL', there],
    [
      'may be a Reject of whoever asked',
      created(approval({ decision: 'Reject', reason: 'no' }, MANAGER), MANAGER),
      'ALLOWED',
      there,
    ],
    ['is not in the name of another', created(approval(), COMMANDER), 'MALFORMED', there],
    [
      'is not of another policy',
      created(approval({ seen: { policySha256: 'ff' } }), OTHER_MANAGER),
      'MALFORMED',
      there,
    ],
    ['is not of no Operation', created(approval(), OTHER_MANAGER), 'NO_STAGE'],
    [
      'is not of one that came again',
      created(approval({ operation: { name: 'promote-1', uid: 'old' } }), OTHER_MANAGER),
      'MALFORMED',
      there,
    ],
    ['is not of another digest', created(approval({ digest: GOOD }), OTHER_MANAGER), 'MALFORMED', there],
    [
      'is not of one that is over',
      created(approval(), OTHER_MANAGER),
      'FIXED',
      [operation({}, { phase: 'Rejected' })],
    ],
    [
      'is not given twice',
      created(approval(), OTHER_MANAGER),
      'FIXED',
      [...there, approval({}, OTHER_MANAGER, 'first')],
    ],
    [
      'lasts as long as the Stage says',
      created(approval({ expiresAt: in30m }), OTHER_MANAGER),
      'ALLOWED',
      there,
    ],
    [
      'does not last longer',
      created(approval({ expiresAt: '2027-01-01T00:00:00Z' }), OTHER_MANAGER),
      'MALFORMED',
      there,
    ],
    [
      'is not over already',
      created(approval({ expiresAt: '2026-01-01T00:00:00Z' }), OTHER_MANAGER),
      'MALFORMED',
      there,
    ],
    [
      'never changes',
      updated(approval({ decision: 'Reject', reason: 'no' }), approval(), OTHER_MANAGER),
      'FIXED',
      there,
    ],
    ['is taken back by its author', deleted(approval(), OTHER_MANAGER), 'ALLOWED', there],
    ['is not by anybody', deleted(approval(), ALICE), 'NOT_ADMIN', there],
    [
      'is not by its author once it counted',
      deleted(approval(), OTHER_MANAGER),
      'NOT_ADMIN',
      [operation({}, { phase: 'Moving' })],
    ],
    [
      'is deleted by an admin then',
      deleted(approval(), ADMIN),
      'ALLOWED',
      [operation({}, { phase: 'Moving' })],
    ],
  ]);
});

describe('a break-glass', () => {
  const there = [operation()];
  const broken = (spec: Members = {}): KubeObject =>
    approval(
      {
        decision: 'BreakGlass',
        role: 'breakglass',
        reason: 'down',
        ticket: 'INC-1',
        expiresAt: in30m,
        ...spec,
      },
      COMMANDER,
    );
  expectAll([
    ['is for who has the role', created(broken(), COMMANDER), 'ALLOWED', there],
    [
      'is for nobody else',
      created(
        approval({ ...(broken()['spec'] as Members), approvedBy: stampOf(OTHER_MANAGER) }),
        OTHER_MANAGER,
      ),
      'ROLE_REQUIRED',
      there,
    ],
    ['says why', created(broken({ reason: ' ' }), COMMANDER), 'MALFORMED', there],
    [
      'names a ticket as the policy wants it',
      created(broken({ ticket: 'X-1' }), COMMANDER),
      'MALFORMED',
      there,
    ],
    [
      'lasts no longer than an hour',
      created(broken({ expiresAt: '2026-01-02T05:04:05Z' }), COMMANDER),
      'MALFORMED',
      there,
    ],
  ]);
});

describe('an approval by RBAC', () => {
  it.each([
    [true, 'ALLOWED'],
    [false, 'ROLE_REQUIRED'],
  ])('needs the verb approve on the Stage: %s', async (allowed, code) => {
    const asked: unknown[] = [];
    const site = siteWith([...WORLD, operation()], {
      reviewAccess: (question) => {
        asked.push(question.resource);
        return Promise.resolve({ allowed, denied: !allowed, reason: '' });
      },
    });
    expect((await site.ask(API, created(approval(), OTHER_MANAGER))).code).toBe(code);
    expect(asked).toEqual([
      {
        verb: 'approve',
        group: 'delivery.pacto.trianalab.io',
        version: 'v1alpha1',
        resource: 'stages',
        namespace: 'payments',
        name: 'prod',
      },
    ]);
  });
});
