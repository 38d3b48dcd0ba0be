/** The steps of recovery on a real API server: what they need to be there, and sending them in dry runs. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { apiVersionOf, SERVICE_ACCOUNT, type Kind } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import {
  APPLICATION,
  CERTIFICATE,
  CERTIFICATE_REQUEST,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  HELM_REPOSITORY,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  SIGNING_REQUEST,
} from '../../../src/install/preflight/recovery-kinds.ts';
import type { RecoveryStep } from '../../../src/install/preflight/recovery-step.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import type { ControlPlane } from './control-plane.ts';
import { pollUntil } from './polling.ts';

const CUSTOM_KINDS = [
  CERTIFICATE,
  CERTIFICATE_REQUEST,
  KUSTOMIZATION,
  HELM_RELEASE,
  GIT_REPOSITORY,
  OCI_REPOSITORY,
  HELM_REPOSITORY,
  HELM_CHART,
  APPLICATION,
];
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const OWN_KINDS = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];

/** What became of a step: `absent` where the API server does not serve the kind. */
export interface SentStep {
  readonly id: string;
  readonly outcome: 'possible' | 'blocked' | 'absent' | 'other';
  /** The API server's words. */
  readonly message: string;
}

function collectionOf(kind: Kind, namespace: string | undefined): string {
  const root = kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`;
  return kind.namespaced && namespace !== undefined
    ? `${root}/namespaces/${namespace}/${kind.resource}`
    : `${root}/${kind.resource}`;
}

/** Kinds of the gate, of cert-manager and of GitOps tools, and the right of everybody to do everything. */
export async function prepareKinds(plane: ControlPlane, api: ApiClient): Promise<void> {
  for (const resource of OWN_KINDS) {
    const stdin = readFileSync(`manifests/crds/${resource}.gate.pacto.trianalab.io.yaml`, 'utf8');
    const { code, stderr } = await plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin });
    if (code !== 0) throw new Error(stderr);
  }
  // A step must come as far as admission, or the test would show RBAC at work.
  const everybody = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' };
  await plane.apply([
    ...CUSTOM_KINDS.map(definitionOf),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'everybody' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [everybody],
    },
  ]);
  const own = OWN_KINDS.map((resource) => `/apis/gate.pacto.trianalab.io/v1/${resource}`);
  await Promise.all(
    [...own, ...CUSTOM_KINDS.map((kind) => collectionOf(kind, undefined))].map((path) =>
      pollUntil(path, 60_000, async () => {
        const { status } = await api.request({ method: 'GET', path });
        return status === 200 ? true : undefined;
      }),
    ),
  );
}

function definitionOf(kind: Kind): object {
  const { group, version, resource } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: kind.kind, plural: resource },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: OPEN },
          ...(kind !== APPLICATION && { subresources: { status: {} } }),
        },
      ],
    },
  };
}

/** Creates what steps change, delete or are about. To be called before any entry is there. */
export async function prepareObjects(api: ApiClient, steps: readonly RecoveryStep[]): Promise<void> {
  const namespaces = new Set(steps.flatMap(({ request }) => request.namespace ?? []));
  for (const name of namespaces)
    await create(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const before = steps
    .filter(
      ({ kind, request }) =>
        request.oldObject !== null && request.kind.kind === kind.kind && request.kind.group === kind.group,
    )
    // What a subresource is about is the same object further on: a Pod that has its node.
    .toSorted((one, other) => Number('subResource' in one.request) - Number('subResource' in other.request));
  for (const { kind, request } of before)
    await create(api, collectionOf(kind, request.namespace), await validOf(kind, request.oldObject));
  // Tokens are asked for accounts that no other step is about.
  for (const { kind, request } of steps)
    if (kind === SERVICE_ACCOUNT && request.subResource === 'token')
      await create(api, collectionOf(kind, request.namespace), {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: request.name },
      });
}

async function create(api: ApiClient, path: string, body: object): Promise<void> {
  const { status, body: answer } = await api.request({ method: 'POST', path, body });
  // What is there already, and what is of a kind that this release does not have.
  if (status >= 300 && status !== 409 && status !== 404)
    throw new Error(`POST ${path} failed with ${String(status)}: ${String(answer.message)}`);
}

/** A request for a certificate is read by the API server; ours only simulate one. */
async function validOf(kind: Kind, object: unknown): Promise<KubeObject> {
  const { spec, status: _status, ...rest } = object as KubeObject & { spec?: object };
  const request = kind === SIGNING_REQUEST ? await signingRequest() : undefined;
  return {
    ...rest,
    ...(spec !== undefined && { spec: { ...spec, ...(request !== undefined && { request }) } }),
  };
}

async function signingRequest(): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: 'O=system:nodes, CN=system:node:preflight-node',
    keys,
    signingAlgorithm: algorithm,
  });
  return Buffer.from(`${request.toString('pem')}\n`).toString('base64');
}

/** Sends a step as its user, in a dry run. */
export async function sendStep(api: ApiClient, step: RecoveryStep): Promise<SentStep> {
  const answer = await answerTo(api, step);
  const message = answer.body.message ?? '';
  return { id: step.id, outcome: outcomeOf(answer, message), message };
}

function outcomeOf({ status, body }: ApiAnswer, message: string): SentStep['outcome'] {
  if (/failed calling webhook|no endpoints available|failed to call webhook/.test(message)) return 'blocked';
  // Admission comes before the store says that the Namespace of the gate is there already.
  if (status < 300 || (status === 409 && body.reason === 'AlreadyExists')) return 'possible';
  return status === 404 && /could not find the requested resource|page not found/.test(message)
    ? 'absent'
    : 'other';
}

async function answerTo(api: ApiClient, { kind, request }: RecoveryStep): Promise<ApiAnswer> {
  const collection = collectionOf(kind, request.namespace);
  const sub = request.subResource === undefined ? '' : `/${request.subResource}`;
  const object = `${collection}/${request.name ?? ''}`;
  const as = request.userInfo;
  switch (request.operation) {
    case 'CREATE': {
      const path = `${sub === '' ? collection : `${object}${sub}`}?dryRun=All`;
      return api.request({ method: 'POST', path, as, body: await validOf(kind, request.object) });
    }
    case 'UPDATE': {
      const live = await api.request({ method: 'GET', path: `${object}${sub === '/scale' ? sub : ''}` });
      if (live.status !== 200) return live;
      return api.request({
        method: 'PUT',
        path: `${object}${sub}?dryRun=All`,
        as,
        body: changed(live.body as unknown as KubeObject),
      });
    }
    default:
      return api.request({ method: 'DELETE', path: `${object}?dryRun=All`, as });
  }
}

function changed(live: KubeObject): KubeObject {
  const annotations = { ...live.metadata.annotations, preflight: 'changed' };
  return { ...live, metadata: { ...live.metadata, annotations } };
}
