/** What is too wide about webhook entries of node identity; nothing for those that are narrow enough. */
import {
  NODE_IDENTITY_ENTRY,
  NODE_LEASE_ENTRY,
  PODS_ENTRY,
  TOKENS_ENTRY,
} from '../../../src/policies/identity/entry-names.ts';
import { usernameOf, type IdentitySettings } from '../../../src/policies/identity/settings.ts';

/** Read from outside, as it comes back from YAML or the API server. */
export interface ReadEntry {
  readonly name?: string;
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly operations?: readonly string[];
    readonly resources?: readonly string[];
    readonly scope?: string;
  }[];
  readonly namespaceSelector?: {
    readonly matchLabels?: object;
    readonly matchExpressions?: readonly {
      readonly key?: string;
      readonly operator?: string;
      readonly values?: readonly string[];
    }[];
  };
  readonly sideEffects?: string;
  readonly matchConditions?: readonly { readonly expression?: string }[];
}

const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  [NODE_IDENTITY_ENTRY]: [
    'coordination.k8s.io/leases',
    'pacto.trianalab.io/noderuntimeobservations',
    'pacto.trianalab.io/noderuntimeobservations/status',
  ],
  [NODE_LEASE_ENTRY]: ['coordination.k8s.io/leases'],
  [TOKENS_ENTRY]: ['/serviceaccounts/token'],
  [PODS_ENTRY]: ['/pods', '/pods/ephemeralcontainers'],
};

const SHARED = new Set(['kube-system', 'kube-public', 'kube-node-lease']);

/**
 * @param conditions whether the API server has match conditions; without them kube-node-lease and shared namespaces
 *   are never to be selected.
 */
export function widths(
  entries: readonly ReadEntry[],
  settings: IdentitySettings,
  conditions: boolean,
): string[] {
  return entries.flatMap((entry) => {
    const name = entry.name ?? '';
    const found = [...ruleWidths(entry, name), ...selectorWidths(entry, name, settings, conditions)];
    if (entry.sideEffects !== 'None') found.push('declares side effects');
    if (conditions) found.push(...conditionWidths(entry, name, settings));
    else if (entry.matchConditions !== undefined) found.push('has match conditions');
    return found.map((what) => `${name}: ${what}`);
  });
}

function ruleWidths(entry: ReadEntry, name: string): string[] {
  const rules = entry.rules ?? [];
  const found = rules.length === 0 ? ['has no rules'] : [];
  for (const rule of rules) {
    if (rule.scope !== 'Namespaced') found.push('is not limited to namespaces');
    if ((rule.operations ?? ['*']).some((operation) => !['CREATE', 'UPDATE', 'DELETE'].includes(operation)))
      found.push('has another operation');
    for (const group of rule.apiGroups ?? ['*'])
      for (const resource of rule.resources ?? ['*'])
        if (!(RESOURCES[name] ?? []).includes(`${group}/${resource}`)) found.push(`has ${group}/${resource}`);
  }
  return found;
}

function selectorWidths(
  entry: ReadEntry,
  name: string,
  settings: IdentitySettings,
  conditions: boolean,
): string[] {
  const agents = new Set([
    ...settings.agents.map((agent) => agent.namespace),
    ...(name === NODE_IDENTITY_ENTRY ? (settings.namespaces ?? []) : []),
  ]);
  // The selector's terms all have to hold, so one term that is narrow enough makes the selector narrow.
  const term = (entry.namespaceSelector?.matchExpressions ?? []).find(
    (one) => one.key === 'kubernetes.io/metadata.name' && one.operator === 'In',
  );
  if (term === undefined) return ['selects all namespaces'];
  const may = (namespace: string): boolean => {
    if (name === NODE_LEASE_ENTRY) return conditions && namespace === 'kube-node-lease';
    return agents.has(namespace) && (conditions || !SHARED.has(namespace));
  };
  return (term.values ?? [])
    .filter((namespace) => !may(namespace))
    .map((namespace) => `selects ${namespace}`);
}

/** All conditions have to hold, so one that is exactly the narrow one is enough; a longer one may have another way in. */
function conditionWidths(entry: ReadEntry, name: string, settings: IdentitySettings): string[] {
  const list = (values: readonly string[]): string =>
    `[${values
      .toSorted()
      .map((value) => `'${value}'`)
      .join(', ')}]`;
  const users = list(settings.agents.map(usernameOf));
  const accounts = list(settings.agents.map((agent) => `${agent.namespace}/${agent.serviceAccount}`));
  const account = (field: string): string =>
    `(has(object.spec.${field}) && (request.namespace + '/' + object.spec.${field}) in ${accounts})`;
  const byUser = `has(request.userInfo.username) && request.userInfo.username in ${users}`;
  const narrow: Readonly<Record<string, string>> = {
    [NODE_IDENTITY_ENTRY]: byUser,
    [NODE_LEASE_ENTRY]: byUser,
    [TOKENS_ENTRY]: `has(request.namespace) && has(request.name) && (request.namespace + '/' + request.name) in ${accounts}`,
    [PODS_ENTRY]: `has(request.namespace) && has(object.spec) && (${account('serviceAccountName')} || ${account('serviceAccount')})`,
  };
  const found = (entry.matchConditions ?? []).some((condition) => condition.expression === narrow[name]);
  return found ? [] : ['is not limited to the agents'];
}
