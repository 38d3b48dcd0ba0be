/** Which approvals count, and whether one breaks the glass (delivery.md §2.5, §3.3 Counting, Table 3). */
import { compilePattern } from '../cel/libraries/patterns.ts';
import { CelError } from '../cel/values.ts';
import type { Approvals, VerdictClass } from './decision.ts';
import { classOfStatus, SKEW_MS } from './freshness.ts';
import { holdsRole, rolesFor } from './identity-policy.ts';
import type { Approval, Operation, Person } from './operation.ts';
import type { Stage } from './stage.ts';
import type { LoadedPolicy } from './world.ts';

/** Break-glass lasts an hour at most, whatever the policy says (delivery.md §2.5). */
const MAX_BREAK_GLASS_MS = 3_600_000;
const MAX_TICKET = 256;

export interface ApprovalQuestion {
  readonly nowMs: number;
  readonly stage: Stage;
  /** The Operation that is approved; undefined: there is none, so nothing counts. */
  readonly operation: Operation | undefined;
  /** Of any operation; those of others do not count. */
  readonly approvals: readonly Approval[];
  readonly policy: LoadedPolicy;
  /** What the verdict says now, as the Pacto has it. */
  readonly verdict: string;
}

interface Vote {
  readonly approval: Approval;
  readonly expiresAtMs: number;
  /** Ran out, or its author has no longer the role. */
  readonly hasLapsed: boolean;
}

/**
 * Where approvals stand for an Operation: votes for exactly its uid and digest, one for each person, by people who hold the
 * role by the policy of now. Votes of the requester do not count under separation of duties; `RequesterAndAuthor` is
 * `Requester`, since nobody here knows the author of a commit (delivery.md §3.3). A Reject counts until it is deleted.
 */
export function countApprovals(question: ApprovalQuestion): Approvals {
  const { stage, operation, approvals, verdict } = question;
  const { required, separationOfDuties, onVerdictChange } = stage.spec.approvals;
  const eligible = rolesFor(question.policy.policy, stage, 'approve');
  const mine = operation === undefined ? [] : approvals.filter((one) => isOf(one, operation)).sort(byAge);
  const votes = mine.flatMap((approval) => voteOf(question, approval, eligible));
  const others = votes.filter(({ approval }) => !isRequester(approval, operation, separationOfDuties));
  const live = distinct(others.filter(({ hasLapsed }) => !hasLapsed));
  const counted = tally(required, live);
  const isMet = counted.missing.length === 0;
  const wouldDo = (of: readonly Vote[]): boolean => tally(required, distinct(of)).missing.length === 0;
  const everybody = votes.filter(({ hasLapsed }) => !hasLapsed);
  return {
    required: sum(required.map(({ count }) => count)),
    have: counted.votes.length,
    missing: counted.missing,
    isRejected: mine.some((one) => one.decision === 'Reject' && mayVote(question, one, eligible)),
    hasExpired: !isMet && others.some(({ hasLapsed }) => hasLapsed) && wouldDo(others),
    isSelfApproved: !isMet && others.length < votes.length && wouldDo(everybody),
    isOutdated: isWorse(counted.votes[0]?.approval, verdict),
    onVerdictChange,
    expiresAtMs: least(counted.votes.map(({ expiresAtMs }) => expiresAtMs)),
  };
}

/**
 * The break-glass that is valid for an Operation now (delivery.md §2.5): for its uid and digest, by a person, no service
 * account, who has the role for it now, with a reason and a ticket as the role asks, and not older than the role allows.
 *
 * @returns the one that lasts longest, with the time when it runs out.
 */
export function breakGlassOf(
  question: Pick<ApprovalQuestion, 'nowMs' | 'stage' | 'operation' | 'approvals' | 'policy'>,
): { readonly approval: Approval; readonly untilMs: number } | undefined {
  const { nowMs, stage, operation, approvals, policy } = question;
  if (operation === undefined || policy.invalid !== undefined) return undefined;
  const roles = rolesFor(policy.policy, stage, 'breakGlass');
  const valid = approvals.flatMap((approval) => {
    const { decision, role, reason, ticket, createdAtMs, expiresAtMs, approvedBy } = approval;
    if (decision !== 'BreakGlass' || !isOf(approval, operation) || createdAtMs === undefined) return [];
    if (isTooNew(question, approval) || !roles.includes(role)) return [];
    if (!holdsRole(policy.policy, role, 'breakGlass', approvedBy)) return [];
    const held = policy.policy?.roles.get(role);
    if (held === undefined || reason.trim() === '') return [];
    const longestMs = Math.min(held.maxDurationMs, MAX_BREAK_GLASS_MS);
    const untilMs = Math.min(expiresAtMs ?? Number.POSITIVE_INFINITY, createdAtMs + longestMs);
    return untilMs > nowMs && isTicket(ticket, held.ticketPattern) ? [{ approval, untilMs }] : [];
  });
  return valid.sort((a, b) => b.untilMs - a.untilMs)[0];
}

/** Whether a ticket is one by the pattern, which is RE2 and may match anywhere unless it says otherwise. */
export function isTicket(ticket: string, pattern: string | undefined): boolean {
  if (ticket.trim() === '' || ticket.length > MAX_TICKET) return false;
  if (pattern === undefined) return true;
  const compiled = compilePattern(pattern);
  return !(compiled instanceof CelError) && compiled.test(ticket);
}

/** Whether two are one person: a name or an id in common is enough, so that neither a new name nor a new id is a second one. */
export function isSamePerson(a: Person, b: Person): boolean {
  return a.username === b.username || (a.uid !== '' && a.uid === b.uid);
}

/** The uid decides, so that an Operation that came again under the name of another has none of its approvals. */
function isOf(approval: Approval, operation: Operation): boolean {
  return (
    approval.namespace === operation.namespace &&
    approval.operation.name === operation.name &&
    operation.uid !== '' &&
    approval.operation.uid === operation.uid &&
    operation.digest !== '' &&
    approval.digest === operation.digest
  );
}

function voteOf(
  question: ApprovalQuestion,
  approval: Approval,
  eligible: readonly string[],
): readonly Vote[] {
  const { nowMs, stage } = question;
  const { decision, createdAtMs, role } = approval;
  if (decision !== 'Approve' || createdAtMs === undefined || isTooNew(question, approval)) return [];
  if (!stage.spec.approvals.required.some((one) => one.role === role)) return [];
  const latestMs = createdAtMs + stage.spec.approvals.validForMs;
  const expiresAtMs = Math.min(approval.expiresAtMs ?? Number.POSITIVE_INFINITY, latestMs);
  const hasLapsed = !(expiresAtMs > nowMs) || !mayVote(question, approval, eligible);
  return [{ approval, expiresAtMs, hasLapsed }];
}

function mayVote({ policy }: ApprovalQuestion, approval: Approval, eligible: readonly string[]): boolean {
  // Of a policy that cannot be read nobody knows which roles it takes away.
  if (policy.invalid !== undefined && approval.decision !== 'Reject') return false;
  const { role, approvedBy } = approval;
  return eligible.includes(role) && holdsRole(policy.policy, role, 'approve', approvedBy);
}

function isTooNew({ nowMs }: Pick<ApprovalQuestion, 'nowMs'>, { createdAtMs }: Approval): boolean {
  return createdAtMs !== undefined && createdAtMs > nowMs + SKEW_MS;
}

function isRequester(
  { approvedBy }: Approval,
  operation: Operation | undefined,
  separation: Stage['spec']['approvals']['separationOfDuties'],
): boolean {
  return separation !== 'None' && operation !== undefined && isSamePerson(approvedBy, operation.requestedBy);
}

/** One vote for each person: their first. */
function distinct(votes: readonly Vote[]): readonly Vote[] {
  const names = new Set<string>();
  const ids = new Set<string>();
  return votes.filter(({ approval }) => {
    const { username, uid } = approval.approvedBy;
    if (names.has(username) || ids.has(uid)) return false;
    names.add(username);
    if (uid !== '') ids.add(uid);
    return true;
  });
}

/** The oldest votes that each role needs, and the roles that lack some; a role that is asked for twice needs both. */
function tally(
  required: Stage['spec']['approvals']['required'],
  votes: readonly Vote[],
): { readonly votes: readonly Vote[]; readonly missing: readonly string[] } {
  const free = Map.groupBy(votes, ({ approval }) => approval.role);
  const taken: Vote[] = [];
  const missing = required.flatMap(({ role, count }) => {
    const chosen = free.get(role)?.splice(0, Math.max(count, 0)) ?? [];
    taken.push(...chosen);
    return chosen.length < count ? [role] : [];
  });
  return { votes: taken.sort((a, b) => byAge(a.approval, b.approval)), missing };
}

const WORSE: Readonly<Record<VerdictClass, number>> = {
  Compliant: 0,
  Stabilizing: 1,
  Unsupported: 1,
  Unknown: 1,
  NotEvaluated: 2,
  NonCompliant: 3,
};

/** Whether the verdict is of a worse class than what the oldest vote saw; one that saw nothing saw `Unknown`. */
function isWorse(oldest: Approval | undefined, verdict: string): boolean {
  const rank = (status: string): number => WORSE[status === '' ? 'Unknown' : classOfStatus(status)];
  return oldest !== undefined && rank(verdict) > rank(oldest.seen.verdict);
}

/** Of the same second, by name, so that all replicas count alike. */
function byAge(a: Approval, b: Approval): number {
  const ageOf = ({ createdAtMs }: Approval): number => createdAtMs ?? Number.MAX_SAFE_INTEGER;
  return ageOf(a) - ageOf(b) || (a.name < b.name ? -1 : 1);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function least(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.min(...times);
}
