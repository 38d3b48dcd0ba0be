/** Rows 1 to 19: pointers that somebody moves. */
import { CONFIG_MAP, GIT_REPOSITORY } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Row } from './delivery-row.ts';
import { aReview, type AdmissionReview } from '../support/builders.ts';
import {
  ADMIN,
  change,
  CURRENT,
  FLUX,
  gated,
  GOOD,
  kustomization,
  NEW,
  release,
  source,
} from './delivery-site.ts';

export const at = (digest: string): KubeObject => source({ ref: { digest } });
export const moved = (digest: string): AdmissionReview => change(at(digest), at(CURRENT));
const PROMOTER = 'system:serviceaccount:pacto-delivery:promoter';
const moving: KubeObject = {
  apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
  kind: 'Operation',
  metadata: { name: 'p', namespace: 'payments', uid: 'op', creationTimestamp: '2026-01-02T03:00:00Z' },
  spec: { stage: 'prod', type: 'Promote', digest: NEW },
  status: { phase: 'Moving', moves: [{ pointer: 'oci', from: CURRENT, to: NEW, state: 'Intent' }] },
};
const promoted = (digest: string): AdmissionReview =>
  change(at(digest), at(CURRENT), { user: { username: PROMOTER, groups: [] } });

/** A Kustomization that is suspended, and what its source has. */
const consumer = (suspend: boolean): KubeObject =>
  kustomization(
    {
      suspend,
      sourceRef: { kind: 'OCIRepository', name: 'src' },
      images: [{ name: 'app', digest: CURRENT }],
    },
    { status: { lastAppliedRevision: CURRENT } },
  );
const sourceWith = (digest: string): KubeObject => ({
  ...gated({ ...GIT_REPOSITORY, kind: 'OCIRepository', resource: 'ocirepositories' }, 'src'),
  status: { artifact: { revision: digest } },
});

export const POINTER_ROWS: readonly Row[] = [
  {
    row: 1,
    what: 'a promoter with a warrant',
    review: promoted(NEW),
    promoter: PROMOTER,
    more: [moving],
    allowed: true,
    code: 'ALLOWED',
  },
  {
    row: 1,
    what: 'a promoter without one',
    review: promoted(NEW),
    promoter: PROMOTER,
    allowed: false,
    code: 'NO_EVIDENCE',
  },
  {
    row: 1,
    what: 'somebody else, with a promoter',
    review: moved(NEW),
    promoter: PROMOTER,
    more: [moving],
    allowed: false,
    code: 'NO_EVIDENCE',
  },
  {
    row: 2,
    what: 'a person who moves forward',
    review: moved(NEW),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 3,
    what: 'a parent Kustomization that moves forward',
    review: change(at(NEW), at(CURRENT), { user: FLUX }),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 4,
    what: 'a tag',
    review: change(source({ ref: { tag: 'latest' } }), at(CURRENT)),
    allowed: false,
    code: 'NOT_PINNED',
  },
  {
    row: 4,
    what: 'no reference at all',
    review: change(source({}), at(CURRENT)),
    allowed: false,
    code: 'NOT_PINNED',
  },
  {
    row: 5,
    what: 'a source that finds a new artifact',
    review: change(
      source({ ref: { tag: 'v1' } }, { status: { artifact: {} } }),
      source({ ref: { tag: 'v1' } }),
      { subResource: 'status' },
    ),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 6,
    what: 'another URL',
    review: change(source({ ref: { digest: CURRENT }, url: 'oci://evil' }), at(CURRENT)),
    allowed: false,
    code: 'POINTER_IDENTITY',
    warnCode: 'POINTER_IDENTITY',
  },
  {
    row: 6,
    what: 'verification taken away',
    review: change(at(CURRENT), source({ ref: { digest: CURRENT }, verify: {} })),
    allowed: false,
    code: 'POINTER_IDENTITY',
    warnCode: 'POINTER_IDENTITY',
  },
  {
    row: 6,
    what: 'another URL, by an admin',
    review: change(source({ ref: { digest: CURRENT }, url: 'oci://b' }), at(CURRENT), { user: ADMIN }),
    allowed: true,
    code: 'ALLOWED',
  },
  { row: 7, what: 'a digest that was good', review: moved(GOOD), allowed: true, code: 'ROLLBACK' },
  {
    row: 7,
    what: 'a digest that was good, in a freeze',
    review: moved(GOOD),
    stage: { spec: { freeze: { until: '2027-01-01T00:00:00Z' } } },
    allowed: true,
    code: 'ROLLBACK',
  },
  {
    row: 8,
    what: 'suspend',
    review: change(consumer(true), consumer(false)),
    allowed: true,
    code: 'SUSPEND',
  },
  {
    row: 9,
    what: 'resume with nothing pending',
    review: change(consumer(false), consumer(true)),
    more: [sourceWith(CURRENT)],
    allowed: true,
    code: 'SAME',
  },
  {
    row: 9,
    what: 'resume of what is pending',
    review: change(consumer(false), consumer(true)),
    more: [sourceWith(NEW)],
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 9,
    what: 'resume of nobody knows what',
    review: change(consumer(false), consumer(true)),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 10,
    what: 'requestedAt',
    review: change(
      source(
        { ref: { digest: CURRENT } },
        { metadata: { ...at(CURRENT).metadata, annotations: { 'reconcile.fluxcd.io/requestedAt': 'x' } } },
      ),
      at(CURRENT),
    ),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 11,
    what: 'another path',
    review: change(
      kustomization({ path: './b', sourceRef: { kind: 'OCIRepository', name: 'src' } }),
      kustomization({ path: './a', sourceRef: { kind: 'OCIRepository', name: 'src' } }),
    ),
    more: [sourceWith(CURRENT)],
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 12,
    what: 'the image of the pointer',
    review: change(
      kustomization({ images: [{ name: 'app', digest: NEW }] }),
      kustomization({ images: [{ name: 'app', digest: CURRENT }] }),
    ),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 12,
    what: 'patches',
    review: change(kustomization({ patches: [{}] }), kustomization({})),
    allowed: true,
    code: 'ALLOWED',
  },
  {
    row: 12,
    what: 'patches, in scope Strict',
    review: change(kustomization({ patches: [{}] }), kustomization({})),
    stage: { spec: { gate: { scope: 'Strict' } } },
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 13,
    what: 'a gate that is not waited for any more',
    review: change(kustomization({}), kustomization({ dependsOn: [{ name: 'gate' }] })),
    allowed: false,
    code: 'NOT_ADMIN',
    warnCode: 'NOT_ADMIN',
  },
  {
    row: 13,
    what: 'force',
    review: change(kustomization({ force: true }), kustomization({})),
    allowed: true,
    code: 'ALLOWED',
  },
  {
    row: 13,
    what: 'prune',
    review: change(kustomization({ prune: true }), kustomization({})),
    allowed: true,
    code: 'ALLOWED',
  },
  {
    row: 14,
    what: 'another chart version',
    review: change(
      release({ chart: { spec: { version: '1.0.1' } } }),
      release({ chart: { spec: { version: '1.0.0' } } }),
    ),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 14,
    what: 'another chart',
    review: change(
      release({ chart: { spec: { version: '1.0.0', chart: 'b' } } }),
      release({ chart: { spec: { version: '1.0.0', chart: 'a' } } }),
    ),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 15,
    what: 'values',
    review: change(release({ values: { a: 1 } }), release({})),
    allowed: true,
    code: 'ALLOWED',
  },
  {
    row: 16,
    what: 'the key of a ConfigMap',
    review: change(
      gated(CONFIG_MAP, 'map', { data: { app: NEW } }),
      gated(CONFIG_MAP, 'map', { data: { app: CURRENT } }),
    ),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 16,
    what: 'a ConfigMap without the label',
    review: change(
      gated(CONFIG_MAP, 'map', { metadata: { labels: {} }, data: { app: NEW } }),
      gated(CONFIG_MAP, 'map', { metadata: { labels: {} } }),
    ),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 17,
    what: 'the label taken away',
    review: change(gated(GIT_REPOSITORY, 'git', { metadata: { labels: {} } }), gated(GIT_REPOSITORY, 'git')),
    allowed: false,
    code: 'NOT_ADMIN',
    warnCode: 'NOT_ADMIN',
  },
  {
    row: 17,
    what: 'the label taken away by an admin',
    review: change(gated(GIT_REPOSITORY, 'git', { metadata: { labels: {} } }), gated(GIT_REPOSITORY, 'git'), {
      user: ADMIN,
    }),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 18,
    what: 'creation of what it stands on',
    review: change(at(CURRENT), undefined),
    allowed: true,
    code: 'DRIFT_CORRECTION',
  },
  {
    row: 18,
    what: 'creation of what was good',
    review: change(at(GOOD), undefined),
    allowed: true,
    code: 'ROLLBACK',
  },
  {
    row: 18,
    what: 'creation of something new',
    review: change(at(NEW), undefined),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 19,
    what: 'deletion',
    review: aReview({ oldObject: at(CURRENT), object: null }),
    allowed: true,
    code: 'DELETE',
  },
];
