/** The rules for Stages, and what is stamped into Operations and Approvals (delivery.md §3.1 to §3.3). */
import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../src/cluster/objects.ts';
import { aUser, type AdmissionReview } from '../support/builders.ts';
import {
  approval,
  ask,
  COMMANDER,
  created,
  deleted,
  expectAll,
  MANAGER,
  operation,
  OTHER_MANAGER,
  POLICY,
  POLICY_SHA,
  stampOf,
  updated,
  WORLD,
  type Members,
} from './delivery-api-site.ts';
import {
  ADMIN,
  ALICE,
  CURRENT,
  GOOD,
  pacto,
  siteWith,
  source,
  stage,
  STAMPS,
  type Answered,
} from './delivery-site.ts';

describe('a Stage', () => {
  const changed = (spec: Members, user = MANAGER): AdmissionReview => updated(stage({ spec }), stage(), user);
  const [first = {}, ...others] =
    stage()['spec'] === undefined ? [] : ((stage()['spec'] as Members)['pointers'] as readonly Members[]);
  expectAll([
    [
      'is made by anybody',
      created(
        stage({
          metadata: { name: 'new' },
          spec: { pointers: [{ ...first, target: { ...(first['target'] as Members), name: 'n' } }] },
        }),
        ALICE,
      ),
      'ALLOWED',
    ],
    [
      'that takes what nobody knows for good is made by an admin',
      created(
        stage({ metadata: { name: 'new' }, spec: { pointers: [], gate: { onUnknown: 'Allow' } } }),
        ALICE,
      ),
      'NOT_ADMIN',
    ],
    [
      'does not take the pointer of another',
      created(stage({ metadata: { name: 'new' } }), ALICE),
      'MALFORMED',
    ],
    [
      'may hold more',
      changed(
        {
          gate: { target: 'Block', onUnknown: 'Deny', scope: 'Strict' },
          freeze: { until: '2026-02-01T00:00:00Z' },
        },
        ALICE,
      ),
      'ALLOWED',
    ],
    ['holds less by an admin alone: mode', changed({ gate: { mode: 'Off' } }), 'NOT_ADMIN'],
    ['holds less by an admin: mode', changed({ gate: { mode: 'Off' } }, ADMIN), 'ALLOWED'],
    ['holds less by an admin alone: age', changed({ gate: { maxVerdictAge: '24h' } }), 'NOT_ADMIN'],
    ['holds less by an admin alone: pointers', changed({ pointers: others }), 'NOT_ADMIN'],
    ['holds less by an admin alone: pacto', changed({ pacto: { name: 'other' } }), 'NOT_ADMIN'],
    ['holds less by an admin alone: soak', changed({ verification: { soak: '0' } }), 'NOT_ADMIN'],
    [
      'does not soak for less than an absence lasts',
      changed({ verification: { soak: '30s' } }, ADMIN),
      'MALFORMED',
    ],
    [
      'has no schedule that nobody can read',
      changed({ windows: [{ kind: 'Deny', schedule: 'x', duration: '1h' }] }, ADMIN),
      'MALFORMED',
    ],
    ['is no gate at all never', changed({ gate: { target: 'Ignore' } }, ADMIN), 'MALFORMED'],
    [
      'does not look into other namespaces unasked',
      changed({ pacto: { name: 'payments', namespace: 'else' } }, ADMIN),
      'NOT_ADMIN',
    ],
    [
      'may get a finalizer',
      updated({ ...stage(), metadata: { ...stage().metadata, finalizers: ['a'] } }, stage(), ALICE),
      'SAME',
    ],
  ]);

  it('thaws, and loses upstreams, roles and windows, by an admin alone', async () => {
    const old = stage({
      spec: {
        freeze: { until: '2026-02-01T00:00:00Z' },
        upstreams: { from: [{ stage: 'staging', minCompliantFor: '30m' }] },
        approvals: { required: [{ role: 'release-manager', count: 2 }] },
        windows: [{ kind: 'Deny', schedule: '0 0 * * *', duration: '1h' }],
      },
    });
    const spec = old['spec'] as Members;
    for (const less of [
      { freeze: { until: null } },
      { upstreams: { from: [] } },
      { upstreams: { from: [{ stage: 'staging' }] } },
      { upstreams: { strategy: 'Any', from: [{ stage: 'staging', minCompliantFor: '30m' }] } },
      { approvals: { required: [{ role: 'release-manager', count: 1 }] } },
      { windows: [] },
    ]) {
      const review = updated(stage({ spec: { ...spec, ...less } }), old, ALICE);
      expect([less, (await ask(review)).code]).toEqual([less, 'NOT_ADMIN']);
      expect((await ask({ ...review, request: { ...review.request, userInfo: ADMIN } })).code).toBe(
        'ALLOWED',
      );
    }
  });

  it('is deleted by an admin alone while a pointer names it', async () => {
    const held = [source({ ref: { digest: CURRENT } })];
    const lone = stage({ spec: { pointers: [first] } });
    const world = [lone, ...WORLD.slice(1)];
    expect((await ask(deleted(lone, ALICE), held, world)).code).toBe('NOT_ADMIN');
    expect((await ask(deleted(lone, ADMIN), held, world)).code).toBe('DELETE');
    expect((await ask(deleted(lone, ALICE), [], world)).code).toBe('DELETE');
  });

  it('keeps its pointers while an Operation is under way', async () => {
    const active = { activeOperation: { name: 'p', uid: 'q' } };
    const review = updated(
      stage({ spec: { pointers: others }, status: active }),
      stage({ status: active }),
      ADMIN,
    );
    expect((await ask(review)).code).toBe('BUSY');
  });

  it('is told that nobody may approve', async () => {
    const asks = { approvals: { required: [{ role: 'nobody' }] } };
    const { warnings } = await ask(changed(asks, ADMIN));
    expect(warnings.join()).toContain('nobody may approve as nobody');
  });

  it('has an age that lets its Pacto be looked at twice', async () => {
    const slow = [stage(), pacto({}, { checkIntervalSeconds: 3600 }), POLICY];
    expect((await ask(changed({ historyLimit: 5 }), [], slow)).code).toBe('MALFORMED');
  });
});

describe('stamps', () => {
  const stamped = (object: KubeObject, user = MANAGER, more: readonly KubeObject[] = []): Promise<Answered> =>
    siteWith([...WORLD, ...more]).ask(STAMPS, created(object, user));

  it('write who asked over what the client wrote, and what the Stage stands on', async () => {
    const { allowed, patch } = await stamped(operation({ requestedBy: stampOf(ADMIN) }));
    expect([allowed, patch]).toEqual([
      true,
      [
        { op: 'add', path: '/spec/requestedBy', value: stampOf(MANAGER) },
        { op: 'add', path: '/spec/expectedCurrent', value: CURRENT },
      ],
    ]);
  });

  it('keep what the client expects, and are the same when they come again', async () => {
    const { patch } = await stamped(operation({ expectedCurrent: GOOD }));
    expect(patch).toBeUndefined();
  });

  it('write who approves, what they saw and how long it counts', async () => {
    const { patch } = await stamped(approval({ seen: { verdict: 'Compliant' } }, ADMIN), OTHER_MANAGER, [
      operation(),
    ]);
    expect(patch).toEqual([
      { op: 'add', path: '/spec/approvedBy', value: stampOf(OTHER_MANAGER) },
      {
        op: 'add',
        path: '/spec/seen',
        value: {
          verdict: 'NonCompliant',
          verdictResourceVersion: '41',
          gateDecision: 'Deny',
          policySha256: POLICY_SHA,
        },
      },
      { op: 'add', path: '/spec/expiresAt', value: '2026-01-03T03:04:05Z' },
    ]);
  });

  it('let a break-glass count for an hour', async () => {
    const broken = approval({ decision: 'BreakGlass', role: 'breakglass' }, COMMANDER);
    const { patch } = await stamped(broken, COMMANDER, [operation()]);
    expect(patch).toContainEqual({ op: 'add', path: '/spec/expiresAt', value: '2026-01-02T04:04:05Z' });
  });

  it('keep the first 64 groups, which the rules then take', async () => {
    const many = aUser({
      username: 'm',
      groups: ['managers', ...Array.from({ length: 99 }, (_, n) => `g${n}`)],
    });
    const { patch } = await stamped(operation({ requestedBy: undefined }), many);
    const [{ value }] = patch as [{ value: { groups: readonly string[] } }];
    expect(value.groups).toHaveLength(64);
    expect((await ask(created(operation({ requestedBy: value }), many))).code).toBe('ALLOWED');
  });

  it('leave other kinds, changes and what has no spec alone', async () => {
    const site = siteWith(WORLD);
    const bare = { ...operation(), spec: undefined } as unknown as KubeObject;
    for (const review of [created(stage()), updated(operation(), operation()), created(bare)])
      expect(await site.ask(STAMPS, review)).toMatchObject({ allowed: true, patch: undefined });
  });
});
