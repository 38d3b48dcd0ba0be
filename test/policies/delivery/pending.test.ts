import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../../src/cluster/objects.ts';
import { isIgnoredByParent, parentOf } from '../../../src/policies/delivery/parent.ts';
import { pendingOf, sourceRefOf } from '../../../src/policies/delivery/pending.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;
const COMMIT = 'c'.repeat(40);
const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
const ITSELF = { group: KUSTOMIZE, kind: 'Kustomization', namespace: 'payments', name: 'app' };

const object = (members: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: {},
  ...members,
});
const sourceAt = (revision: string): KubeObject => object({ status: { artifact: { revision } } });

describe('the source of a consumer', () => {
  it.each([
    [{ sourceRef: { kind: 'OCIRepository', name: 'a' } }, 'payments/OCIRepository/a'],
    [{ sourceRef: { kind: 'GitRepository', name: 'a', namespace: 'b' } }, 'b/GitRepository/a'],
    [{ chartRef: { kind: 'OCIRepository', name: 'c' } }, 'payments/OCIRepository/c'],
  ])('%j', (spec, expected) => {
    const found = sourceRefOf({ spec }, ITSELF);
    expect(`${found?.namespace}/${found?.kind}/${found?.name}`).toBe(expected);
    expect(found?.group).toBe('source.toolkit.fluxcd.io');
  });

  it.each([
    undefined,
    null,
    {},
    { spec: { sourceRef: 'x' } },
    { spec: { sourceRef: { kind: 'A', name: '' } } },
  ])('is none of %j', (consumer) => {
    expect(sourceRefOf(consumer, ITSELF)).toBeUndefined();
  });
});

describe('what is pending behind a Kustomization', () => {
  const spec = { sourceRef: { kind: 'OCIRepository', name: 'a' } };

  it.each([
    ['nothing new', { lastAppliedRevision: A }, sourceAt(A), { isPending: false, digest: A }],
    [
      'nothing new, by name',
      { lastAppliedRevision: `v1@${A}` },
      sourceAt(`v2@${A}`),
      { isPending: false, digest: A },
    ],
    ['a digest', { lastAppliedRevision: A }, sourceAt(B), { isPending: true, digest: B }],
    [
      'a commit',
      { lastAppliedRevision: `main@sha1:${'d'.repeat(40)}` },
      sourceAt(`main@sha1:${COMMIT}`),
      { isPending: true, digest: COMMIT },
    ],
    ['everything, never applied', {}, sourceAt(B), { isPending: true, digest: B }],
    [
      'nobody knows what, without an artifact',
      { lastAppliedRevision: A },
      object({}),
      { isPending: true, digest: '' },
    ],
    [
      'nobody knows what, without a source',
      { lastAppliedRevision: A },
      undefined,
      { isPending: true, digest: '' },
    ],
  ])('%s', (_what, status, source, expected) => {
    expect(pendingOf({ spec, status }, source, undefined)).toEqual(expected);
  });
});

describe('what is pending behind a HelmRelease', () => {
  const spec = { chartRef: { kind: 'OCIRepository', name: 'a' } };

  it.each([
    ['nothing new', [{ status: 'deployed', ociDigest: A }], false],
    ['a digest', [{ status: 'deployed', ociDigest: B }], true],
    ['what failed', [{ status: 'failed', ociDigest: A }], true],
  ])('%s', (_what, history, isPending) => {
    expect(pendingOf({ spec, status: { history } }, sourceAt(A), undefined)).toEqual({
      isPending,
      digest: A,
    });
  });

  it('is its own version where it has no source', () => {
    const pinned = { value: '1.0.1', isPinned: true };
    expect(pendingOf({ spec: {}, status: { lastAttemptedRevision: '1.0.0' } }, undefined, pinned)).toEqual({
      isPending: true,
      digest: '1.0.1',
    });
    expect(
      pendingOf({ spec: {}, status: { lastAttemptedRevision: '1.0.1' } }, undefined, pinned).isPending,
    ).toBe(false);
  });
});

describe('what is pending behind a source', () => {
  it.each([
    [
      'nothing new',
      { artifact: { revision: A } },
      { value: A, isPinned: true },
      { isPending: false, digest: A },
    ],
    [
      'its digest',
      { artifact: { revision: B } },
      { value: A, isPinned: true },
      { isPending: true, digest: A },
    ],
    [
      'whatever is newest',
      { artifact: { revision: A } },
      { value: 'latest', isPinned: false },
      { isPending: true, digest: '' },
    ],
    ['nobody knows what', {}, undefined, { isPending: true, digest: '' }],
  ])('%s', (_what, status, to, expected) => {
    expect(pendingOf({ spec: {}, status }, undefined, to)).toEqual(expected);
  });
});

describe('the parent of a pointer', () => {
  const labels = { [`${KUSTOMIZE}/name`]: 'apps', [`${KUSTOMIZE}/namespace`]: 'flux-system' };

  it('is named by its labels', () => {
    expect(parentOf({ metadata: { labels } })).toEqual({
      group: KUSTOMIZE,
      kind: 'Kustomization',
      namespace: 'flux-system',
      name: 'apps',
    });
  });

  it.each([undefined, {}, { metadata: { labels: { [`${KUSTOMIZE}/name`]: 'apps' } } }])(
    'is none of %j',
    (child) => {
      expect(parentOf(child)).toBeUndefined();
    },
  );

  const pointer = {
    group: 'source.toolkit.fluxcd.io',
    kind: 'OCIRepository',
    namespace: 'payments',
    name: 'x',
  };

  it.each([
    ['its kind', { paths: ['/spec/ref'], target: { kind: 'OCIRepository' } }, true],
    [
      'it alone',
      { paths: ['/spec/ref/digest'], target: { kind: 'OCIRepository', name: 'x', namespace: 'payments' } },
      true,
    ],
    ['everything', { paths: ['/spec'] }, true],
    ['another kind', { paths: ['/spec/ref'], target: { kind: 'GitRepository' } }, false],
    ['another object', { paths: ['/spec/ref'], target: { name: 'y' } }, false],
    ['another field', { paths: ['/spec/interval'], target: {} }, false],
    ['a field that begins alike', { paths: ['/spec/re'], target: {} }, false],
    ['objects of a label', { paths: ['/spec/ref'], target: { labelSelector: 'a=b' } }, false],
    ['no path', { paths: 'x' }, false],
  ])('ignores a pin by a rule for %s: %j', (_what, rule, expected) => {
    expect(isIgnoredByParent(object({ spec: { ignore: [rule] } }), pointer)).toBe(expected);
  });

  it.each([undefined, object({}), object({ spec: { ignore: 'x' } }), object({ spec: { ignore: [null] } })])(
    'ignores nothing where it has no rules: %j',
    (parent) => {
      expect(isIgnoredByParent(parent, pointer)).toBe(false);
    },
  );
});
