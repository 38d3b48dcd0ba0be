/** Which webhook entries an API server would ask about a request, by the entries' own rules. */
import type { AdmissionRequest, KubeObject } from '../cluster/objects.ts';
import type { ValidatingEntry, WebhookRule } from '../policies/entry.ts';

/** Every Namespace carries its name as this label (KEP-2161). */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

/**
 * Rules and the namespace selector, as `webhook/predicates` of apiserver reads them. Match conditions are not
 * evaluated: they only spare calls about requests that the webhook allows anyway.
 * @param namespace the Namespace object of the request where it is known; its name alone otherwise.
 */
export function asks(entry: ValidatingEntry, request: AdmissionRequest, namespace?: KubeObject): boolean {
  return entry.rules.some((rule) => ruleMatches(rule, request)) && selects(entry, request, namespace);
}

function ruleMatches(rule: WebhookRule, request: AdmissionRequest): boolean {
  const { group, version, resource } = request.resource;
  return (
    has(rule.apiGroups, group) &&
    has(rule.apiVersions, version) &&
    has(rule.operations, request.operation) &&
    rule.resources.some((pattern) => resourceMatches(pattern, resource, request.subResource ?? '')) &&
    scopeMatches(rule.scope, request)
  );
}

/** A Namespace is cluster-scoped, although its requests name it as their namespace. */
function scopeMatches(scope: WebhookRule['scope'], { namespace, resource }: AdmissionRequest): boolean {
  if (scope === '*') return true;
  const isNamespace = resource.group === '' && resource.resource === 'namespaces';
  return (scope === 'Namespaced') === (namespace !== undefined && !isNamespace);
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

/** `pods`, `pods/log`, `pods/*`; `*` stands for every resource, with or without a subresource behind it. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const [main = '', sub = ''] = pattern.split('/');
  return (main === '*' || main === resource) && (sub === '*' || sub === subresource);
}

function selects(
  entry: ValidatingEntry,
  request: AdmissionRequest,
  namespace: KubeObject | undefined,
): boolean {
  // Other labels are known from the object alone.
  const labels: Readonly<Record<string, string>> = {
    ...namespace?.metadata.labels,
    [NAMESPACE_NAME_LABEL]: request.namespace ?? '',
  };
  return entry.namespaceSelector.matchExpressions.every(({ key, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value !== undefined && values.includes(value);
  });
}
