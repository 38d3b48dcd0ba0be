/** Rows 20 to 36: workloads, drift, and what is nobody's release. */
import { CONFIG_MAP } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { templateTextOf } from '../../src/policies/delivery/workload-template.ts';
import { at, moved } from './delivery-pointer-rows.ts';
import type { Row } from './delivery-row.ts';
import { aReview } from '../support/builders.ts';
import {
  change,
  CURRENT,
  deployment,
  FLUX,
  gated,
  GOOD,
  NEW,
  sha256,
  source,
  WORKLOADS,
  type StageParts,
} from './delivery-site.ts';

const workloadScope: StageParts = { spec: { gate: { scope: 'Workload' } } };
const hashOf = (object: KubeObject): string => sha256(templateTextOf(object) ?? '');
const templatesOf = (object: KubeObject): object[] => [
  { kind: 'Deployment', name: 'payments', sha256: hashOf(object) },
];
const converged = { digest: CURRENT, since: '2026-01-02T01:00:00Z', convergedAt: '2026-01-02T01:01:00Z' };

export const WORKLOAD_ROWS: readonly Row[] = [
  {
    row: 20,
    what: 'a template in pointer scope',
    path: WORKLOADS,
    review: change(deployment('b'), deployment('a')),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 21,
    what: 'a template in workload scope',
    path: WORKLOADS,
    stage: workloadScope,
    review: change(deployment('b'), deployment('a')),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 21,
    what: 'a template after a move that was allowed',
    path: WORKLOADS,
    stage: { ...workloadScope, status: { current: { digest: CURRENT, since: '2026-01-02T03:00:00Z' } } },
    review: change(deployment('b'), deployment('a')),
    allowed: true,
    code: 'ALLOWED',
  },
  { row: 22, what: 'nothing', review: change(at(CURRENT), at(CURRENT)), allowed: true, code: 'SAME' },
  {
    row: 23,
    what: 'a clean-up',
    review: change(
      source({ ref: { digest: CURRENT } }, { metadata: { ...at(CURRENT).metadata, managedFields: [] } }),
      at(CURRENT),
    ),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 24,
    what: 'a pointer put back',
    review: change(at(CURRENT), at(NEW)),
    allowed: true,
    code: 'DRIFT_CORRECTION',
  },
  {
    row: 24,
    what: 'a pointer put back by Flux',
    review: change(at(CURRENT), source({ ref: { tag: 'v1' } }), { user: FLUX }),
    allowed: true,
    code: 'DRIFT_CORRECTION',
  },
  {
    row: 24,
    what: 'a pointer put back to what it was, with another URL',
    review: change(source({ ref: { digest: CURRENT }, url: 'oci://b' }), at(NEW)),
    allowed: false,
    code: 'POINTER_IDENTITY',
    warnCode: 'POINTER_IDENTITY',
  },
  {
    row: 24,
    what: 'a template put back',
    path: WORKLOADS,
    stage: {
      ...workloadScope,
      status: { current: { ...converged, templates: templatesOf(deployment('a')) } },
    },
    review: change(deployment('a'), deployment('b')),
    allowed: true,
    code: 'DRIFT_CORRECTION',
  },
  {
    row: 25,
    what: 'kubectl rollout undo to a good one',
    path: WORKLOADS,
    stage: {
      ...workloadScope,
      status: { current: converged, lastGood: [{ digest: GOOD, templates: templatesOf(deployment('a')) }] },
    },
    review: change(deployment('a'), deployment('b')),
    allowed: true,
    code: 'ROLLBACK',
  },
  {
    row: 26,
    what: 'replicas',
    path: WORKLOADS,
    stage: workloadScope,
    review: change(deployment('a', { replicas: 9 }), deployment('a')),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 26,
    what: 'a restart',
    path: WORKLOADS,
    stage: workloadScope,
    review: change(
      deployment('a', {
        template: {
          metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'x' } },
          spec: { containers: [{ name: 'app', image: 'a' }] },
        },
      }),
      deployment('a'),
    ),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 27,
    what: 'an object of a chart in pointer scope',
    path: WORKLOADS,
    review: change(
      {
        ...deployment('b'),
        metadata: { ...deployment('b').metadata, labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
      },
      undefined,
    ),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 28,
    what: 'uninstallation',
    path: WORKLOADS,
    stage: workloadScope,
    review: aReview({ oldObject: deployment('a'), object: null }),
    allowed: true,
    code: 'DELETE',
  },
  {
    row: 29,
    what: 'a workload made again as it was',
    path: WORKLOADS,
    stage: {
      ...workloadScope,
      status: { current: { ...converged, templates: templatesOf(deployment('a')) } },
    },
    review: change(deployment('a'), undefined),
    allowed: true,
    code: 'DRIFT_CORRECTION',
  },
  {
    row: 29,
    what: 'a workload made again otherwise',
    path: WORKLOADS,
    stage: workloadScope,
    review: change(deployment('b'), undefined),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 30,
    what: 'garbage',
    review: aReview({
      oldObject: at(CURRENT),
      object: null,
      name: '',
      user: { username: 'system:serviceaccount:kube-system:generic-garbage-collector' },
    }),
    allowed: true,
    code: 'DELETE',
  },
  {
    row: 31,
    what: 'the copy of Flagger',
    path: WORKLOADS,
    stage: workloadScope,
    review: change(
      { ...deployment('b'), metadata: { ...deployment('b').metadata, name: 'payments-primary' } },
      { ...deployment('a'), metadata: { ...deployment('a').metadata, name: 'payments-primary' } },
    ),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 32,
    what: 'a status',
    path: WORKLOADS,
    stage: workloadScope,
    review: change({ ...deployment('a'), status: { replicas: 1 } }, deployment('a'), {
      subResource: 'status',
    }),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 33,
    what: 'a finalizer',
    review: change(
      source(
        { ref: { digest: CURRENT } },
        {
          metadata: { ...at(CURRENT).metadata, finalizers: ['a'], deletionTimestamp: '2026-01-01T00:00:00Z' },
        },
      ),
      at(CURRENT),
    ),
    allowed: true,
    code: 'SAME',
  },
  {
    row: 34,
    what: 'a diff of a person',
    review: change(at(NEW), at(CURRENT), { dryRun: true }),
    allowed: false,
    code: 'TARGET_NONCOMPLIANT',
  },
  {
    row: 35,
    what: 'a neighbour',
    review: change(
      gated(CONFIG_MAP, 'other', { metadata: { labels: {} }, data: { a: 'b' } }),
      gated(CONFIG_MAP, 'other', { metadata: { labels: {} } }),
    ),
    allowed: true,
    code: 'GATE_OFF',
  },
  {
    row: 36,
    what: 'a move with upstreams of which nothing is known',
    review: moved(NEW),
    stage: { spec: { upstreams: { from: [{ stage: 'staging' }] } } },
    allowed: false,
    code: 'NO_EVIDENCE',
  },
];
