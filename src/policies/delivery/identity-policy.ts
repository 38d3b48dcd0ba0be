/** The identity policy: who may do what to which Stage (delivery.md §3.4). Deny by default. */
import type { StageName } from './change.ts';
import type { Person } from './operation.ts';

export interface Subject {
  readonly group?: string;
  readonly user?: string;
  /** `namespace/name`. */
  readonly serviceAccount?: string;
}

export interface Role {
  readonly subjects: readonly Subject[];
  readonly mayApprove: boolean;
  /** Of break-glass: what a ticket must match; undefined where any will do. */
  readonly ticketPattern: string | undefined;
  /** Of break-glass, at most one hour. */
  readonly maxDurationMs: number;
}

export type StageAction = 'promote' | 'approve' | 'rollback' | 'breakGlass' | 'admin';

/** The first rule that matches counts. */
export interface PolicyRule {
  /** Globs: `*` is any text. */
  readonly namespaces: readonly string[];
  readonly stages: readonly string[];
  /** Names of roles. */
  readonly roles: Readonly<Record<StageAction, readonly string[]>>;
}

export interface IdentityPolicy {
  readonly roles: ReadonlyMap<string, Role>;
  readonly rules: readonly PolicyRule[];
  readonly crossNamespace: readonly { readonly fromStage: string; readonly toNamespace: string }[];
}

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/**
 * Whether the person has a role that the policy names for this action on this Stage, by the groups that the API server
 * vouched for. To approve, a service account must be listed by name and the role must allow approving; break-glass is
 * for no service account (delivery.md §2.5, §3.3).
 *
 * @param policy undefined where there never was one: nobody may do anything.
 */
export function mayDo(
  policy: IdentityPolicy | undefined,
  stage: StageName,
  action: StageAction,
  person: Person,
): boolean {
  return rolesFor(policy, stage, action).some((name) => holdsRole(policy, name, action, person));
}

/** Roles that may do this to the Stage, by the first rule that matches; none where no rule does. */
export function rolesFor(
  policy: IdentityPolicy | undefined,
  stage: StageName,
  action: StageAction,
): readonly string[] {
  const rule = policy?.rules.find(
    ({ namespaces, stages }) =>
      namespaces.some((glob) => matchesGlob(glob, stage.namespace)) &&
      stages.some((glob) => matchesGlob(glob, stage.name)),
  );
  return rule?.roles[action] ?? [];
}

/** Whether the person has the role for the action now; see `mayDo`. A role that the policy does not know is nobody's. */
export function holdsRole(
  policy: IdentityPolicy | undefined,
  name: string,
  action: StageAction,
  person: Person,
): boolean {
  const role = policy?.roles.get(name);
  if (role === undefined) return false;
  const isAccount = person.username.startsWith(SERVICE_ACCOUNT);
  if (action === 'breakGlass' && isAccount) return false;
  if (action === 'approve' && !role.mayApprove) return false;
  const byName = action === 'approve' && isAccount;
  return role.subjects.some((subject) => isSubject(subject, person, byName));
}

/** Names of all roles that the person has, for `gate explain`; whether they count for an action `mayDo` says. */
export function rolesOf(policy: IdentityPolicy | undefined, person: Person): readonly string[] {
  if (policy === undefined) return [];
  return [...policy.roles].flatMap(([name, { subjects }]) =>
    subjects.some((subject) => isSubject(subject, person, false)) ? [name] : [],
  );
}

/** Whether a Stage may have to do with objects of another namespace (`crossNamespace`); within its own it always may. */
export function mayCross(policy: IdentityPolicy | undefined, stage: StageName, toNamespace: string): boolean {
  if (stage.namespace === toNamespace) return true;
  const from = `${stage.namespace}/${stage.name}`;
  return (
    policy?.crossNamespace.some(
      (entry) => matchesGlob(entry.fromStage, from) && matchesGlob(entry.toNamespace, toNamespace),
    ) ?? false
  );
}

/** An empty name is nobody: what a review leaves out must not match a subject. */
function isSubject(subject: Subject, person: Person, byName: boolean): boolean {
  if (subject.serviceAccount !== undefined) {
    return person.username === SERVICE_ACCOUNT + subject.serviceAccount.replace('/', ':');
  }
  if (person.username === '') return false;
  if (subject.user !== undefined) return subject.user === person.username;
  return !byName && subject.group !== undefined && person.groups.includes(subject.group);
}

/** `*` is any text, the empty one too; all else stands for itself. Linear but for the length of one piece. */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return text === glob;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
