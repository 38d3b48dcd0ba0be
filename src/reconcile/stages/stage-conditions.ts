/** Conditions of a Stage (delivery.md §3.1): one that keeps its status keeps its time. */
import { at, isRecord } from '../../policies/identity/foreign.ts';

export interface StageCondition {
  readonly type: StageConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** In this order; `Ready` and `Stalled` are kstatus' own and speak of the Stage, not of its gate. */
const TYPES = [
  'Ready',
  'Stalled',
  'GateOpen',
  'Frozen',
  'UngatedMove',
  'GateBypassed',
  'CollateralRisk',
] as const;
export type StageConditionType = (typeof TYPES)[number];

/** Of what is not ours, such as what the promoter says, all is kept. */
export function mergeConditions(
  before: unknown,
  now: readonly StageCondition[],
  { generation, at: time }: { readonly generation: number; readonly at: string },
): readonly object[] {
  const old = Array.isArray(before) ? before.filter((one) => isRecord(one)) : [];
  const ours = now.map((condition) => {
    const same = old.find((one) => one['type'] === condition.type && one['status'] === condition.status);
    const since = at(same, 'lastTransitionTime');
    return {
      ...condition,
      observedGeneration: generation,
      lastTransitionTime: typeof since === 'string' ? since : time,
    };
  });
  const known: ReadonlySet<unknown> = new Set(TYPES);
  return [...ours, ...old.filter((one) => !known.has(one['type']))];
}
