/** What the delivery webhooks do beside the table: exceptions, missing Stages, remembered Allows, failures. */
import { describe, expect, it } from 'vitest';

import { CONFIG_MAP } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import { aReview, type AdmissionReview } from '../support/builders.ts';
import { at, moved } from './delivery-pointer-rows.ts';
import {
  ADMIN,
  change,
  CURRENT,
  deployment,
  FLUX,
  gated,
  identityPolicy,
  NEW,
  pacto,
  POINTERS,
  siteWith,
  source,
  stage,
  WORKLOADS,
} from './delivery-site.ts';

const owned = (digest: string): KubeObject =>
  source(
    { ref: { digest } },
    {
      metadata: {
        uid: 'x',
        name: 'oci',
        namespace: 'payments',
        labels: {
          'delivery.pacto.trianalab.io/stage': 'prod',
          'kustomize.toolkit.fluxcd.io/name': 'apps',
          'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
        },
        managedFields: [{ manager: 'pacto-delivery-promoter', operation: 'Apply' }],
      },
    },
  );
const parent: KubeObject = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'apps', namespace: 'flux-system' },
  spec: { ignore: [{ paths: ['/spec/ref'], target: { kind: 'OCIRepository' } }] },
};

describe('row 3, its exception', () => {
  const dry = change(owned(NEW), owned(CURRENT), { user: FLUX, dryRun: true });
  const objects = [stage(), pacto(), identityPolicy(), parent];

  it('lets the dry-run of a parent pass that ignores the field', async () => {
    expect(await siteWith(objects).ask(POINTERS, dry)).toMatchObject({ allowed: true, code: 'SAME' });
  });

  it('refuses what is really written, what another owns, and what no rule ignores', async () => {
    const real = change(owned(NEW), owned(CURRENT), { user: FLUX });
    expect((await siteWith(objects).ask(POINTERS, real)).allowed).toBe(false);
    const foreign = change(at(NEW), at(CURRENT), { user: FLUX, dryRun: true });
    expect((await siteWith(objects).ask(POINTERS, foreign)).allowed).toBe(false);
    const strict = [...objects.slice(0, 3), { ...parent, spec: {} }];
    expect((await siteWith(strict).ask(POINTERS, dry)).allowed).toBe(false);
  });
});

describe('a pointer whose Stage does not exist', () => {
  const site = (): ReturnType<typeof siteWith> => siteWith([identityPolicy()]);

  it.each([
    ['nothing', change(at(CURRENT), at(CURRENT)), true, 'SAME'],
    ['suspend', change(source({ suspend: true }), source({})), true, 'SUSPEND'],
    ['DELETE', aReview({ oldObject: at(CURRENT), object: null }), true, 'DELETE'],
    ['the interval', change(source({ interval: '1m' }), source({})), true, 'NO_STAGE'],
    ['a move', moved(NEW), false, 'NO_STAGE'],
    ['a creation', change(at(NEW), undefined), false, 'NO_STAGE'],
    ['a move by an admin', change(at(NEW), at(CURRENT), { user: ADMIN }), false, 'NO_STAGE'],
    ['the label taken away', change(source({}, { metadata: { labels: {} } }), source({})), false, 'NO_STAGE'],
    [
      'the label taken away by an admin',
      change(source({}, { metadata: { labels: {} } }), source({}), { user: ADMIN }),
      true,
      'NO_STAGE',
    ],
  ])('%s', async (_what, review, allowed, code) => {
    expect(await site().ask(POINTERS, review)).toMatchObject({ allowed, code });
  });
});

describe('a verdict that turns', () => {
  it('lets the move through that it held, and the same answer holds for a workload', async () => {
    const compliant = pacto({ contractStatus: 'Compliant', findings: [] });
    expect(await siteWith([stage(), compliant, identityPolicy()]).ask(POINTERS, moved(NEW))).toMatchObject({
      allowed: true,
      code: 'ALLOWED',
    });
    const strict = stage({ spec: { gate: { scope: 'Strict' } } });
    const review = change(deployment('b'), deployment('a'));
    expect((await siteWith([strict, compliant, identityPolicy()]).ask(WORKLOADS, review)).allowed).toBe(true);
  });
});

describe('an Allow', () => {
  const allowing = [stage(), pacto({ contractStatus: 'Compliant', findings: [] }), identityPolicy()];

  it('counts for some seconds although the verdict turns, for the same change of the same person alone', async () => {
    const objects = [...allowing];
    const site = siteWith(objects, { stickyMs: 30_000 });
    expect((await site.ask(POINTERS, change(at(NEW), at(CURRENT), { dryRun: true }))).allowed).toBe(true);
    objects[1] = pacto();
    expect((await site.ask(POINTERS, moved(NEW))).allowed).toBe(true);
    expect((await site.ask(POINTERS, change(at(NEW), at(CURRENT), { user: FLUX }))).allowed).toBe(false);
    expect((await site.ask(POINTERS, moved(`sha256:${'d'.repeat(64)}`))).allowed).toBe(false);
    await site.clock.advance(30_000);
    expect((await site.ask(POINTERS, moved(NEW))).allowed).toBe(false);
  });

  it('does not count where it is not to, and a Deny never does', async () => {
    const objects = [...allowing];
    const site = siteWith(objects, { stickyMs: 0 });
    expect((await site.ask(POINTERS, moved(NEW))).allowed).toBe(true);
    objects[1] = pacto();
    expect((await site.ask(POINTERS, moved(NEW))).allowed).toBe(false);
    objects[1] = pacto({ contractStatus: 'Compliant', findings: [] });
    expect((await site.ask(POINTERS, moved(NEW))).allowed).toBe(true);
  });

  it('of a creation is not told by its uid', async () => {
    const objects = [...allowing];
    const site = siteWith(objects, { stickyMs: 30_000 });
    const made = (uid: string): AdmissionReview =>
      change({ ...at(NEW), metadata: { ...at(NEW).metadata, uid } }, undefined);
    const bootstrap = stage({ status: { current: undefined, lastGood: [] } });
    objects[0] = bootstrap;
    expect((await site.ask(POINTERS, made('one'))).allowed).toBe(true);
    objects[1] = pacto();
    expect((await site.ask(POINTERS, made('two'))).allowed).toBe(true);
  });
});

it('says the same of every object of an app', async () => {
  const site = siteWith([stage(), pacto(), identityPolicy()]);
  const one = await site.ask(POINTERS, moved(NEW));
  const other = await site.ask(
    POINTERS,
    change(
      gated(CONFIG_MAP, 'map', { data: { app: NEW } }),
      gated(CONFIG_MAP, 'map', { data: { app: CURRENT } }),
    ),
  );
  expect(other.message).toBe(one.message);
  expect(one.message).toMatch(
    /^\[TARGET_NONCOMPLIANT\] payments\/prod: sha256:c{12}… not allowed: .* Next: .*\.$/,
  );
});

describe('where nothing can be read', () => {
  const fails = (): never => {
    throw new GateError('GATE_UNSYNCED', 'cannot read stages: our copy is immutable');
  };
  const blind = { get: fails, list: fails };

  it('a move fails closed, and says so without the word on which Flux deletes', async () => {
    const answer = await siteWith([], { reader: blind }).ask(POINTERS, moved(NEW));
    expect(answer).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
    expect(answer.message).toContain('[GATE_UNSYNCED]');
    expect(answer.message).not.toMatch(/immutable/i);
  });

  it('a workload goes by its failure policy, and says so', async () => {
    const answer = await siteWith([], { reader: blind }).ask(
      WORKLOADS,
      change(deployment('b'), deployment('a')),
    );
    expect(answer.allowed).toBe(true);
    expect(answer.audit['failed-open']).toContain('GATE_UNSYNCED');
  });

  it.each([
    ['nothing', POINTERS, change(at(CURRENT), at(CURRENT))],
    ['suspend', POINTERS, change(source({ suspend: true }), source({}))],
    ['DELETE', POINTERS, aReview({ oldObject: at(CURRENT), object: null })],
    ['replicas', WORKLOADS, change(deployment('a', { replicas: 9 }), deployment('a'))],
  ])('%s passes', async (_what, path, review) => {
    expect((await siteWith([], { reader: blind }).ask(path, review)).allowed).toBe(true);
  });
});
