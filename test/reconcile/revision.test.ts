import { describe, expect, it } from 'vitest';
import { PACTO_REVISION } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { RevisionPlan } from '../../src/reconcile/pass.ts';
import {
  labelValue,
  planRevision,
  revisionName,
  sourceOf,
  type RevisedContract,
} from '../../src/reconcile/revision.ts';
import { anObject } from '../support/builders.ts';

const HASH = '0123456789abcdef'.repeat(4);
const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER_DIGEST = `sha256:${'b'.repeat(64)}`;
const NOW_MS = Date.parse('2026-01-01T00:00:00.700Z');
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
/** As long as a Pacto's may be. */
const LONGEST = `${`${'p'.repeat(62)}.`.repeat(4)}p`;

const CONTRACT: RevisedContract = {
  serviceName: 'cart',
  version: '1.4.0',
  sha256: HASH,
  resolvedRef: 'r.test/cart:1.4.0',
  digest: DIGEST,
};

function plan(
  contract: Partial<RevisedContract> = {},
  existing: readonly KubeObject[] = [],
  name = 'cart',
): RevisionPlan {
  const pacto = { namespace: 'shop', name, uid: 'u-1' };
  return planRevision(pacto, { ...CONTRACT, ...contract }, existing, NOW_MS);
}

function revision(name: string, source: unknown): KubeObject {
  return anObject(PACTO_REVISION, { namespace: 'shop', name }, { spec: { source } });
}

describe('a revision', () => {
  it('is written as upstream writes it', () => {
    expect(plan()).toEqual({
      existing: undefined,
      object: {
        apiVersion: 'pacto.trianalab.io/v1alpha1',
        kind: 'PactoRevision',
        metadata: {
          namespace: 'shop',
          name: 'cart-1-4-0-0123456',
          labels: { 'pacto.trianalab.io/pacto': 'cart', 'pacto.trianalab.io/version': '1.4.0' },
          ownerReferences: [
            {
              apiVersion: 'pacto.trianalab.io/v1alpha1',
              kind: 'Pacto',
              name: 'cart',
              uid: 'u-1',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: {
          version: '1.4.0',
          pactoRef: 'cart',
          source: { oci: 'r.test/cart:1.4.0', digest: DIGEST },
          serviceName: 'cart',
        },
        status: { resolved: true, contractHash: HASH, createdAt: '2026-01-01T00:00:00Z' },
      },
    });
  });

  it.each<[string, Partial<RevisedContract>, unknown]>([
    ['an inline contract', { resolvedRef: '', digest: '' }, { inline: true }],
    ['a bundle whose digest is not known', { digest: '' }, { oci: 'r.test/cart:1.4.0' }],
  ])('says where it came from: %s', (_name, contract, source) => {
    expect((plan(contract).object['spec'] as { source: unknown }).source).toEqual(source);
  });

  it('without a version is of an unknown one', () => {
    const { metadata, ...rest } = plan({ version: '', serviceName: '' }).object;
    expect(metadata.name).toBe('cart-unknown-0123456');
    expect(rest['spec']).toEqual({
      version: 'unknown',
      pactoRef: 'cart',
      source: { oci: 'r.test/cart:1.4.0', digest: DIGEST },
    });
  });

  it('is the one that is there', () => {
    const there = revision('cart-1-4-0-0123456', { oci: 'r.test/cart:1.4.0', digest: DIGEST });
    expect(plan({}, [revision('cart-1-3-0-0123456', {}), there]).existing).toBe(there);
  });
});

describe('the same contract in another bundle (T4)', () => {
  const old = revision('cart-1-4-0-0123456', { oci: 'r.test/cart:1.4.0', digest: DIGEST });

  it('gets a name of its own', () => {
    const { object, existing } = plan({ digest: OTHER_DIGEST }, [old]);
    expect(object.metadata.name).toBe('cart-1-4-0-0123456-bbbbbbb');
    expect(object['spec']).toMatchObject({ source: { digest: OTHER_DIGEST } });
    expect(existing).toBeUndefined();
  });

  it('finds it again', () => {
    const other = revision('cart-1-4-0-0123456-bbbbbbb', { digest: OTHER_DIGEST });
    expect(plan({ digest: OTHER_DIGEST }, [old, other]).existing).toBe(other);
  });

  it('goes back to the first name with the first digest', () => {
    const other = revision('cart-1-4-0-0123456-bbbbbbb', { digest: OTHER_DIGEST });
    expect(plan({}, [old, other]).existing).toBe(old);
  });

  it.each<[string, Partial<RevisedContract>, unknown]>([
    ['ours is not known', { digest: '' }, { digest: DIGEST }],
    ['that of the revision is not known', { digest: OTHER_DIGEST }, { oci: 'r.test/cart:1.4.0' }],
    ['that of the revision is no digest', { digest: OTHER_DIGEST }, { digest: 7 }],
    ['the revision has no source', { digest: OTHER_DIGEST }, undefined],
  ])('is taken for the same one where %s', (_name, contract, source) => {
    const there = revision('cart-1-4-0-0123456', source);
    expect(plan(contract, [there]).existing).toBe(there);
  });
});

describe('the name of a revision (T10)', () => {
  it.each([
    ['an ordinary version', 'cart', '1.4.0', 'cart-1-4-0-0123456'],
    ['a pre-release', 'cart', '1.4.0-rc.1', 'cart-1-4-0-rc-1-0123456'],
    ['a name with dots', 'cart.v2', '1.4.0', 'cart.v2-1-4-0-0123456'],
    ['a leading v', 'cart', 'v1.4', 'cart-v1-4-0123456'],
  ])('is plain for %s', (_name, pacto, version, name) => {
    expect(revisionName(pacto, version, HASH)).toBe(name);
  });

  it.each([
    ['build metadata', 'cart', '1.4.0+build.5', /^cart-1-4-0-build-5-[0-9a-f]{7}-0123456$/],
    ['capitals', 'cart', '1.4.0-RC.1', /^cart-1-4-0-rc-1-[0-9a-f]{7}-0123456$/],
    ['what is no version at all', 'cart', '+++', /^cart--[0-9a-f]{7}-0123456$/],
    ['a version without an end', 'cart', `1.0.0-${'x'.repeat(1_000)}`, /^cart-1-0-0-x+-[0-9a-f]{7}-0123456$/],
    ['the longest name', LONGEST, '1.4.0', /^p{62}\.p{62}.*-1-4-0-[0-9a-f]{7}-0123456$/],
  ])('is one that a name may be, with its hash, for %s', (_name, pacto, version, pattern) => {
    const name = revisionName(pacto, version, HASH);
    expect(name).toMatch(pattern);
    expect(name).toMatch(NAME);
    expect(name.length).toBeLessThanOrEqual(253);
  });

  it.each([
    ['versions that read the same', ['cart', '1.0.0+a'], ['cart', '1.0.0+A']],
    ['a version that is the other one sanitised', ['cart', '1.0.0-RC'], ['cart', '1.0.0-rc']],
    [
      'long names that begin alike',
      [`${LONGEST.slice(0, -1)}a`, '1.4.0'],
      [`${LONGEST.slice(0, -1)}b`, '1.4.0'],
    ],
  ] as const)('tells apart %s', (_name, one, other) => {
    expect(revisionName(one[0], one[1], HASH)).not.toBe(revisionName(other[0], other[1], HASH));
  });

  it('has the digest behind the hash', () => {
    expect(revisionName('cart', '1.4.0+b', HASH, 'f'.repeat(64))).toMatch(/-0123456-fffffff$/);
  });
});

describe('the labels of a revision (T10)', () => {
  it.each(['cart', '1.4.0-RC.1', 'a'.repeat(63)])(
    'are what they are of where that may be one: %s',
    (text) => {
      expect(labelValue(text)).toBe(text);
    },
  );

  it.each(['1.4.0+build', 'a'.repeat(64), LONGEST, '+++', '', '.a', '-'.repeat(80), 'ä'])(
    'are the beginning and a hash where it may not: %j',
    (text) => {
      expect(labelValue(text)).toMatch(LABEL);
      expect(labelValue(text).length).toBeLessThanOrEqual(63);
      expect(labelValue(text)).not.toBe(labelValue(`${text}x`));
    },
  );
});

describe('what a revision came from', () => {
  it.each([
    [{ source: { oci: 'r.test/a:1', digest: DIGEST } }, { oci: 'r.test/a:1', digest: DIGEST }],
    [{ source: { oci: '', digest: '' } }, {}],
    [{ source: { oci: 1, digest: [] } }, {}],
    [{ source: null }, {}],
    [{}, {}],
    [undefined, {}],
  ])('of %j is %j', (spec, source) => {
    expect(sourceOf(anObject(PACTO_REVISION, {}, { spec }))).toEqual(source);
  });
});
