/** The delivery webhooks over a list of objects, asked as the API server asks them. */
import { createHash } from 'node:crypto';

import {
  DEPLOYMENT,
  GIT_REPOSITORY,
  HELM_RELEASE,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  type Kind,
} from '../../src/cluster/kinds.ts';
import type { Reader } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { deliveryWebhooks, type DeliveryWebhookParts } from '../../src/webhooks/delivery.ts';
import { createEdge, type Edge } from '../../src/webhooks/edge.ts';
import { silentLog } from '../../src/log.ts';
import { anObject, aReview, aUser, type AdmissionReview } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { readerOver } from './decide-by.ts';
import { rawRequest } from './edge-parts.ts';

export const NOW_MS = Date.parse('2026-01-02T03:04:05Z');
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
/** What the Stage stands on, what it ran before, and what it never ran. */
export const CURRENT = digest('a');
export const GOOD = digest('b');
export const NEW = digest('c');

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Members = Readonly<Record<string, unknown>>;

const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const POLICY = `
version: 1
roles:
  release-manager: { subjects: [{ group: managers }] }
  stage-admin: { subjects: [{ group: platform }] }
  breakglass: { subjects: [{ group: commanders }], ticketPattern: "^INC-[0-9]+$", maxDuration: 1h }
rules:
  - match: { namespaces: ["*"], stages: ["*"] }
    promote: [release-manager]
    approve: [release-manager]
    rollback: [release-manager]
    breakGlass: [breakglass]
    admin: [stage-admin]
crossNamespace: []
`;

export const identityPolicy = (text: string = POLICY): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'pacto-delivery-identity',
    namespace: 'pacto-delivery',
    resourceVersion: String(text.length),
  },
  data: { 'policy.yaml': text },
});

export const pacto = (status: Members = {}, spec: Members = {}): KubeObject => ({
  apiVersion: 'pacto.trianalab.io/v1alpha1',
  kind: 'Pacto',
  metadata: { name: 'payments', namespace: 'payments', generation: 3, resourceVersion: '41' },
  spec: { target: { serviceName: 'payments' }, ...spec },
  status: {
    contractStatus: 'NonCompliant',
    contractVersion: '2.3.0',
    observedGeneration: 3,
    lastReconciledAt: iso(NOW_MS - 60_000),
    findings: [{ code: 'WORKLOAD_MISMATCH', severity: 'error' }],
    ...status,
  },
});

export interface StageParts {
  readonly spec?: Members;
  readonly status?: Members;
  readonly metadata?: Members;
}

/** `payments/prod`: enforcing, with one pointer of each kind. */
export const stage = ({ spec, status, metadata }: StageParts = {}): KubeObject => ({
  apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
  kind: 'Stage',
  metadata: {
    name: 'prod',
    namespace: 'payments',
    uid: 'stage-uid',
    generation: 1,
    resourceVersion: '9',
    ...metadata,
  },
  spec: {
    pacto: { name: 'payments' },
    pointers: [
      pointer('oci', OCI_REPOSITORY, 'ociDigest'),
      pointer('git', GIT_REPOSITORY, 'gitCommit'),
      pointer('helm', HELM_RELEASE, 'chartVersion'),
      pointer('app', KUSTOMIZATION, 'kustomizeImageDigest', 'app'),
      {
        name: 'map',
        target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'map' },
        field: 'configKey',
        key: 'app',
      },
    ],
    consumers: [{ kind: 'Kustomization', name: 'payments' }],
    ...spec,
  },
  status: {
    current: {
      digest: CURRENT,
      since: iso(NOW_MS - 7_200_000),
      convergedAt: iso(NOW_MS - 7_100_000),
      templates: [],
    },
    lastGood: [{ digest: GOOD, templates: [] }],
    ...status,
  },
});

function pointer(name: string, { group, version, kind }: Kind, field: string, key = ''): Members {
  return { name, target: { apiVersion: `${group}/${version}`, kind, name }, field, key };
}

/** An object of the Stage, with its label. */
export function gated(kind: Kind, name: string, members: Members = {}): KubeObject {
  const object = anObject(kind, { name, namespace: 'payments' });
  const { metadata, ...rest } = members;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { 'delivery.pacto.trianalab.io/stage': 'prod' },
      ...(metadata as Members | undefined),
    },
    ...rest,
  };
}

export const source = (spec: Members, more: Members = {}): KubeObject =>
  gated(OCI_REPOSITORY, 'oci', { spec: { url: 'oci://ghcr.io/acme/payments', ...spec }, ...more });
export const kustomization = (spec: Members, more: Members = {}): KubeObject =>
  gated(KUSTOMIZATION, 'app', { spec: { path: './app', ...spec }, ...more });
export const release = (spec: Members, more: Members = {}): KubeObject =>
  gated(HELM_RELEASE, 'helm', { spec, ...more });

export function deployment(image: string, more: Members = {}): KubeObject {
  const object = anObject(DEPLOYMENT, { name: 'payments', namespace: 'payments' });
  const { template = {}, ...spec } = more;
  return {
    ...object,
    spec: {
      replicas: 1,
      ...spec,
      template: { spec: { containers: [{ name: 'app', image }] }, ...(template as Members) },
    },
  };
}

export interface Answered {
  readonly text: string;
  readonly allowed: boolean;
  /** In brackets at the beginning of a refusal; of an Allow its audit annotation. */
  readonly code: string;
  readonly message: string;
  readonly status: { readonly code?: number; readonly reason?: string } & Members;
  readonly warnings: readonly string[];
  readonly audit: Readonly<Record<string, string>>;
  readonly patch: unknown;
}

export interface Site {
  readonly clock: FakeClock;
  ask(path: string, review: AdmissionReview): Promise<Answered>;
}

export function siteWith(
  objects: readonly KubeObject[],
  { reader, ...parts }: Partial<DeliveryWebhookParts> & { readonly reader?: Reader } = {},
): Site {
  const clock = new FakeClock(NOW_MS);
  const edge: Edge = createEdge({
    webhooks: deliveryWebhooks({
      settings: { promoterUsername: undefined, sha256 },
      namespace: 'pacto-delivery',
      failurePolicy: 'Fail',
      workloads: { enabled: true, failurePolicy: 'Ignore' },
      stickyMs: 0,
      stabilizationMs: 120_000,
      clock,
      ...parts,
    }),
    readerFor: () => reader ?? readerOver(objects),
    clock,
    log: silentLog(),
    metrics: { decision: () => undefined, refusal: () => undefined },
  });
  return {
    clock,
    async ask(path, review) {
      const { body } = await edge.answer({ ...rawRequest(path, review), receivedMs: clock.monotonic() });
      return answeredBy(body);
    },
  };
}

function answeredBy(text: string): Answered {
  const { response } = JSON.parse(text) as {
    readonly response: {
      readonly allowed: boolean;
      readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
      readonly warnings?: readonly string[];
      readonly auditAnnotations?: Readonly<Record<string, string>>;
      readonly patch?: string;
    };
  };
  const { allowed, status, warnings = [], auditAnnotations = {}, patch } = response;
  const [, code = ''] = /^\[([A-Z_]+)\]/.exec(status?.message ?? '') ?? [];
  return {
    text,
    allowed,
    code: allowed ? (auditAnnotations['reason-code'] ?? '') : code,
    message: status?.message ?? '',
    status: { ...status },
    warnings,
    audit: auditAnnotations,
    patch: patch === undefined ? undefined : JSON.parse(Buffer.from(patch, 'base64').toString()),
  };
}

export const POINTERS = '/validate/delivery/pointers';
export const WORKLOADS = '/validate/delivery/workloads';
export const API = '/validate/delivery/api';
export const STAMPS = '/mutate/delivery/stamps';

export const ALICE = aUser({ username: 'alice@example.com', groups: ['dev'] });
export const ADMIN = aUser({ username: 'root@example.com', groups: ['platform'] });
export const FLUX = aUser({ username: 'system:serviceaccount:flux-system:kustomize-controller', groups: [] });

/** A change of an object; without `old` its creation. */
export function change(
  object: KubeObject,
  old: KubeObject | undefined,
  options: Parameters<typeof aReview>[0] = {},
): AdmissionReview {
  return aReview({ user: ALICE, object, ...(old === undefined ? {} : { oldObject: old }), ...options });
}
