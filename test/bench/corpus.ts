/**
 * The reviews of the benchmark: made here, the same bytes at each call (a test holds their digests), so that numbers
 * of two days can be compared. Sizes and kinds follow webhook-operations.md §5.4.
 */
import type { KubeObject } from '../../src/cluster/objects.ts';
import { aConfigMap, aLease, anAgent, anObject, aPod, aReview, aUser } from '../support/builders.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { LEASE } from '../../src/cluster/kinds.ts';

export const BODY_NAMES = [
  'pod-create-4k',
  'pod-create-100-containers',
  'deployment-update-8k',
  'lease-update-own',
  'lease-update-foreign',
  'lease-delete-own',
  'configmap-update-1m',
  'resource-update-3m',
  'resource-update-3m-decimals',
] as const;

export type BodyName = (typeof BODY_NAMES)[number];

export interface ReviewBody {
  readonly name: BodyName;
  readonly bytes: Buffer;
  /** Where the 36 bytes of `request.uid` begin: each request gets its own. */
  readonly uidOffset: number;
  /** Whether the node identity webhook allows it. */
  readonly allowed: boolean;
}

export const UID_LENGTH = 36;
const UID = '00000000-0000-4000-8000-000000000000';
const KIB = 1024;

const DEPLOYMENT: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
};
/** Stands for what operators keep large state in: many small fields, numbers among them. */
const INVENTORY: Kind = {
  group: 'inventory.example',
  version: 'v1',
  kind: 'Inventory',
  resource: 'inventories',
  namespaced: true,
};

/** The uid of request number `index`: as long as a real one. */
export function uidOfRequest(index: number): string {
  return UID.slice(0, 24) + index.toString(16).padStart(12, '0');
}

/** Makes one body; the large ones take some 50 ms. */
export function reviewBody(name: BodyName): ReviewBody {
  const text = JSON.stringify(REVIEWS[name]());
  const bytes = Buffer.from(text);
  const uidOffset = bytes.indexOf(`"uid":"${UID}"`) + '"uid":"'.length;
  return { name, bytes, uidOffset, allowed: name !== 'lease-update-foreign' };
}

const REVIEWS: Readonly<Record<BodyName, () => unknown>> = {
  'pod-create-4k': () =>
    aReview({ uid: UID, user: controller('replicaset-controller'), object: pod(1, 4 * KIB) }),
  'pod-create-100-containers': () =>
    aReview({ uid: UID, user: controller('replicaset-controller'), object: pod(100, 0) }),
  'deployment-update-8k': () => aReview({ uid: UID, object: deployment(4), oldObject: deployment(3) }),
  'lease-update-own': () =>
    aReview({ uid: UID, user: anAgent(), object: lease('node-a', 9), oldObject: lease('node-a', 8) }),
  'lease-update-foreign': () =>
    aReview({ uid: UID, user: anAgent(), object: lease('node-b', 9), oldObject: lease('node-b', 8) }),
  'lease-delete-own': () =>
    aReview({ uid: UID, kind: LEASE, user: anAgent(), oldObject: lease('node-a', 8) }),
  'configmap-update-1m': () => aReview({ uid: UID, object: configMap(2), oldObject: configMap(1) }),
  'resource-update-3m': () => aReview({ uid: UID, object: inventory(2, 1), oldObject: inventory(1, 1) }),
  // Decimals are rare in Kubernetes objects, and must be told from integers.
  'resource-update-3m-decimals': () =>
    aReview({ uid: UID, object: inventory(2, 8), oldObject: inventory(1, 8) }),
};

function controller(name: string): ReturnType<typeof aUser> {
  return aUser({
    username: `system:serviceaccount:kube-system:${name}`,
    uid: '5c3b3a1e-6a39-4c0a-9d0b-0d7f3b1d8a11',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  });
}

/** Field ownership as the API server keeps it: on small objects it is half of what is sent. */
function ownedBy(manager: string, fieldsV1: unknown, object: KubeObject): KubeObject {
  const { apiVersion, metadata } = object;
  const time = '2026-01-01T00:00:00Z';
  const entry = { manager, operation: 'Update', apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
  // Not a field of ours: no decision reads it.
  const withOwner = { ...metadata, managedFields: [entry] };
  return { ...object, metadata: withOwner };
}

function container(index: number): Readonly<Record<string, unknown>> {
  return {
    name: `main-${index}`,
    image: `registry.example/shop/web:1.${index}.0`,
    args: ['--listen=0.0.0.0:8080', `--shard=${index}`, '--log-format=json'],
    ports: [{ name: `http-${index}`, containerPort: 8080 + index, protocol: 'TCP' }],
    env: [
      { name: 'GOMAXPROCS', value: '2' },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    readinessProbe: {
      httpGet: { path: '/healthz?full=1&quiet=0', port: 8080 + index, scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    volumeMounts: [{ name: 'cache', mountPath: '/var/cache' }],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 1000,
    },
  };
}

function podSpec(containers: number): Readonly<Record<string, unknown>> {
  return {
    volumes: [{ name: 'cache', emptyDir: { sizeLimit: '1Gi' } }],
    containers: Array.from({ length: containers }, (_, index) => container(index)),
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'web',
    serviceAccount: 'web',
    securityContext: { fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    schedulerName: 'default-scheduler',
    tolerations: [
      {
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
      {
        key: 'node.kubernetes.io/unreachable',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

/** @param bytes the review is filled up to this size by an annotation, as templating tools do. */
function pod(containers: number, bytes: number): KubeObject {
  const owned = { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } }, 'f:spec': { 'f:containers': {} } };
  const build = (padding: string): KubeObject =>
    ownedBy(
      'kube-controller-manager',
      owned,
      aPod({
        name: 'web-6d4cf56db6-x2x7k',
        namespace: 'shop',
        labels: { app: 'web', 'pod-template-hash': '6d4cf56db6' },
        ...(padding !== '' && { annotations: { 'checksum.example/config': padding } }),
        with: { spec: podSpec(containers), status: { phase: 'Pending', qosClass: 'Burstable' } },
      }),
    );
  const size = (padding: string): number =>
    JSON.stringify(aReview({ uid: UID, user: controller('replicaset-controller'), object: build(padding) }))
      .length;
  return bytes === 0 ? build('') : build('c'.repeat(1 + Math.max(0, bytes - size('c'))));
}

function deployment(revision: number): KubeObject {
  const containers = 7;
  const owned = Object.fromEntries(
    Array.from({ length: containers }, (_, index) => [
      `k:{"name":"main-${index}"}`,
      { '.': {}, 'f:image': {}, 'f:imagePullPolicy': {}, 'f:name': {}, 'f:resources': { '.': {} } },
    ]),
  );
  const object = anObject(
    DEPLOYMENT,
    {
      name: 'web',
      namespace: 'shop',
      generation: revision,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
    },
    {
      spec: {
        replicas: revision,
        selector: { matchLabels: { app: 'web' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: { metadata: { labels: { app: 'web' } }, spec: podSpec(containers) },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: { observedGeneration: revision - 1, replicas: 3, readyReplicas: 3 },
    },
  );
  const fields = { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': owned } } } };
  return ownedBy('kubectl-client-side-apply', fields, object);
}

function lease(node: string, second: number): KubeObject {
  const fields = { 'f:spec': { 'f:holderIdentity': {}, 'f:leaseDurationSeconds': {}, 'f:renewTime': {} } };
  const renewTime = `2026-01-01T00:00:0${second}.000000Z`;
  return ownedBy(
    'node-agent',
    fields,
    aLease({ name: node, renewTime, resourceVersion: String(1000 + second) }),
  );
}

/** 1 MiB as it is really stored: text with line ends, quotes and non-ASCII, so that nothing can be copied blindly. */
function configMap(revision: number): KubeObject {
  const page = (number: number): string => {
    const lines = Array.from(
      { length: 180 },
      (_, line) =>
        `  rule-${number}-${line}: {"match": "^/shop/${line}$", "weight": ${line}.5, "note": "größer"}`,
    );
    return `# page ${number}, revision ${revision}\n${lines.join('\n')}\n`;
  };
  const data: Record<string, string> = {};
  for (let size = 0, number = 0; size < KIB * KIB; number += 1) {
    const text = page(number);
    data[`routes-${number}.yaml`] = text;
    size += JSON.stringify(text).length;
  }
  return aConfigMap({ name: 'routes', namespace: 'shop', resourceVersion: String(5000 + revision), data });
}

/**
 * 3 MiB of structure: some 16,000 small objects with numbers, times and labels.
 * @param divisor 1: all numbers are integers.
 */
function inventory(revision: number, divisor: number): KubeObject {
  const items: unknown[] = [];
  for (let size = 0, index = 0; size < 3 * KIB * KIB; index += 1) {
    const item = {
      name: `item-${index}`,
      replicas: index % 7,
      usage: {
        cpuCores: (index % 400) / divisor,
        memoryBytes: 1_048_576 * (index % 4096),
        restarts: index % 3,
      },
      ready: index % 5 !== 0,
      lastSeen: `2026-01-01T00:${String(index % 60).padStart(2, '0')}:00Z`,
      labels: { team: `team-${index % 40}`, tier: index % 2 === 0 ? 'front' : 'back' },
    };
    items.push(item);
    size += JSON.stringify(item).length + 1;
  }
  return anObject(
    INVENTORY,
    { name: 'fleet', namespace: 'shop', resourceVersion: String(7000 + revision) },
    { spec: { revision, items } },
  );
}
