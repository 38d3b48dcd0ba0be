import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import type { AdmissionRequest, KubeObject } from '../../../src/cluster/objects.ts';
import type { PlainClass } from '../../../src/policies/delivery/change.ts';
import { plainChangeOf } from '../../../src/policies/delivery/classify.ts';
import { anAdmissionRequest, anObject } from '../../support/builders.ts';
import { OCI_REPOSITORY } from '../../../src/cluster/kinds.ts';

const GOLDEN = new URL('../../golden/', import.meta.url);
const ROWS = JSON.parse(readFileSync(new URL('review-rows.json', GOLDEN), 'utf8')) as Readonly<
  Record<string, number | undefined>
>;

interface Recorded {
  readonly id: string;
  readonly review: { readonly request: AdmissionRequest };
}

const recorded = readdirSync(new URL('reviews/', GOLDEN))
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(`reviews/${name}`, GOLDEN), 'utf8')) as Recorded);

/** What each row of the event table comes to by the review alone. Rows of Helm and of Pods have several kinds of requests. */
const BY_ROW: Readonly<Record<number, readonly PlainClass[]>> = {
  1: ['Other'],
  3: ['Other'],
  4: ['Other'],
  8: ['Suspend'],
  9: ['Other'],
  10: ['Same'],
  13: ['Other'],
  18: ['Other'],
  19: ['Delete'],
  20: ['Other'],
  21: ['Other'],
  22: ['Same'],
  23: ['Same'],
  24: ['Other'],
  25: ['Other'],
  // A restart is another template; the scale is a subresource.
  26: ['Other', 'Same'],
  27: ['Other', 'Same'],
  28: ['Delete', 'Other', 'Same'],
  29: ['Delete', 'Other'],
  30: ['Delete'],
  32: ['Same'],
  33: ['Same'],
  34: ['Other'],
};

describe('the recorded reviews', () => {
  it('are each of the class that their row has', () => {
    const wrong = recorded.flatMap(({ id, review }) => {
      const row = ROWS[id];
      const found = plainChangeOf(review.request).class;
      return row === undefined || BY_ROW[row]?.includes(found) === true
        ? []
        : [`${id} (row ${row}): ${found}`];
    });
    expect(wrong).toEqual([]);
    const rows = new Set(recorded.flatMap(({ id }) => ROWS[id] ?? []));
    expect([...rows].toSorted((a, b) => a - b)).toEqual(Object.keys(BY_ROW).map(Number));
  });

  it('are of the same class as a dry-run', () => {
    const wrong = recorded.filter(({ review: { request } }) => {
      const twin = { ...request, dryRun: request.dryRun !== true };
      return plainChangeOf(twin).class !== plainChangeOf(request).class;
    });
    expect(wrong).toEqual([]);
  });

  it('are the same whatever the order of their keys', () => {
    const wrong = recorded.filter(({ review: { request } }) => {
      const { object } = request;
      if (object === null || object === undefined) return false;
      const twin = { ...request, operation: 'UPDATE' as const, oldObject: reversed(object) };
      return plainChangeOf(twin).class !== 'Same';
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

const STAGE = 'delivery.pacto.trianalab.io/stage';

interface Parts {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
}

function pointer({
  spec = {},
  labels = { [STAGE]: 'prod' },
  annotations,
  metadata,
  status,
}: Parts = {}): KubeObject {
  const object = anObject(OCI_REPOSITORY, { name: 'payments', namespace: 'payments' });
  return {
    ...object,
    metadata: { ...object.metadata, labels, ...(annotations && { annotations }), ...metadata },
    spec: { url: 'oci://ghcr.io/acme/payments', ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

describe('an update', () => {
  it.each<[string, Parts, Parts, PlainClass]>([
    ['nothing', {}, {}, 'Same'],
    ['the status', {}, { status: { artifact: {} } }, 'Same'],
    [
      'managed fields and versions',
      {},
      { metadata: { managedFields: [], resourceVersion: '2', generation: 9 } },
      'Same',
    ],
    ['a finalizer', {}, { metadata: { finalizers: ['a'] } }, 'Same'],
    ['another label', {}, { labels: { [STAGE]: 'prod', a: 'b' } }, 'Same'],
    ['when it is looked at', {}, { annotations: { 'reconcile.fluxcd.io/requestedAt': 'x' } }, 'Same'],
    ['a null', {}, { spec: { verify: null } }, 'Other'],
    ['an integral double', { spec: { a: 1 } }, { spec: { a: Object(1) as unknown } }, 'Same'],
    ['suspend', {}, { spec: { suspend: true } }, 'Suspend'],
    ['suspend, from false', { spec: { suspend: false } }, { spec: { suspend: true } }, 'Suspend'],
    ['resume', { spec: { suspend: true } }, { spec: { suspend: false } }, 'Other'],
    ['suspend and more', {}, { spec: { suspend: true, interval: '1m' } }, 'Other'],
    ['suspend and the label', {}, { spec: { suspend: true }, labels: {} }, 'Other'],
    ['the label', {}, { labels: {} }, 'Other'],
    ['the Stage', {}, { labels: { [STAGE]: 'dev' } }, 'Other'],
    [
      'an annotation of delivery',
      {},
      { annotations: { 'delivery.pacto.trianalab.io/stage-namespace': 'x' } },
      'Other',
    ],
    ['force by annotation', {}, { annotations: { 'kustomize.toolkit.fluxcd.io/force': 'enabled' } }, 'Other'],
    ['the digest', {}, { spec: { ref: { digest: 'sha256:a' } } }, 'Other'],
    ['the order of a list', { spec: { a: [1, 2] } }, { spec: { a: [2, 1] } }, 'Other'],
  ])('that changes %s', (_what, before, after, expected) => {
    const request = anAdmissionRequest({ oldObject: pointer(before), object: pointer(after) });
    expect(plainChangeOf(request).class).toBe(expected);
  });
});

describe('whom it concerns', () => {
  it('names the Stage of now and that of before', () => {
    const request = anAdmissionRequest({
      oldObject: pointer(),
      object: pointer({
        labels: { [STAGE]: 'dev' },
        annotations: { 'delivery.pacto.trianalab.io/stage-namespace': 'platform' },
      }),
    });
    expect(plainChangeOf(request)).toMatchObject({
      object: {
        group: 'source.toolkit.fluxcd.io',
        kind: 'OCIRepository',
        namespace: 'payments',
        name: 'payments',
      },
      stage: { namespace: 'platform', name: 'dev' },
      oldStage: { namespace: 'payments', name: 'prod' },
    });
  });

  it('names an object whose collection is deleted', () => {
    const request = anAdmissionRequest({ oldObject: pointer(), object: null, name: '' });
    expect(plainChangeOf(request)).toMatchObject({ class: 'Delete', object: { name: 'payments' } });
  });

  it.each([null, undefined, 'x', 7, [], { metadata: 'x' }, { metadata: { labels: 'x', annotations: 7 } }])(
    'is nobody where there is no object: %j',
    (object) => {
      const request = { ...anAdmissionRequest({ object: pointer() }), object, oldObject: object };
      expect(plainChangeOf(request as AdmissionRequest)).toMatchObject({
        stage: undefined,
        oldStage: undefined,
      });
    },
  );
});
