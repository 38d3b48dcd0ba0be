/** What is taken from the reach of a policy on its way into an entry, in the words that its status and `lint` show. */
import { NAMESPACE_NAME_LABEL } from '../entry.ts';
import type { ServedResource } from './entries.ts';
import { selects } from './label-selector.ts';
import {
  CLUSTER_SCOPED,
  mainOf,
  meets,
  NEVER_ASKED,
  NEVER_REACHED,
  reachesSome,
  withEquivalents,
  type Family,
} from './never-reached.ts';
import { OWN_GROUP } from './entry-name.ts';
import type { LabelSelector, MatchResources, NamedRule } from './types.ts';

export interface Taking {
  readonly match: MatchResources;
  /** Namespaces that the entry does not select, sorted. */
  readonly namespaces: readonly string[];
  readonly served: readonly ServedResource[] | undefined;
}

/** A sentence for each part of it; none where nothing is taken. */
export function takenFrom(taking: Taking): readonly string[] {
  const { match } = taking;
  const direct = NEVER_REACHED.filter((family) => family.isLost && isAbout(match, family));
  const kinds = match.matchPolicy === 'Equivalent' ? withEquivalents(direct) : direct;
  const unasked = neverAsked(match);
  return [
    ...namespacesTaken(taking),
    ...(kinds.length === 0
      ? []
      : [
          `requests about ${listed(kinds.map(nameOf))} are not sent to the gate: a cluster whose gate is down needs them to recover, and so does the gate`,
        ]),
    ...(unasked === undefined ? [] : [unasked]),
  ];
}

/** What no webhook can enforce of a policy, on no cluster (vap.md F5); undefined where there is nothing. */
export function neverAsked(match: MatchResources): string | undefined {
  const unasked = NEVER_ASKED.filter((family) => family.isLost && isAbout(match, family));
  return unasked.length === 0
    ? undefined
    : `requests about ${listed(unasked.map(nameOf))} can be refused by a policy of the API server alone: it asks no webhook about them`;
}

function nameOf({ group, resource }: Family): string {
  if (group === OWN_GROUP) return `the kinds of ${group}`;
  return group === '' ? resource : `${resource}.${group}`;
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** Whether the policy is about some of the family, as far as its rules tell. */
function isAbout({ resourceRules, excludeResourceRules }: MatchResources, family: Family): boolean {
  return resourceRules.some(
    (rule) =>
      fitsScope(rule.scope, family.scope) &&
      rule.apiGroups.some((group) =>
        rule.resources.some(
          (pattern) =>
            meets(group, pattern, family) &&
            !excludeResourceRules.some((excluded) => coversFamily(excluded, family, rule, pattern)),
        ),
      ),
  );
}

function fitsScope(scope: string, of: Family['scope']): boolean {
  return scope === '*' || of === '*' || scope === of;
}

/** Whether an excluding rule leaves nothing of what a rule takes of the family. */
function coversFamily(excluded: NamedRule, family: Family, rule: NamedRule, pattern: string): boolean {
  const hasParts = pattern.includes('/');
  return (
    excluded.resourceNames.length === 0 &&
    excluded.scope === '*' &&
    holds(excluded.operations, rule.operations) &&
    holds(excluded.apiGroups, [family.group]) &&
    holds(excluded.apiVersions, rule.apiVersions) &&
    excluded.resources.some((one) => {
      const isSame = mainOf(one) === '*' || (family.resource !== '*' && mainOf(one) === family.resource);
      return isSame && (one.endsWith('/*') || (!hasParts && !one.includes('/')));
    })
  );
}

function holds(wide: readonly string[], narrow: readonly string[]): boolean {
  return wide.includes('*') || narrow.every((one) => wide.includes(one));
}

function namespacesTaken({ match, namespaces, served }: Taking): readonly string[] {
  const lost = namespaces.filter((name) => maySelect(match.namespaceSelector, name));
  if (lost.length === 0) return [];
  const inThem = match.resourceRules.some((rule) => reachesNamespaced(rule, served));
  const themselves = reachesSome(
    match.resourceRules.filter(({ scope }) => scope !== 'Namespaced'),
    [{ group: '', resource: 'namespaces' }],
  );
  if (!inThem && !themselves) return [];
  const one = lost.length === 1;
  const names = listed(lost);
  const what = inThem
    ? `requests in the ${one ? 'namespace' : 'namespaces'} ${names}${themselves ? ` and about ${one ? 'that Namespace itself' : 'these Namespaces themselves'}` : ''}`
    : `requests about the ${one ? 'Namespace' : 'Namespaces'} ${names}`;
  return [
    `${what} are not sent to the gate: what the cluster and the gate need to recover lives there (policies.excludedNamespaces, the namespace of the gate and those of policy ConfigMaps)`,
  ];
}

/** Of a namespace of which nothing but its name is known. */
function maySelect({ matchLabels, matchExpressions }: LabelSelector, name: string): boolean {
  const labels = { [NAMESPACE_NAME_LABEL]: name };
  const { [NAMESPACE_NAME_LABEL]: wanted } = matchLabels;
  return selects(
    {
      matchLabels: wanted === undefined ? {} : { [NAMESPACE_NAME_LABEL]: wanted },
      matchExpressions: matchExpressions.filter(({ key }) => key === NAMESPACE_NAME_LABEL),
    },
    labels,
  );
}

function reachesNamespaced(
  { scope, apiGroups, resources }: NamedRule,
  served: readonly ServedResource[] | undefined,
): boolean {
  if (scope === 'Cluster') return false;
  return apiGroups.some((group) =>
    resources.some((pattern) => {
      const main = mainOf(pattern);
      if (main === '*') return true;
      const found = (served ?? []).filter(
        (one) => mainOf(one.resource) === main && (group === '*' || one.group === group),
      );
      if (found.length > 0) return found.some(({ namespaced }) => namespaced);
      return group === '*' || !CLUSTER_SCOPED.has(`${group}/${main}`);
    }),
  );
}
