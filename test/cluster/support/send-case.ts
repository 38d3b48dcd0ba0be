/** Sends a case of the identity table to a real API server: by the verb and on the path that would bring its review about. */
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import type { AdmissionRequest, KubeObject } from '../../../src/cluster/objects.ts';
import type { IdentityCase } from '../../policies/identity/case.ts';
import { DAEMON_SET_CONTROLLER, PODS } from './agents.ts';
import type { ApiAnswer, ApiClient, ApiRequest } from './api-client.ts';

/** Policy and binding of a file of manifests/policies, as an administrator would apply them. */
export function nativePolicy(name: string): KubeObject[] {
  const text = readFileSync(`manifests/policies/${name}.yaml`, 'utf8');
  return text.split(/^---$/m).map((document) => parse(document) as KubeObject);
}

/**
 * Puts the state before the request in place, sends it, and removes what is left.
 * @returns the answer to the request itself.
 */
export async function sendCase(api: ApiClient, { request, way }: IdentityCase): Promise<ApiAnswer> {
  const before = request.oldObject as KubeObject | null;
  const paths = new Set<string>();
  if (before !== null) {
    const path = pathOf(request, before.metadata.name ?? '', '');
    paths.add(path);
    await prepare(api, request, before);
  }
  const sent = requestOf(await withLivePod(api, request), way, await versionNow(api, [...paths][0]));
  try {
    return await api.request({ ...sent, as: request.userInfo });
  } finally {
    const object = request.object as KubeObject | null;
    if (object?.metadata.name !== undefined && request.subResource !== 'token')
      paths.add(pathOf(request, object.metadata.name, ''));
    for (const path of paths) await remove(api, path);
  }
}

/** The API server compares the uid of a Pod that a token is asked for, after admission. */
async function withLivePod(api: ApiClient, request: AdmissionRequest): Promise<AdmissionRequest> {
  if (request.subResource !== 'token') return request;
  const { spec, ...object } = request.object as KubeObject & {
    spec: { boundObjectRef: { kind: string; name: string } | null };
  };
  const { boundObjectRef } = spec;
  if (boundObjectRef?.kind !== 'Pod') return request;
  const { metadata } = await api.demand({ method: 'GET', path: `${PODS}/${boundObjectRef.name}` });
  return {
    ...request,
    object: { ...object, spec: { ...spec, boundObjectRef: { ...boundObjectRef, uid: metadata?.uid } } },
  };
}

/** As somebody whom no rule refuses. */
async function prepare(api: ApiClient, request: AdmissionRequest, object: KubeObject): Promise<void> {
  const isPod = request.resource.resource === 'pods';
  await api.demand({
    method: 'POST',
    path: collectionOf(request),
    ...(isPod && { as: DAEMON_SET_CONTROLLER }),
    body: writable(object),
  });
}

/** Also where finalizers would keep it. */
async function remove(api: ApiClient, path: string): Promise<void> {
  await api.request({
    method: 'PATCH',
    path,
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  });
  await api.request({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
}

async function versionNow(api: ApiClient, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  return (await api.demand({ method: 'GET', path })).metadata?.resourceVersion;
}

function requestOf(
  request: AdmissionRequest,
  way: IdentityCase['way'],
  resourceVersion: string | undefined,
): ApiRequest {
  const { operation, subResource = '', dryRun = false } = request;
  const object = (request.object ?? request.oldObject) as KubeObject;
  const name = request.name ?? object.metadata.name ?? '';
  const query = dryRun ? '?dryRun=All' : '';
  const path = pathOf(request, name, subResource);
  const { group, version } = request.requestResource ?? request.resource;
  const asked = group === '' ? version : `${group}/${version}`;
  // A body without resource of its own, such as a TokenRequest, keeps its version.
  const body = { ...writable(object), ...(subResource === 'token' ? {} : { apiVersion: asked }) };
  switch (way) {
    case 'put':
      return { method: 'PUT', path: `${path}${query}`, body };
    case 'apply':
      return {
        method: 'PATCH',
        path: `${path}?fieldManager=agent&force=true`,
        contentType: 'application/apply-patch+yaml',
        body,
      };
    case 'patch':
      return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body };
    case 'delete-collection':
      return { method: 'DELETE', path: collectionOf(request) };
    case 'generate-name': {
      const { name: _name, ...metadata } = body.metadata;
      return { method: 'POST', path: collectionOf(request), body: { ...body, metadata } };
    }
    case undefined:
      break;
  }
  if (operation === 'DELETE') return { method: 'DELETE', path: `${path}${query}` };
  if (operation === 'CREATE')
    return { method: 'POST', path: `${subResource === '' ? collectionOf(request) : path}${query}`, body };
  return {
    method: 'PUT',
    path: `${path}${query}`,
    body: { ...body, metadata: { ...body.metadata, resourceVersion } },
  };
}

/** Without what the API server gives itself, and what would be compared with it. */
function writable(object: KubeObject): KubeObject {
  const { uid: _uid, creationTimestamp: _created, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function collectionOf({ resource, requestResource, namespace }: AdmissionRequest): string {
  const { group, version } = requestResource ?? resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/namespaces/${namespace}/${resource.resource}`;
}

function pathOf(request: AdmissionRequest, name: string, subResource: string): string {
  return `${collectionOf(request)}/${name}${subResource === '' ? '' : `/${subResource}`}`;
}
