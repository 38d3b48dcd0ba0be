/** Whether a policy, or its binding, is about a request (vap.md M01 to M11). */
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../../cluster/objects.ts';
import { sameResource, type Attributes } from './attributes.ts';
import { isEmptySelector, labelsOf, selectorFault, selects } from './label-selector.ts';
import type { Equivalent } from './needs.ts';
import type { LabelSelector, MatchResources, NamedRule } from './types.ts';

/** The version in which a policy sees a request. */
export interface Matched {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** Undefined: not about it. An error is one of configuration: `failed to configure policy: …`. */
export type Match = Matched | { readonly error: string } | undefined;

export interface MatchContext {
  readonly attributes: Attributes;
  /** Other versions of the request's resource, in the API server's order. */
  readonly equivalents: readonly Equivalent[];
  /** The namespace that `namespaceForSelector` names, null where it does not exist. */
  readonly namespace: KubeObject | null;
}

/**
 * The namespace without which the selector cannot be decided.
 *
 * @returns undefined where none is looked at
 */
export function namespaceForSelector(match: MatchResources, attributes: Attributes): string | undefined {
  if (attributes.namespace === '' && attributes.resource.resource !== 'namespaces') return undefined;
  if (isEmptySelector(match.namespaceSelector)) return undefined;
  if (selectorFault(match.namespaceSelector) !== undefined) return undefined;
  if (labelsComeFromObject(attributes) || attributes.namespace === '') return undefined;
  return attributes.namespace;
}

/** Of a Namespace that is written, the new labels count (vap.md M02). */
function labelsComeFromObject({ resource, subresource, operation }: Attributes): boolean {
  return (
    resource.resource === 'namespaces' &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE')
  );
}

/** Whether all but the namespace fits: if not, there is no need for it. */
export function mayMatch(match: MatchResources, context: Omit<MatchContext, 'namespace'>): boolean {
  return (
    matchesObject(match.objectSelector, context.attributes) !== false &&
    matchRules(match.excludeResourceRules, match, context) === undefined &&
    isMatched(matchResourceRules(match, context))
  );
}

export function matches(match: MatchResources, context: MatchContext): Match {
  const namespace = matchesNamespace(match.namespaceSelector, context);
  if (namespace === false) return undefined;
  const object = matchesObject(match.objectSelector, context.attributes);
  if (object === false) return undefined;
  const excluded = matchRules(match.excludeResourceRules, match, context);
  if (excluded !== undefined) return isMatched(excluded) ? undefined : excluded;
  const matched = matchResourceRules(match, context);
  if (matched === undefined || !isMatched(matched)) return matched;
  // A selector that cannot be decided counts only where everything else fits.
  if (typeof namespace === 'string') return { error: namespace };
  return typeof object === 'string' ? { error: object } : matched;
}

function isMatched(match: Match): match is Matched {
  return match !== undefined && !('error' in match);
}

/** @returns a text where it cannot be decided */
function matchesNamespace(selector: LabelSelector, context: MatchContext): boolean | string {
  const { attributes, namespace } = context;
  if (attributes.namespace === '' && attributes.resource.resource !== 'namespaces') return true;
  const fault = selectorFault(selector);
  if (fault !== undefined) return `Internal error occurred: ${fault}`;
  if (isEmptySelector(selector)) return true;
  if (labelsComeFromObject(attributes)) return selects(selector, attributes.labels[0] ?? {});
  // All Namespaces at once have none to look at.
  if (attributes.namespace === '') return 'Internal error occurred: resource name may not be empty';
  if (namespace === null) return namespaceNotFound(attributes.namespace);
  return selects(selector, labelsOf(namespace) ?? {});
}

/** The API server's words for a namespace that does not exist. */
export function namespaceNotFound(name: string): string {
  return `namespaces "${name}" not found`;
}

function matchesObject(selector: LabelSelector, attributes: Attributes): boolean | string {
  const fault = selectorFault(selector);
  if (fault !== undefined) return `Internal error occurred: ${fault}`;
  if (isEmptySelector(selector)) return true;
  return attributes.labels.some((labels) => labels !== undefined && selects(selector, labels));
}

type RuleContext = Omit<MatchContext, 'namespace'>;

function matchResourceRules(match: MatchResources, context: RuleContext): Match {
  const { resource, kind } = context.attributes;
  if (match.resourceRules.length === 0) return { resource, kind };
  return matchRules(match.resourceRules, match, context);
}

function matchRules(
  rules: readonly NamedRule[],
  { matchPolicy }: MatchResources,
  { attributes, equivalents }: RuleContext,
): Match {
  const { resource, kind } = attributes;
  // All rules are tried as they stand before any is tried for another version (vap.md M08).
  for (const rule of rules) {
    if (matchesRule(rule, resource, attributes) && matchesName(rule, attributes)) return { resource, kind };
  }
  if (matchPolicy !== 'Equivalent') return undefined;
  for (const rule of rules) {
    for (const other of equivalents) {
      if (sameResource(other.resource, resource) || !matchesRule(rule, other.resource, attributes)) continue;
      if (other.kind === undefined) {
        return { error: `unable to convert to ${resourceText(other.resource)}: unknown kind` };
      }
      if (matchesName(rule, attributes)) return { resource: other.resource, kind: other.kind };
    }
  }
  return undefined;
}

/** As Go prints a GroupVersionResource. */
function resourceText({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}, Resource=${resource}`;
}

function matchesName({ resourceNames }: NamedRule, { name }: Attributes): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

function matchesRule(rule: NamedRule, resource: GroupVersionResource, attributes: Attributes): boolean {
  return (
    matchesScope(rule.scope, resource, attributes.namespace) &&
    isListed(rule.operations, attributes.operation) &&
    isListed(rule.apiGroups, resource.group) &&
    isListed(rule.apiVersions, resource.version) &&
    rule.resources.some((pattern) => matchesResource(pattern, resource.resource, attributes.subresource))
  );
}

function isListed(items: readonly string[], item: string): boolean {
  return items.includes('*') || items.includes(item);
}

/** Namespaces are cluster-scoped, although a request for one names it as its namespace (vap.md M04). */
function matchesScope(scope: string, resource: GroupVersionResource, namespace: string): boolean {
  if (scope === '*') return true;
  const isNamespace =
    resource.group === '' && resource.version === 'v1' && resource.resource === 'namespaces';
  const isNamespaced = !isNamespace && namespace !== '';
  return scope === 'Namespaced' ? isNamespaced : scope === 'Cluster' && !isNamespaced;
}

/** `pods` is the main resource alone, `pods/*` it and all its subresources (vap.md M05). */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const wantedResource = slash === -1 ? pattern : pattern.slice(0, slash);
  const wantedSubresource = slash === -1 ? '' : pattern.slice(slash + 1);
  return (
    (wantedResource === '*' || wantedResource === resource) &&
    (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}
