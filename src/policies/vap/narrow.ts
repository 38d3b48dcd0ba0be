/**
 * The rules of a policy without what no entry may reach. What a rule names is dropped from it; of what it reaches by a
 * wildcard a match condition lets pass, or, before API servers had those, the wildcard is written out (decision 20).
 */
import type { WebhookRule } from '../entry.ts';
import type { ServedResource } from './entries.ts';
import {
  liesIn,
  mainOf,
  meets,
  NEVER_ASKED,
  NEVER_REACHED,
  reachesSome,
  withEquivalents,
  type Family,
} from './never-reached.ts';
import { OWN_GROUP } from './entry-name.ts';
import type { NamedRule } from './types.ts';

export interface NarrowRules {
  readonly rules: readonly WebhookRule[];
  /** Families that a wildcard still reaches, which a match condition is to let pass. */
  readonly toLetPass: readonly Family[];
  /** Whether a wildcard became a list of what is served. */
  readonly isWrittenOut: boolean;
}

const NEVER: readonly Family[] = [...NEVER_REACHED, ...NEVER_ASKED];

/** For API servers with match conditions. */
export function withoutNamed(rules: readonly NamedRule[]): NarrowRules {
  const narrow = rules.flatMap((rule) => splitRule(rule, rule.apiGroups, (group) => keptOf(rule, group)));
  const toLetPass = NEVER_REACHED.filter((family) => reachesSome(narrow, [family]));
  return { rules: narrow, toLetPass: withEquivalents(toLetPass), isWrittenOut: false };
}

function keptOf({ resources }: NamedRule, group: string): readonly string[] {
  return resources.filter((pattern) => !NEVER.some((family) => liesIn(group, pattern, family)));
}

/**
 * For API servers without match conditions.
 *
 * @returns undefined where a wildcard is to be written out and nobody tells what is served
 */
export function writtenOut(
  rules: readonly NamedRule[],
  served: readonly ServedResource[] | undefined,
): NarrowRules | undefined {
  const narrow: WebhookRule[] = [];
  let isWrittenOut = false;
  for (const rule of rules) {
    const isWide = rule.apiGroups.some((group) => keptOf(rule, group).some((one) => isWideOf(group, one)));
    if (isWide && served === undefined) return undefined;
    isWrittenOut ||= isWide;
    const found = (served ?? []).filter(({ version }) => isListed(rule.apiVersions, version));
    const anyGroup = rule.apiGroups.includes('*');
    const groups = anyGroup ? groupsOf(found) : rule.apiGroups;
    narrow.push(
      ...splitRule(rule, groups, (group) => {
        const names = found.filter((one) => one.group === group).map(({ resource }) => resource);
        return expanded(keptOf(rule, group), group, names, anyGroup);
      }),
    );
  }
  return { rules: narrow, toLetPass: [], isWrittenOut };
}

/** Whether a pair reaches, beside other things, what it must not. */
function isWideOf(group: string, pattern: string): boolean {
  return NEVER_REACHED.some((family) => meets(group, pattern, family));
}

function groupsOf(served: readonly ServedResource[]): readonly string[] {
  const groups = new Set(served.map(({ group }) => group));
  return [...groups].filter((group) => group !== OWN_GROUP).toSorted();
}

/** @param onlyServed what is not served is left out: the group was written out too */
function expanded(
  patterns: readonly string[],
  group: string,
  served: readonly string[],
  onlyServed: boolean,
): readonly string[] {
  const names = served.filter((name) => !NEVER.some((family) => liesIn(group, name, family)));
  const all = patterns.flatMap((pattern) => {
    if (isWideOf(group, pattern)) return namesOf(pattern, names);
    return !onlyServed || names.some((name) => covers(pattern, name)) ? [pattern] : [];
  });
  const whole = new Set(all.filter((one) => one.endsWith('/*')).map(mainOf));
  return [...new Set(all)].filter((one) => one.endsWith('/*') || !whole.has(mainOf(one)));
}

/** With all subresources, each resource is named with all of its own: not every one of them is told. */
function namesOf(pattern: string, names: readonly string[]): readonly string[] {
  if (pattern === '*/*') return [...new Set(names.map(mainOf))].toSorted().map((main) => `${main}/*`);
  return names.filter((name) => covers(pattern, name)).toSorted();
}

function covers(pattern: string, name: string): boolean {
  const [main = '', sub = ''] = pattern.split('/');
  const [nameMain = '', nameSub = ''] = name.split('/');
  return (main === '*' || main === nameMain) && (sub === '*' || sub === nameSub);
}

/**
 * A rule for the groups of which the same resources are left. That several rules stand for one does not change the
 * version in which an object is sent (vap.md M08): no group but those of events has versions of another's resources.
 */
function splitRule(
  rule: NamedRule,
  groups: readonly string[],
  resourcesOf: (group: string) => readonly string[],
): readonly WebhookRule[] {
  const groupsByResources = new Map<
    string,
    { readonly groups: string[]; readonly resources: readonly string[] }
  >();
  for (const group of groups) {
    const resources = resourcesOf(group);
    if (resources.length === 0) continue;
    const key = JSON.stringify(resources);
    const known = groupsByResources.get(key);
    if (known === undefined) groupsByResources.set(key, { groups: [group], resources });
    else known.groups.push(group);
  }
  return [...groupsByResources.values()].map((part) => ({
    apiGroups: part.groups,
    apiVersions: rule.apiVersions,
    operations: rule.operations,
    resources: part.resources,
    scope: scopeOf(rule.scope),
  }));
}

function scopeOf(scope: string): WebhookRule['scope'] {
  return scope === 'Cluster' || scope === 'Namespaced' ? scope : '*';
}

function isListed(items: readonly string[], item: string): boolean {
  return items.includes('*') || items.includes(item);
}
