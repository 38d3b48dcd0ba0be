/** Runs one family of cases about policies, whatever they are about. */
import type { Cel } from '../../src/policies/cel/cel.ts';
import type { FamilyResult, Failure } from './suite.ts';

export interface RecordedCase {
  readonly id: string;
}

/** Knows one sort of cases. */
export interface CaseRunner {
  handles(one: RecordedCase): boolean;
  /** Why a case cannot be compared; it is named then. */
  reasonToLeave(one: RecordedCase): string | undefined;
  /** What is not as recorded. */
  differences(one: RecordedCase, cel: Cel): readonly string[];
}

/** @param runners the first that handles a case compares it; what none handles is left out, and said */
export function runFamily(
  family: string,
  cases: readonly RecordedCase[],
  runners: readonly CaseRunner[],
  cel: Cel,
): FamilyResult {
  const left = new Map<string, string[]>();
  const failures: Failure[] = [];
  const ids: string[] = [];
  let others = 0;
  for (const one of cases) {
    const runner = runners.find((known) => known.handles(one));
    if (runner === undefined) {
      others += 1;
      continue;
    }
    const reason = runner.reasonToLeave(one);
    if (reason !== undefined) {
      left.set(reason, [...(left.get(reason) ?? []), one.id]);
      continue;
    }
    ids.push(one.id);
    const detail = detailOf(runner, one, cel);
    if (detail !== '') failures.push({ id: one.id, detail });
  }
  const texts = [...left].map(([reason, names]) => `${reason}: ${names.join(' ')}`);
  if (others > 0) texts.push(`${String(others)} that are not evaluated`);
  return {
    family,
    total: ids.length,
    failures,
    ids,
    ...(texts.length === 0 ? {} : { left: texts.join('; ') }),
  };
}

function detailOf(runner: CaseRunner, one: RecordedCase, cel: Cel): string {
  try {
    return runner.differences(one, cel).join('\n');
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
}
