/** Amounts such as `512Mi` are texts, which compare letter by letter. */
import { print } from '../../cel/printer.ts';
import { finding, type LintFinding } from '../lint-finding.ts';
import type { Subject } from './subject.ts';
import { nodesOf } from './walk-expression.ts';

const ORDERINGS = new Set(['_<_', '_<=_', '_>_', '_>=_']);
/** A chain that ends in a member of one of these. */
const AMOUNT =
  /(?:^|[.)\]])\??(?:limits|requests|capacity|allocatable|hard)(?:\.\??[A-Za-z]+|\[\??"[^"]*"\])(?:\.orValue\("[^"]*"\))?$/;

export function quantityTraps({ expressions }: Subject): readonly LintFinding[] {
  return expressions.flatMap(({ field, checked }) => {
    if (checked === undefined) return [];
    for (const node of nodesOf(checked.ast.expr)) {
      if (node.kind !== 'call' || !ORDERINGS.has(node.function)) continue;
      const amount = node.args.map(print).find((text) => AMOUNT.test(text));
      if (amount === undefined) continue;
      return [
        finding(
          'LINT_QUANTITY_AS_TEXT',
          field,
          `compares ${amount} as a text, where "9Mi" is greater than "10Gi": use quantity(…).compareTo(quantity(…)) or isLessThan`,
        ),
      ];
    }
    return [];
  });
}
