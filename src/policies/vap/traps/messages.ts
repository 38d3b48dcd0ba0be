/** What whoever is denied reads, and what GitOps tools make of it. */
import type { Expr } from '../../cel/ast.ts';
import { print } from '../../cel/printer.ts';
import { finding, type LintFinding } from '../lint-finding.ts';
import type { NamedRule, Validation } from '../types.ts';
import { mayDeny, type Subject, type SubjectExpression } from './subject.ts';
import { nodesOf, operandsOf } from './walk-expression.ts';

/** That nobody keeps in a repository and applies. */
const NOT_APPLIED = new Set([
  'bindings',
  'certificatesigningrequests',
  'componentstatuses',
  'controllerrevisions',
  'csinodes',
  'endpoints',
  'endpointslices',
  'events',
  'leases',
  'nodes',
  'volumeattachments',
]);
/** Texts on which Flux deletes an object to make it anew, whatever the reason (delivery.md F7). */
const IMMUTABLE = /is\simmutable|immutable\sfield/;

export function messageTraps(subject: Subject): readonly LintFinding[] {
  const isApplied = (subject.policy.matchConstraints?.resourceRules ?? []).some(mayBeApplied);
  return [
    ...(mayDeny(subject) && isApplied ? [...reasonTraps(subject), ...immutableTraps(subject)] : []),
    ...missingTraps(subject),
    ...subject.expressions.flatMap((one) => branchTraps(one, subject)),
  ];
}

function mayBeApplied({ operations, resources }: NamedRule): boolean {
  return (
    operations.some((operation) => ['*', 'CREATE', 'UPDATE'].includes(operation)) &&
    resources.some(
      (resource) => resource === '*/*' || (!resource.includes('/') && !NOT_APPLIED.has(resource)),
    )
  );
}

/** GitOps tools take some refusals for a change that needs the object deleted and made anew (design decision 23). */
function reasonTraps({ policy }: Subject): readonly LintFinding[] {
  const [first, ...others] = indices(policy.validations, ({ reason }) => reason !== 'Forbidden');
  if (first === undefined) return [];
  const isLarge = policy.validations[first]?.reason === 'RequestEntityTooLarge';
  return [
    finding(
      'LINT_REASON_NOT_FORBIDDEN',
      `spec.validations[${String(first)}].reason`,
      `is not Forbidden${andOthers(others)}, so a denial has code ${isLarge ? '413' : '422'}: a GitOps tool may take that for a field that cannot be changed, and delete the object to make it anew; write reason: Forbidden`,
    ),
  ];
}

function immutableTraps({ policy, expressions }: Subject): readonly LintFinding[] {
  const texts = [
    ...policy.validations.map(({ message = '' }, index) => ({
      field: `spec.validations[${String(index)}].message`,
      texts: [message],
    })),
    ...expressions.flatMap(({ role, field, checked }) =>
      role === 'message' && checked !== undefined ? [{ field, texts: literals(checked.ast.expr) }] : [],
    ),
  ];
  return texts
    .filter((one) => one.texts.some((text) => IMMUTABLE.test(text)))
    .map(({ field }) =>
      finding(
        'LINT_MESSAGE_IMMUTABLE',
        field,
        'says "is immutable" or "immutable field": on these words Flux deletes the object to make it anew where its force is on; say that it may not be changed',
      ),
    );
}

function literals(expr: Expr): readonly string[] {
  return [...nodesOf(expr)].flatMap((node) =>
    node.kind === 'literal' && node.literal.type === 'string' ? [node.literal.value] : [],
  );
}

/** vap.md E08. */
function missingTraps({ policy }: Subject): readonly LintFinding[] {
  const [first, ...others] = indices(
    policy.validations,
    ({ message, messageExpression = '' }) => message === undefined && messageExpression === '',
  );
  if (first === undefined) return [];
  return [
    finding(
      'LINT_MESSAGE_MISSING',
      `spec.validations[${String(first)}]`,
      `has no message${andOthers(others)}: whoever is denied reads the expression, and of one with line breaks a warning is not shown at all; write a message`,
    ),
  ];
}

function indices(
  validations: readonly Validation[],
  wanted: (validation: Validation) => boolean,
): readonly number[] {
  return validations.flatMap((validation, index) => (wanted(validation) ? [index] : []));
}

function andOthers(others: readonly number[]): string {
  if (others.length === 0) return '';
  return others.length === 1 ? ' (nor is one other)' : ` (nor are ${String(others.length)} others)`;
}

function branchTraps(expression: SubjectExpression, subject: Subject): readonly LintFinding[] {
  const { field, checked, role, index } = expression;
  if (checked === undefined) return [];
  const found: LintFinding[] = [];
  const refuted = role === 'message' ? falseWhenDenied(subject, index) : new Set<string>();
  for (const node of nodesOf(checked.ast.expr)) {
    if (node.kind !== 'call' || node.function !== '_?_:_') continue;
    const [condition, whenTrue, whenFalse] = node.args;
    if (condition === undefined || whenTrue === undefined || whenFalse === undefined) continue;
    const text = print(condition);
    if (print(whenTrue) === print(whenFalse)) {
      found.push(
        finding(
          'LINT_BRANCHES_EQUAL',
          field,
          `gives ${print(whenTrue)} whether ${text} or not: one of the branches must be another one`,
        ),
      );
    } else if (refuted.has(text) || refuted.has(`!${text}`) || refuted.has(`!(${text})`)) {
      const dead = refuted.has(text) ? whenTrue : whenFalse;
      found.push(
        finding(
          'LINT_BRANCH_DEAD',
          field,
          `never gives ${print(dead)}: the message is shown only where the validation is false, which settles ${text}; the branches may be swapped`,
        ),
      );
    }
  }
  return found;
}

/** Texts of what is false where the validation is. */
function falseWhenDenied({ expressions }: Subject, index: number): ReadonlySet<string> {
  const validation = expressions.find((one) => one.role === 'validation' && one.index === index);
  const expr = validation?.checked?.ast.expr;
  return new Set(expr === undefined ? [] : operandsOf(expr, '_||_').map(print));
}
