/** How the webhooks of delivery answer: what is allowed, what is refused, and what the audit log gets to know. */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import { allow, type Allowed, type Denied, type Verdict } from '../verdict.ts';
import type { Pin, StageName } from './change.ts';
import type { Decision, ReasonCode } from './decision.ts';
import { oneLine, refuse, shortDigest } from './deny-text.ts';
import type { Person } from './operation.ts';
import type { GateWorld } from './world.ts';

/** What a refusal or an Allow is about. */
export interface About {
  readonly stage: StageName | undefined;
  readonly from?: Pin | undefined;
  readonly to?: Pin | undefined;
  readonly world?: GateWorld | undefined;
}

export interface Barred {
  readonly code: ReasonCode;
  /** Without a full stop. */
  readonly message: string;
  readonly next: string;
}

/** @param cell class of the change, for the audit log */
export function pass(
  code: ReasonCode,
  cell: string,
  about: About,
  warnings: readonly string[] = [],
): Allowed {
  return allow({
    warnings: warnings.map(warningText),
    auditAnnotations: annotationsOf(code, cell, about),
  });
}

/** A refusal that no verdict led to. */
export function bar({ code, message, next }: Barred, about: About & { readonly stage: StageName }): Denied {
  return refuse({ code, stage: stageText(about.stage), message, next }, annotationsOf(code, 'Barred', about));
}

/** What a decision of the gate comes to at admission: Wait is refused too, with a code that tells it apart. */
export function answerOf(
  decision: Decision,
  about: About & { readonly stage: StageName; readonly world: GateWorld },
  { digest, warnings }: { readonly digest: string; readonly warnings: readonly string[] },
): Verdict {
  const { reasonCode, cell, message } = decision;
  const annotations = annotationsOf(decision.wouldBe?.reasonCode ?? reasonCode, cell, about);
  if (decision.decision === 'Allow') {
    const all = [...warnings, ...decision.warnings.map((text) => `${stageText(about.stage)}: ${text}`)];
    return allow({ warnings: all.map(warningText), auditAnnotations: annotations });
  }
  return refuse(
    {
      code: reasonCode,
      stage: stageText(about.stage),
      message: `${shortDigest(digest)} not allowed: ${message.replace(/\.$/, '')}`,
      next: nextSteps(decision, about.world),
    },
    annotations,
  );
}

/** Stable for the same inputs: no time and no counter (delivery.md §2.7). */
function nextSteps({ decision, reasonCode }: Decision, { stage }: GateWorld): string {
  const [good] = stage.status.lastGood;
  const back = good === undefined ? '' : `, roll back to ${shortDigest(good.digest)}`;
  switch (reasonCode) {
    case 'APPROVAL_REQUIRED':
    case 'APPROVAL_EXPIRED':
    case 'APPROVAL_STALE':
    case 'SELF_APPROVAL':
      return `have it approved${back}, or break glass (docs/delivery.md)`;
    case 'FROZEN':
      return `wait until moves are allowed again${back}, or break glass (docs/delivery.md)`;
    default:
      return decision === 'Wait'
        ? `wait for evidence and try again${back}, or break glass (docs/delivery.md)`
        : `promote a Compliant digest${back}, or break glass (docs/delivery.md)`;
  }
}

/** Audit annotations of delivery.md §2.7; what is not known is left out. */
function annotationsOf(
  code: ReasonCode,
  cell: string,
  { stage, from, to, world }: About,
): Readonly<Record<string, string>> {
  const verdict = at(world?.pacto, 'status', 'contractStatus');
  const entries: readonly (readonly [string, string | undefined])[] = [
    ['stage', stage === undefined ? undefined : stageText(stage)],
    ['class', cell],
    ['reason-code', code],
    ['from', from?.value],
    ['to', to?.value],
    ['verdict', typeof verdict === 'string' ? verdict : undefined],
    ['verdict-rv', world?.pacto?.metadata.resourceVersion],
    ['policy-sha256', world?.policy.sha256],
    ['override', code === 'OVERRIDE' ? 'true' : undefined],
  ];
  return Object.fromEntries(
    entries.flatMap(([key, value]) =>
      value === undefined || value === '' ? [] : [[key, oneLine(value, 256)]],
    ),
  );
}

function warningText(text: string): string {
  return oneLine(text, 256);
}

export function stageText({ namespace, name }: StageName): string {
  return `${namespace}/${name}`;
}

/** Paths for a message: the first eight. */
export function listed(paths: readonly string[]): string {
  return paths.slice(0, 8).join(', ');
}

/** Who asks, as the API server vouched for them; what has another type is nobody. */
export function personOf({ userInfo }: Pick<AdmissionRequest, 'userInfo'>): Person {
  const { username, uid, groups } = userInfo;
  return {
    username: typeof username === 'string' ? username : '',
    uid: typeof uid === 'string' ? uid : '',
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}
