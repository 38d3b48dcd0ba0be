/** What a recorded case needs in the cluster before its request, and the request itself. */
import type { AdmissionRequest, KubeObject, ObjectMeta } from '../../../src/cluster/objects.ts';
import type { ApiRequest } from './api-client.ts';
import { namespaceOf, type PolicyCase } from './policy-cases.ts';

/** An object and where it is created. */
export interface Prepared {
  readonly path: string;
  readonly body: KubeObject;
}

export function namespaceObjects(one: PolicyCase): readonly Prepared[] {
  return one.namespaces.map(({ metadata: { name, labels, annotations } }) => ({
    path: '/api/v1/namespaces',
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        ...(name !== undefined && { name }),
        ...(labels !== undefined && { labels }),
        ...(annotations !== undefined && { annotations }),
      },
    },
  }));
}

export function paramObjects(one: PolicyCase): readonly Prepared[] {
  return one.params.map((param) => {
    const body = writable(param);
    return { path: collectionOf(body, `${param.kind.toLowerCase()}s`), body };
  });
}

/** What the request is about, as it is before. */
export function earlierObjects(one: PolicyCase): readonly Prepared[] {
  const reviews = [one.review, ...(one.moreReviews ?? [])];
  return reviews.flatMap(({ request }) => {
    if (request.resource.resource === 'namespaces') return [];
    const object = earlierObject(one, request);
    return object === undefined
      ? []
      : [{ path: collectionOf(object, request.resource.resource), body: object }];
  });
}

function earlierObject(one: PolicyCase, request: AdmissionRequest): KubeObject | undefined {
  const old = request.oldObject as KubeObject | null;
  if (old !== null && old.kind !== 'Scale') return writable(old);
  const { subResource = '', name = '', resource, requestResource = resource } = request;
  if (subResource === '') return undefined;
  const metadata = { name, namespace: namespaceOf(one) };
  switch (resource.resource) {
    case 'deployments':
      return deployment(metadata, old);
    case 'pods':
      return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels: APP }, spec: POD_SPEC };
    case 'serviceaccounts':
      return { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    case 'services':
      return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }], selector: APP } };
    case 'widgets': {
      const apiVersion = `${requestResource.group}/${requestResource.version}`;
      return { apiVersion, kind: 'Widget', metadata, spec: old?.['spec'] };
    }
    default:
      throw new Error(`${one.id}: nothing is known of ${resource.resource}/${subResource}`);
  }
}

const APP = { app: 'web' };
const POD_SPEC = { containers: [{ name: 'app', image: 'registry.example.com/shop/api:1.4.2' }] };

/** @param scale of the deployment */
function deployment(metadata: ObjectMeta, scale: KubeObject | null): KubeObject {
  const template = { metadata: { labels: APP }, spec: POD_SPEC };
  const spec = { ...(scale?.['spec'] as object | undefined), selector: { matchLabels: APP }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...metadata, labels: APP }, spec };
}

/** The request as it was recorded. */
export function requestOf(one: PolicyCase): ApiRequest {
  const { method, path, contentType, body, user } = one.request;
  const { request } = one.review;
  const sent = body ?? bodyOf(one, request);
  return {
    method,
    path,
    ...(contentType !== undefined && { contentType }),
    ...(sent !== undefined && { body: sent }),
    as: user ?? request.userInfo,
  };
}

/** Of a POST or PUT the object of the review, without what the API server gave it on the way; of a DELETE its options. */
function bodyOf({ request: { method } }: PolicyCase, request: AdmissionRequest): object | undefined {
  if (method === 'DELETE') {
    // The API server fills in what the object was when it began.
    const { preconditions: _preconditions, ...options } = request.options as { preconditions?: unknown };
    return options;
  }
  if ((method !== 'POST' && method !== 'PUT') || request.operation === 'CONNECT') return undefined;
  const object = writable(request.object as KubeObject);
  if (object.metadata.generateName !== undefined) {
    const { name: _name, ...metadata } = object.metadata;
    return { ...object, metadata };
  }
  return object.kind === 'Service' ? withoutAllocations(object) : object;
}

/** A dry run says where an address or a port would be, and that is none that could be asked for. */
function withoutAllocations(service: KubeObject): KubeObject {
  const {
    clusterIP: _address,
    clusterIPs: _addresses,
    ports = [],
    ...spec
  } = service['spec'] as Readonly<Record<string, unknown>> & {
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
  const portless = ports.map(({ nodePort: _port, ...port }) => port);
  return { ...service, spec: { ...spec, ports: portless } };
}

/** Without what the API server gives itself, and what would be compared with it. */
export function writable(object: KubeObject): KubeObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _created,
    managedFields: _fields,
    ...metadata
  } = object.metadata as ObjectMeta & { readonly managedFields?: unknown };
  return { ...object, metadata };
}

/** The path that an object is created at. */
export function collectionOf({ apiVersion, metadata: { namespace } }: KubeObject, resource: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`;
}
