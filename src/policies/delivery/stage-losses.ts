/** Which changes of a Stage let more through than before: for a stage admin alone (delivery.md §3.1, rows 13 and 17 of §2.3). */
import { canonicalJson } from '../identity/foreign.ts';
import type { StageSpec, StageUpstream } from './stage.ts';

/** From the one that holds the most to the one that holds the least. */
const STRICTNESS = {
  mode: ['Enforce', 'Warn', 'Off'],
  scope: ['Strict', 'Workload', 'Pointer'],
  target: ['Block', 'AllowCures', 'Ignore'],
  onUnknown: ['Deny', 'Wait', 'Allow'],
  separationOfDuties: ['RequesterAndAuthor', 'Requester', 'None'],
  onVerdictChange: ['Invalidate', 'Keep'],
} as const;

/**
 * @param old undefined on creation: then what would never hold anything
 * @returns paths, in the order of the spec
 */
export function stageLosses(old: StageSpec | undefined, now: StageSpec): readonly string[] {
  if (old === undefined) return now.gate.onUnknown === 'Allow' ? ['spec.gate.onUnknown'] : [];
  const { gate: was, approvals: asked } = old;
  const { gate: is, approvals: ask } = now;
  const losses: readonly (readonly [path: string, isLoss: boolean])[] = [
    ['spec.pacto', canonicalJson({ ...old.pacto }) !== canonicalJson({ ...now.pacto })],
    ['spec.pointers', losesEntry(old.pointers, now.pointers)],
    ['spec.upstreams', losesUpstream(old.upstreams, now.upstreams)],
    ['spec.gate.mode', isLooser('mode', was.mode, is.mode)],
    ['spec.gate.scope', isLooser('scope', was.scope, is.scope)],
    ['spec.gate.target', isLooser('target', was.target, is.target)],
    ['spec.gate.onUnknown', isLooser('onUnknown', was.onUnknown, is.onUnknown)],
    ['spec.gate.maxVerdictAge', is.maxVerdictAgeMs > was.maxVerdictAgeMs],
    ['spec.gate.requireReadiness', was.requireReadiness && !is.requireReadiness],
    ['spec.approvals.required', losesRole(asked.required, ask.required)],
    [
      'spec.approvals.separationOfDuties',
      isLooser('separationOfDuties', asked.separationOfDuties, ask.separationOfDuties),
    ],
    ['spec.approvals.validFor', ask.validForMs > asked.validForMs],
    [
      'spec.approvals.onVerdictChange',
      isLooser('onVerdictChange', asked.onVerdictChange, ask.onVerdictChange),
    ],
    ['spec.verification.soak', now.verification.soakMs < old.verification.soakMs],
    ['spec.freeze', thaws(old.freeze, now.freeze)],
    ['spec.windows', losesWindow(old.windows, now.windows)],
  ];
  return losses.flatMap(([path, isLoss]) => (isLoss ? [path] : []));
}

function isLooser<K extends keyof typeof STRICTNESS>(
  key: K,
  was: (typeof STRICTNESS)[K][number],
  is: (typeof STRICTNESS)[K][number],
): boolean {
  const order: readonly string[] = STRICTNESS[key];
  return order.indexOf(is) > order.indexOf(was);
}

function losesEntry(old: readonly object[], now: readonly object[]): boolean {
  const left = new Set(now.map(canonicalJson));
  return old.some((entry) => !left.has(canonicalJson(entry)));
}

/** Fewer of all, more of any, a shorter soak, an older record. */
function losesUpstream(old: StageSpec['upstreams'], now: StageSpec['upstreams']): boolean {
  if (old.from.length === 0) return false;
  if (now.from.length === 0 || (old.strategy === 'All' && now.strategy === 'Any')) return true;
  const found = new Map(now.from.map((upstream) => [upstreamKey(upstream), upstream]));
  const isLost = old.from.some((upstream) => {
    const next = found.get(upstreamKey(upstream));
    if (next === undefined) return now.strategy === 'All';
    return patienceOf(next) < patienceOf(upstream);
  });
  const known = new Set(old.from.map(upstreamKey));
  return isLost || (now.strategy === 'Any' && now.from.some((upstream) => !known.has(upstreamKey(upstream))));
}

function upstreamKey(upstream: StageUpstream): string {
  return 'remote' in upstream
    ? `remote ${upstream.remote} ${upstream.stage}`
    : `${upstream.namespace ?? ''} ${upstream.stage}`;
}

/** The higher, the more it holds. */
function patienceOf(upstream: StageUpstream): number {
  return 'remote' in upstream ? -upstream.maxRecordAgeMs : upstream.minCompliantForMs;
}

type Roles = StageSpec['approvals']['required'];

function losesRole(old: Roles, now: Roles): boolean {
  const counts = new Map(now.map(({ role, count }) => [role, count]));
  return old.some(({ role, count }) => (counts.get(role) ?? 0) < count);
}

function thaws(old: StageSpec['freeze'], now: StageSpec['freeze']): boolean {
  if (old.untilMs === undefined) return false;
  return (now.untilMs ?? 0) < old.untilMs || (now.allowCures && !old.allowCures);
}

/** A Deny that is gone, an Allow that is new where others bound it, or the last Allow that is gone. */
function losesWindow(old: StageSpec['windows'], now: StageSpec['windows']): boolean {
  const of = (windows: StageSpec['windows'], kind: 'Allow' | 'Deny'): StageSpec['windows'] =>
    windows.filter((window) => window.kind === kind);
  const allowed = of(old, 'Allow');
  return (
    losesEntry(of(old, 'Deny'), of(now, 'Deny')) ||
    (allowed.length > 0 && (of(now, 'Allow').length === 0 || losesEntry(of(now, 'Allow'), allowed)))
  );
}
