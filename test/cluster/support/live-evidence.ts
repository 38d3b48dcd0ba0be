/** Answers what an evaluation of policies needs by asking a real API server. */
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type {
  AuthorizationAnswer,
  AuthorizationQuery,
  AuthorizationSelector,
} from '../../../src/policies/cel/signals.ts';
import type { Answers, Conversion, ConversionNeed, Need } from '../../../src/policies/vap/needs.ts';
import type { ParamKind } from '../../../src/policies/vap/types.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';

interface ServedKind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** @param convert knows the objects of the request in other versions */
export function liveEvidence(
  api: ApiClient,
  convert: (to: ConversionNeed['to']) => Conversion,
): (need: Need) => Promise<Answers[keyof Answers]> {
  return async (need) => {
    switch (need.need) {
      case 'namespace':
        return objectOf(await api.request({ method: 'GET', path: `/api/v1/namespaces/${need.name}` }));
      case 'paramKind':
        return (await servedKind(api, need)) ?? null;
      case 'params': {
        const served = await servedKind(api, need);
        const within = need.namespace === undefined ? '' : `/namespaces/${need.namespace}`;
        const path = `${rootOf(need)}${within}/${served?.name ?? ''}`;
        // Choosing among all of them is the work of the evaluation.
        return (await api.demand({ method: 'GET', path }))['items'] as readonly KubeObject[];
      }
      case 'authorize':
        return authorize(api, need.query);
      case 'conversion':
        return convert(need.to);
    }
  };
}

function objectOf({ status, body }: ApiAnswer): KubeObject | null {
  if (status === 404) return null;
  if (status !== 200) throw new Error(`status ${status}: ${body.message}`);
  return body as unknown as KubeObject;
}

function rootOf({ apiVersion }: ParamKind): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

async function servedKind(api: ApiClient, paramKind: ParamKind): Promise<ServedKind | undefined> {
  const { status, body } = await api.request({ method: 'GET', path: rootOf(paramKind) });
  if (status === 404) return undefined;
  const resources = (body['resources'] ?? []) as readonly ServedKind[];
  return resources.find(({ kind, name }) => kind === paramKind.kind && !name.includes('/'));
}

async function authorize(api: ApiClient, query: AuthorizationQuery): Promise<AuthorizationAnswer> {
  const { username, uid, groups, extra } = query.user;
  const { status = {} } = (await api.demand({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, ...attributesOf(query) },
    },
  })) as {
    readonly status?: {
      readonly allowed?: boolean;
      readonly denied?: boolean;
      readonly reason?: string;
      readonly evaluationError?: string;
    };
  };
  const decision = status.allowed === true ? 'allow' : status.denied === true ? 'deny' : 'noopinion';
  const { reason = '', evaluationError: error } = status;
  return { decision, reason, ...(error !== undefined && { error }) };
}

function attributesOf(query: AuthorizationQuery): object {
  const { verb } = query;
  if (query.kind === 'path') return { nonResourceAttributes: { verb, path: query.path } };
  const { group, version, resource, subresource, namespace, name, fieldSelector, labelSelector } = query;
  return {
    resourceAttributes: {
      verb,
      group,
      version,
      resource,
      subresource,
      namespace,
      name,
      ...(fieldSelector !== undefined && { fieldSelector: selectorOf(fieldSelector) }),
      ...(labelSelector !== undefined && { labelSelector: selectorOf(labelSelector) }),
    },
  };
}

/** A selector that does not parse selects everything, as it does for the API server's own authorizer. */
function selectorOf({ terms, error }: AuthorizationSelector): object | undefined {
  if (error !== undefined || terms.length === 0) return undefined;
  return { requirements: terms.map(({ key, operator, values }) => ({ key, operator, values })) };
}
