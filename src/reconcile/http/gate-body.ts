/** What the gate API says of a Stage (delivery.md §4.0). */
import type { GateAnswer, ReasonCode } from '../../policies/delivery/decision.ts';
import { inSeconds } from '../stabilization.ts';
import type { GateEvaluation, StageGates, StageKey } from '../stages/gates.ts';

export interface GateBody {
  readonly apiVersion: 'gate.delivery.pacto.trianalab.io/v1';
  readonly stage: string;
  readonly digest: string;
  readonly decision: GateAnswer;
  readonly allowed: boolean;
  /** Whether waiting brings nothing else. */
  readonly conclusive: boolean;
  readonly reasonCode: ReasonCode;
  readonly message: string;
  readonly nextChange?: string;
  readonly verdict?: object;
  readonly approvals?: object;
  readonly operation: string | null;
  readonly evaluatedAt: string;
  readonly expiresAt?: string;
}

/** @returns undefined where there is no such Stage; Wait where what is known may be of another time. */
export function gateBody(gates: StageGates, key: StageKey, digest?: string): GateBody | undefined {
  const evaluation = gates.evaluate(key, digest);
  const unsynced = gates.unsynced();
  if (evaluation === undefined && unsynced === undefined) return undefined;
  const stage = `${key.namespace}/${key.name}`;
  if (evaluation === undefined || unsynced !== undefined || !gates.keeperAlive())
    return unavailable(stage, evaluation, unsynced ?? 'nobody keeps the Stages just now');
  return bodyOf(stage, evaluation);
}

function bodyOf(
  stage: string,
  { decision, input, digest, evaluatedAtMs, ...rest }: GateEvaluation,
): GateBody {
  const { own, approvals } = input;
  return {
    apiVersion: 'gate.delivery.pacto.trianalab.io/v1',
    stage,
    digest,
    decision: decision.decision,
    allowed: decision.decision === 'Allow',
    conclusive: decision.decision !== 'Wait',
    reasonCode: decision.reasonCode,
    message: decision.message,
    ...timeMember('nextChange', decision.nextChangeMs),
    verdict: {
      status: own.status,
      findings: own.findings,
      fresh: own.currency === 'Fresh',
      ...timeMember('observedAt', own.observedAtMs),
      ...(own.observedAtMs === undefined
        ? {}
        : { ageSeconds: Math.max(0, Math.round((evaluatedAtMs - own.observedAtMs) / 1_000)) }),
    },
    approvals: { required: approvals.required, have: approvals.have, missing: approvals.missing },
    operation: rest.stage.status.activeOperation?.name ?? null,
    evaluatedAt: inSeconds(evaluatedAtMs),
    ...timeMember('expiresAt', own.expiresAtMs),
  };
}

function unavailable(stage: string, evaluation: GateEvaluation | undefined, why: string): GateBody {
  return {
    apiVersion: 'gate.delivery.pacto.trianalab.io/v1',
    stage,
    digest: evaluation?.digest ?? '',
    decision: 'Wait',
    allowed: false,
    conclusive: false,
    reasonCode: 'GATE_UNAVAILABLE',
    message: why,
    operation: null,
    evaluatedAt: inSeconds(evaluation?.evaluatedAtMs ?? 0),
  };
}

function timeMember(name: string, ms: number | undefined): Readonly<Record<string, string>> {
  return ms === undefined || !Number.isFinite(ms) ? {} : { [name]: inSeconds(ms) };
}
