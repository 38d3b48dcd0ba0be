/** One thing that is wrong with a gate, and what preflight finds then. */
import type { PreflightCode } from '../../../src/install/preflight/preflight-finding.ts';
import type { PreflightInput, PreflightReport } from '../../../src/install/preflight/preflight.ts';
import { soundGate, type SoundGate } from './sound-gate.ts';

type Input = Parameters<SoundGate['run']>[0];

export interface Case {
  readonly code: PreflightCode;
  readonly title: string;
  readonly make?: (gate: SoundGate) => void;
  readonly input?: Input;
  /** What is read instead of the cluster. */
  readonly read?: (gate: SoundGate) => PreflightInput['cluster'];
  /** Found beside it. */
  readonly also?: readonly PreflightCode[];
}

export function codesOf({ findings }: PreflightReport): readonly PreflightCode[] {
  return findings.map(({ code }) => code);
}

/** What is found; `strange` is what the case does not name, and texts that are no clauses. */
export async function findIn(
  one: Case,
): Promise<{ readonly codes: readonly PreflightCode[]; readonly strange: readonly object[] }> {
  const gate = soundGate();
  one.make?.(gate);
  const report = await gate.run({ ...one.input, ...(one.read && { cluster: one.read(gate) }) });
  const named = new Set([one.code, ...(one.also ?? [])]);
  const isClause = (text: string): boolean => text.length > 0 && !text.endsWith('.');
  const strange = report.findings.filter(
    (found) => !named.has(found.code) || !Object.values(found).every(isClause),
  );
  return { codes: codesOf(report), strange };
}
