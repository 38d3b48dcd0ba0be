/** Pactos on a real API server, what they are about, and waiting for what is said of them. */
import { readFileSync } from 'node:fs';
import type { PactoStatus } from '../../../src/reconcile/api/pacto.ts';
import type { ApiBody, ApiClient } from './api-client.ts';
import type { ControlPlane } from './control-plane.ts';
import { pollUntil } from './polling.ts';

const API = '/apis/pacto.trianalab.io/v1alpha1';
const KINDS = ['pactos', 'pactorevisions', 'noderuntimeobservations'] as const;

export const NAMESPACE = 'shop';

/** A contract with one interface, or none. */
export function contract(name: string, { api = true, more = '' } = {}): string {
  const interfaces = api ? 'interfaces: [{name: api, type: openapi, ref: api.yaml}]\n' : '';
  return `pactoVersion: "2.0"\nservice: {name: ${name}, version: 1.0.0}\n${interfaces}${more}`;
}

export interface PactoOptions {
  /** Default: that of `contract(name)`. */
  readonly contractRef?: object;
  /** Null: a reference, without a target. */
  readonly target?: object | null;
  readonly checkIntervalSeconds?: number;
  readonly namespace?: string;
}

export function pactoObject(
  name: string,
  { contractRef, target, checkIntervalSeconds, namespace = NAMESPACE }: PactoOptions = {},
): object {
  const about = { serviceName: name, interfaceBindings: [{ interface: 'api', servicePort: 80 }] };
  return {
    apiVersion: 'pacto.trianalab.io/v1alpha1',
    kind: 'Pacto',
    metadata: { name, namespace },
    spec: {
      contractRef: contractRef ?? { inline: contract(name) },
      ...(target !== null && { target: target ?? about }),
      ...(checkIntervalSeconds !== undefined && { checkIntervalSeconds }),
    },
  };
}

export function serviceObject(name: string, namespace = NAMESPACE): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}

export function sliceObject(name: string, ready: boolean, namespace = NAMESPACE): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { name: `${name}-a`, namespace, labels: { 'kubernetes.io/service-name': name } },
    ports: [{ port: 8080, protocol: 'TCP', name: '' }],
    endpoints: [{ addresses: ['10.9.0.1'], conditions: { ready } }],
  };
}

export function namespaceObject(name = NAMESPACE): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** Applies the definitions of the kinds of Pacto, and waits until they are served. */
export async function installPactoKinds(plane: ControlPlane, api: ApiClient): Promise<void> {
  const manifests = KINDS.map((kind) =>
    readFileSync(`manifests/crds/pacto.trianalab.io_${kind}.yaml`, 'utf8'),
  );
  const { code, stderr } = await plane.kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: manifests.join('\n---\n'),
  });
  if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`);
  for (const kind of KINDS)
    await pollUntil(kind, 60_000, async () => {
      const { status } = await api.request({ method: 'GET', path: `${API}/${kind}` });
      return status === 200 ? true : undefined;
    });
}

export function pathOf(name: string, namespace = NAMESPACE): string {
  return `${API}/namespaces/${namespace}/pactos/${name}`;
}

export async function pactoOf(
  api: Pick<ApiClient, 'demand'>,
  name: string,
  namespace?: string,
): Promise<ApiBody & { readonly status: PactoStatus }> {
  const body = await api.demand({ method: 'GET', path: pathOf(name, namespace) });
  return { ...body, status: body['status'] ?? {} };
}

/** @returns the first status that is as wanted. @throws with the last one where none is in time. */
export async function untilStatus(
  api: Pick<ApiClient, 'demand'>,
  name: string,
  isWanted: (status: PactoStatus) => boolean,
  { timeoutMs = 30_000, namespace = NAMESPACE } = {},
): Promise<PactoStatus> {
  let last: PactoStatus = {};
  return await pollUntil(`the status of ${name}`, timeoutMs, async () => {
    last = (await pactoOf(api, name, namespace)).status;
    return isWanted(last) ? last : undefined;
  }).catch((error: unknown) => {
    throw new Error(`status of ${name}: ${JSON.stringify(last)}`, { cause: error });
  });
}

export const says =
  (contractStatus: string) =>
  (status: PactoStatus): boolean =>
    status.contractStatus === contractStatus;

/** Makes the ready endpoint of a Service come or go. */
export async function setReady(plane: ControlPlane, name: string, ready: boolean): Promise<void> {
  await plane.apply(sliceObject(name, ready));
}

/** Without times, versions and what the API server writes: equal for two that ended alike. */
export function withoutTimes(status: PactoStatus): unknown {
  return JSON.parse(
    JSON.stringify(status, (key, value: unknown) =>
      /^(?:observedAt|lastReconciledAt|lastTransitionTime|firstObservedNegativeAt)$/.test(key) ? 'T' : value,
    ),
  );
}

/** Compacts etcd up to now: whoever asks to go on from before is told that it is too old. */
export async function compact(plane: ControlPlane, api: Pick<ApiClient, 'demand'>): Promise<void> {
  const list = await api.demand({ method: 'GET', path: '/api/v1/namespaces?limit=1' });
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/compaction`, {
    method: 'POST',
    body: JSON.stringify({ revision: list.metadata?.resourceVersion, physical: true }),
  });
  if (!answer.ok) throw new Error(`etcd did not compact: ${await answer.text()}`);
}

/** Revisions and events of a Pacto, as short texts, sorted. */
export async function recordOf(
  api: Pick<ApiClient, 'demand'>,
  name: string,
  namespace = NAMESPACE,
): Promise<{ readonly revisions: readonly string[]; readonly events: readonly string[] }> {
  const [revisions, events] = await Promise.all([
    api.demand({ method: 'GET', path: `${API}/namespaces/${namespace}/pactorevisions` }),
    api.demand({ method: 'GET', path: `/api/v1/namespaces/${namespace}/events` }),
  ]);
  return {
    revisions: items(revisions)
      .filter(({ spec }) => spec?.['pactoRef'] === name)
      .map(({ metadata, status }) => `${metadata.name} resolved=${String(status?.['resolved'])}`)
      .toSorted(),
    events: items(events)
      .filter(({ involvedObject: about }) => about?.kind === 'Pacto' && about.name === name)
      .map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`)
      .toSorted(),
  };
}

interface Item {
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly reason?: string;
  readonly message?: string;
}

function items(list: ApiBody): readonly Item[] {
  return list['items'] as readonly Item[];
}
