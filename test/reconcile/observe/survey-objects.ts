/** Objects around a Service, as small as the dimensions need them. */
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { anObject } from '../../support/builders.ts';
import { AGENTS, at, NAMESPACE } from './survey.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ServiceOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly ports?: unknown;
  /** Further fields of the spec. */
  readonly spec?: Fields;
  /** Of `status.loadBalancer.ingress`. */
  readonly ingress?: unknown;
}

/** @returns `web` with a selector; port 80 leads to 8080 unless told otherwise. */
export function service({
  name = 'web',
  namespace = NAMESPACE,
  ports = [{ port: 80, targetPort: 8080 }],
  spec = {},
  ingress,
}: ServiceOptions = {}): KubeObject {
  return anObject(
    kinds.SERVICE,
    { name, namespace },
    {
      spec: { selector: { app: name }, ports, ...spec },
      ...(ingress !== undefined && { status: { loadBalancer: { ingress } } }),
    },
  );
}

export interface EndpointOptions {
  /** Undefined: not said. */
  readonly ready?: boolean | undefined;
  /** Name of the Pod and, before a slash, of its node; left out: none is named. */
  readonly pod?: string;
  readonly address?: string;
}

export interface SliceOptions {
  readonly ports?: unknown;
  readonly namespace?: string;
  readonly name?: string;
}

/** @returns a slice of a Service; its port is unnamed 8080 unless told otherwise. */
export function slice(
  of: string,
  endpoints: readonly EndpointOptions[],
  {
    ports = [{ name: '', port: 8080, protocol: 'TCP' }],
    namespace = NAMESPACE,
    name = `${of}-1`,
  }: SliceOptions = {},
): KubeObject {
  return anObject(
    kinds.ENDPOINT_SLICE,
    { name, namespace, labels: { 'kubernetes.io/service-name': of } },
    {
      ports,
      endpoints: endpoints.map(({ ready, pod, address = '10.0.0.1' }) => ({
        addresses: [address],
        conditions: ready === undefined ? {} : { ready },
        ...(pod !== undefined && {
          nodeName: pod.split('/')[0],
          targetRef: { kind: 'Pod', uid: pod.split('/')[1] },
        }),
      })),
    },
  );
}

export interface PactoOptions {
  readonly namespace?: string;
  /** Null: it has none. */
  readonly service?: string | null;
  readonly version?: unknown;
  /** Undefined: it has no `status.contract`. */
  readonly resolvedRef?: string | undefined;
}

export function pacto(
  name: string,
  { namespace = NAMESPACE, service: serviceName = name, version = '1.2.0', resolvedRef }: PactoOptions = {},
): KubeObject {
  return anObject(
    kinds.PACTO,
    { name, namespace },
    {
      spec: { contractRef: {}, ...(serviceName !== null && { target: { serviceName } }) },
      ...(resolvedRef !== undefined && {
        status: { contract: { serviceName: name, version, resolvedRef } },
      }),
    },
  );
}

export interface SeenPod {
  readonly uid: string;
  readonly hostNetwork?: boolean;
  readonly listeners?: unknown;
  readonly connections?: unknown;
}

/** @returns what the agent of a node saw. @param published milliseconds from now. */
export function nodeView(
  node: string,
  pods: readonly SeenPod[],
  { state = 'Ready', reason = '', published = -10_000 } = {},
): KubeObject {
  return anObject(
    kinds.NODE_RUNTIME_OBSERVATION,
    { name: node, namespace: AGENTS },
    {
      status: {
        nodeName: node,
        state,
        reason,
        lastPublished: at(published),
        pods: pods.map((pod) => ({ namespace: NAMESPACE, name: pod.uid, ...pod })),
      },
    },
  );
}

/** @param renewed milliseconds from now. */
export function nodeLease(node: string, renewed = -10_000, seconds = 90): KubeObject {
  return anObject(
    kinds.LEASE,
    { name: node, namespace: AGENTS },
    { spec: { holderIdentity: node, renewTime: at(renewed), leaseDurationSeconds: seconds } },
  );
}

export function listener(port: number, more: Fields = {}): Fields {
  return { port, protocol: 'TCP', loopbackOnly: false, ...more };
}

/** @param success milliseconds from now, as `failure`. */
export function connection(
  destIP: string,
  destPort: number,
  { success, failure }: { readonly success?: number; readonly failure?: number },
): Fields {
  return {
    destIP,
    destPort,
    ...(success !== undefined && { lastSuccess: at(success) }),
    ...(failure !== undefined && { lastFailure: at(failure) }),
  };
}
