/** Expressions that compile and yet are refused, or whose text hides why. */
import { typeString } from '../../cel/type-format.ts';
import { finding, type LintFinding } from '../lint-finding.ts';
import type { Subject } from './subject.ts';

export function resultTraps(subject: Subject): readonly LintFinding[] {
  return [...dynTraps(subject), ...patternTraps(subject)];
}

/** A pattern is one of RE2, which takes no more than linear time and has less than others. */
function patternTraps({ expressions }: Subject): readonly LintFinding[] {
  return expressions.flatMap(({ field, failure = '' }) => {
    const [cause] = /error parsing regexp: .*|invalid matches argument/.exec(failure) ?? [];
    if (cause === undefined) return [];
    return [
      finding(
        'LINT_PATTERN_INVALID',
        field,
        `has a pattern that RE2 does not know (${cause}): the API server refuses it; RE2 has no look-around and no back references`,
      ),
    ];
  });
}

/** A result of type dyn is refused, even where it is always a bool (vap.md V10). */
function dynTraps({ expressions }: Subject): readonly LintFinding[] {
  return expressions.flatMap(({ field, returns, checked }) => {
    if (returns === undefined || checked?.type.kind !== 'dyn') return [];
    const wanted = typeString(returns[0] ?? checked.type);
    const step = wanted === 'bool' ? 'compare it: … == true' : 'convert it: string(…)';
    return [
      finding(
        'LINT_DYN_RESULT',
        field,
        `its type is dyn, as that of every field of an object, and must be ${wanted}: the API server refuses it; ${step}`,
      ),
    ];
  });
}
