/** What a policy is asked about that it had better not be, or is not asked about although it says so. */
import { NAMESPACE_NAME_LABEL } from '../../entry.ts';
import { selects } from '../label-selector.ts';
import { finding, type LintFinding } from '../lint-finding.ts';
import { takenFrom } from '../reach.ts';
import type { MatchResources, NamedRule } from '../types.ts';
import { mayDeny, type Subject } from './subject.ts';

const REVIEW_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io']);
const RULES = 'spec.matchConstraints.resourceRules';

export function reachTraps(subject: Subject): readonly LintFinding[] {
  const { policy } = subject;
  const { matchConstraints } = policy;
  if (matchConstraints === undefined) return [];
  const denies = mayDeny(subject) && policy.matchConditions.length === 0;
  const found = matchConstraints.resourceRules.flatMap((rule, index) => {
    const field = `${RULES}[${String(index)}]`;
    return [
      ...reviewTraps(rule, field),
      ...(denies
        ? [...nodeTraps(rule, field, matchConstraints), ...systemTraps(rule, field, matchConstraints)]
        : []),
      ...nameTraps(rule, field),
    ];
  });
  // That some namespaces are left out is so for every policy, and stands in its status.
  const taken = takenFrom({ match: matchConstraints, namespaces: [], served: undefined });
  return [...found, ...taken.map((text) => finding('LINT_NOT_ENFORCED_HERE', RULES, text))];
}

/** vap.md O03. */
function reviewTraps({ apiGroups, resources }: NamedRule, field: string): readonly LintFinding[] {
  const isReview = (resource: string): boolean => resource.split('/')[0]?.endsWith('reviews') === true;
  const names = resources.filter(isReview);
  if (names.length === 0 || !apiGroups.some((group) => group === '*' || REVIEW_GROUPS.has(group))) return [];
  return [
    finding(
      'LINT_REVIEWS_IN_SCOPE',
      `${field}.resources`,
      `names ${names.join(', ')}, which no policy is asked about since 1.30, and no webhook of ours ever: leave them out`,
    ),
  ];
}

/** A node whose Lease or status is refused becomes NotReady, and its Pods are evicted. */
function nodeTraps(
  rule: NamedRule,
  field: string,
  { namespaceSelector }: MatchResources,
): readonly LintFinding[] {
  const isWritten = rule.operations.some((operation) => ['*', 'CREATE', 'UPDATE'].includes(operation));
  if (!isWritten) return [];
  const isInLeases = selects(namespaceSelector, namespaceLabels('kube-node-lease'));
  const leases = rule.apiGroups.includes('coordination.k8s.io') && rule.resources.includes('leases');
  const nodes =
    rule.apiGroups.includes('') &&
    rule.resources.some((resource) => /^nodes(?:\/(?:status|\*))?$/.test(resource));
  if (!nodes && !(leases && isInLeases)) return [];
  const what = nodes ? 'Nodes' : 'the Leases of nodes';
  return [
    finding(
      'LINT_NODES_IN_SCOPE',
      field,
      `covers ${what}, which each kubelet writes all the time: one that is denied makes the node NotReady, and webhook entries leave them out; ${nodes ? 'exclude the group system:nodes by a match condition' : 'exclude the namespace kube-node-lease by namespaceSelector'}`,
    ),
  ];
}

function systemTraps(
  rule: NamedRule,
  field: string,
  { namespaceSelector }: MatchResources,
): readonly LintFinding[] {
  const isWide =
    rule.apiGroups.includes('*') && rule.resources.some((resource) => ['*', '*/*'].includes(resource));
  if (!isWide || !selects(namespaceSelector, namespaceLabels('kube-system'))) return [];
  if (rule.scope === 'Cluster' || rule.resourceNames.length > 0) return [];
  return [
    finding(
      'LINT_SYSTEM_IN_SCOPE',
      field,
      'covers everything, kube-system too: a mistake in it stops the cluster from mending itself; name groups and resources, or exclude kube-system by namespaceSelector',
    ),
  ];
}

function namespaceLabels(name: string): Readonly<Record<string, string>> {
  return { [NAMESPACE_NAME_LABEL]: name };
}

/** vap.md M06. */
function nameTraps({ resourceNames, operations }: NamedRule, field: string): readonly LintFinding[] {
  if (resourceNames.length === 0 || !operations.some((operation) => ['*', 'DELETE'].includes(operation)))
    return [];
  return [
    finding(
      'LINT_NAMED_WITHOUT_NAME',
      `${field}.resourceNames`,
      'is not compared when a whole collection is deleted, as by kubectl delete --all: such a request has no name and passes; look at oldObject.metadata.name in a match condition instead',
    ),
  ];
}
