/** What the simulation of an outage means to an operator: one finding for each entry, not for each request. */
import { WRITERS_PATH } from '../../policies/vap/entry-name.ts';
import { pathOf, placeOf, type LiveEntry } from './live-entry.ts';
import { finding, type Finding } from './preflight-finding.ts';
import type { AskedEntry, SimulatedStep } from './simulate.ts';

interface Blocked {
  readonly asked: AskedEntry;
  readonly steps: readonly SimulatedStep[];
}

/** Of entries of the gate itself. */
export function recoveryFindings(simulated: readonly SimulatedStep[]): readonly Finding[] {
  const blocked = simulated.filter(({ outcome }) => outcome === 'blocked');
  const isPointer = ({ step }: SimulatedStep): boolean => step.id.startsWith('pointer-');
  const necessary = blocked.filter((one) => one.step.need === 'necessary');
  return [
    ...byEntry(necessary.filter((one) => !isPointer(one))).map(blockedFinding),
    ...byEntry(necessary.filter(isPointer)).map(pointerFinding),
    ...byEntry(blocked.filter((one) => one.step.need === 'comfort'))
      // That nobody writes policies unchecked while the gate is away is what the entry is for (design decision 17).
      .filter(({ asked }) => pathOf(asked.entry.client) !== WRITERS_PATH)
      .map(comfortFinding),
    ...byEntry(simulated.filter(({ outcome }) => outcome === 'delayed')).map(delayedFinding),
  ];
}

/** Of entries that somebody else answers, whose servers may be away at the same time. */
export function foreignFindings(simulated: readonly SimulatedStep[]): readonly Finding[] {
  const blocked = ({ outcome, step }: SimulatedStep): boolean =>
    outcome === 'blocked' && step.need === 'necessary';
  return byEntry(simulated.filter(blocked)).map(({ asked, steps }) =>
    finding(
      'PREFLIGHT_FOREIGN_ENTRY',
      placeOf(asked.entry),
      `is not the gate's, and refuses ${list(steps)} while its own server is away`,
      'after an outage of the whole cluster the gate waits for that server, however its own entries are',
      'let whoever keeps it exclude kube-system and the namespace of the gate',
    ),
  );
}

function blockedFinding({ asked, steps }: Blocked): Finding {
  return finding(
    'PREFLIGHT_RECOVERY_BLOCKED',
    placeOf(asked.entry),
    `${subjectOf(asked)} refuses ${list(steps)} while the gate is away${becauseOf(asked)}`,
    'what the gate or the cluster needs in order to come back is refused',
    `${narrow(asked)}; in an outage: ${removalOf(asked.entry)}, which is always possible`,
  );
}

function pointerFinding({ asked, steps }: Blocked): Finding {
  return finding(
    'PREFLIGHT_POINTER_BLOCKED',
    placeOf(asked.entry),
    `${subjectOf(asked)} refuses ${list(steps)} while the gate is away`,
    'the GitOps tool that deploys the gate could not bring it back',
    `put the namespace of that object into policies.excludedNamespaces; in an outage: ${removalOf(asked.entry)}`,
  );
}

function comfortFinding({ asked, steps }: Blocked): Finding {
  return finding(
    'PREFLIGHT_COMFORT_BLOCKED',
    placeOf(asked.entry),
    `${subjectOf(asked)} refuses ${list(steps)} while the gate is away`,
    'the gate comes back without that, but it cannot be installed anew or tidied up meanwhile',
    `in an outage: ${removalOf(asked.entry)}, which is always possible`,
  );
}

function delayedFinding({ asked, steps }: Blocked): Finding {
  return finding(
    'PREFLIGHT_RECOVERY_DELAYED',
    placeOf(asked.entry),
    `${subjectOf(asked)} delays ${list(steps)} while the gate is away, by ${String(asked.entry.timeoutSeconds)} s at most`,
    'recovery is slower by that for each request',
    'nothing, or a shorter timeoutSeconds',
  );
}

function byEntry(simulated: readonly SimulatedStep[]): readonly Blocked[] {
  const found = new Map<LiveEntry, { asked: AskedEntry; steps: SimulatedStep[] }>();
  for (const one of simulated)
    for (const asked of one.by) {
      const before = found.get(asked.entry);
      if (before === undefined) found.set(asked.entry, { asked, steps: [one] });
      else before.steps.push(one);
    }
  return [...found.values()];
}

/** So many are named; the report has them all. */
const NAMED = 4;

function list(steps: readonly SimulatedStep[]): string {
  const ids = steps.map(({ step }) => step.id);
  const more = ids.length - NAMED;
  return more > 0 ? `${ids.slice(0, NAMED).join(', ')} and ${String(more)} more steps` : ids.join(', ');
}

function subjectOf({ policy, entry }: AskedEntry): string {
  return policy === undefined
    ? `the entry (${entry.failurePolicy})`
    : `policy ${policy} (${entry.failurePolicy})`;
}

function becauseOf({ error }: AskedEntry): string {
  return error === undefined ? '' : ` (${error})`;
}

function narrow({ policy }: AskedEntry): string {
  return policy === undefined
    ? 'apply what pacto-gate generate webhooks writes'
    : `narrow the rules or selectors of policy ${policy}`;
}

/** The API server asks no webhook about it (webhook-operations.md W10). */
function removalOf({ kind, configuration }: LiveEntry): string {
  return `kubectl delete ${kind.toLowerCase()} ${configuration}`;
}
