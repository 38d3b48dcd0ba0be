/** The RBAC authorizer over recorded ClusterRoleBindings and ClusterRoles. */
import type {
  AuthorizationAnswer,
  AuthorizationQuery,
  AuthorizationUser,
} from '../../src/policies/cel/signals.ts';

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly Subject[];
  readonly rules?: readonly Rule[];
}

const NO_OPINION: AuthorizationAnswer = { decision: 'noopinion', reason: '' };

export function rbacAuthorizer(
  objects: readonly RbacObject[],
): (query: AuthorizationQuery) => AuthorizationAnswer {
  const roles = new Map(
    objects.filter((one) => one.kind === 'ClusterRole').map((role) => [role.metadata.name, role]),
  );
  return (query) => {
    // May do everything, whatever is bound.
    if (query.user.groups.includes('system:masters')) return { decision: 'allow', reason: '' };
    for (const { kind, metadata, roleRef, subjects = [] } of objects) {
      if (kind !== 'ClusterRoleBinding' || roleRef === undefined) continue;
      const subject = subjects.find((one) => isSubject(one, query.user));
      const rules = roles.get(roleRef.name)?.rules ?? [];
      if (subject === undefined || !rules.some((rule) => allows(rule, query))) continue;
      const who = `${subject.kind} "${subject.namespace === undefined ? '' : `${subject.namespace}/`}${subject.name}"`;
      return {
        decision: 'allow',
        reason: `RBAC: allowed by ClusterRoleBinding "${metadata.name}" of ClusterRole "${roleRef.name}" to ${who}`,
      };
    }
    return NO_OPINION;
  };
}

function isSubject({ kind, name, namespace = '' }: Subject, user: AuthorizationUser): boolean {
  if (kind === 'User') return name === user.username;
  if (kind === 'Group') return user.groups.includes(name);
  return user.username === `system:serviceaccount:${namespace}:${name}`;
}

function allows(rule: Rule, query: AuthorizationQuery): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(query.verb)) return false;
  if (query.kind === 'path') {
    return (rule.nonResourceURLs ?? []).some((pattern) =>
      pattern.endsWith('*') ? query.path.startsWith(pattern.slice(0, -1)) : pattern === query.path,
    );
  }
  const { apiGroups = [], resources = [], resourceNames = [] } = rule;
  const whole = query.subresource === '' ? query.resource : `${query.resource}/${query.subresource}`;
  return (
    (apiGroups.includes('*') || apiGroups.includes(query.group)) &&
    resources.some(
      (one) => one === '*' || one === whole || (query.subresource !== '' && one === `*/${query.subresource}`),
    ) &&
    (resourceNames.length === 0 || resourceNames.includes(query.name))
  );
}
