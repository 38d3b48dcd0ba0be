/** Where the authorizer is declared and has no value (vap.md E09, L06). */
import type { Expr } from '../../cel/ast.ts';
import { finding, type LintFinding } from '../lint-finding.ts';
import type { Subject } from './subject.ts';
import { identName, nodesOf, variableName } from './walk-expression.ts';

export function authorizerTraps(subject: Subject): readonly LintFinding[] {
  return subject.expressions.flatMap(({ role, field, checked }) => {
    if (checked === undefined || (role !== 'annotation' && role !== 'message')) return [];
    if (!asksAuthorizer(checked.ast.expr, subject.variables, new Set())) return [];
    if (role === 'message') {
      return [
        finding(
          'LINT_MESSAGE_AUTHORIZER',
          field,
          'uses a variable that asks the authorizer, which no message may: if the message is the first to use it, it has no result and the plain message is shown; use the variable in the validation first or leave it out',
        ),
      ];
    }
    const then = subject.policy.failurePolicy === 'Ignore' ? 'it is left out' : 'every request is denied';
    return [
      finding(
        'LINT_ANNOTATION_AUTHORIZER',
        field,
        `asks the authorizer, which has no value in an audit annotation: ${then}; ask it in a validation`,
      ),
    ];
  });
}

function asksAuthorizer(expr: Expr, variables: ReadonlyMap<string, Expr>, seen: Set<string>): boolean {
  return nodesOf(expr).some((node) => {
    if (identName(node) === 'authorizer') return true;
    const name = variableName(node);
    const inner = name === undefined || seen.has(name) ? undefined : variables.get(name);
    if (name === undefined || inner === undefined) return false;
    seen.add(name);
    return asksAuthorizer(inner, variables, seen);
  });
}
