/**
 * Fields that an expression reads although there are requests in which they are absent: it has no result then, and the
 * failure policy decides. Each kind of request is gone through by itself, since a policy often looks at the kind or the
 * operation first; what `has`, `in`, `?:`, optionals and the policy's own conditions make sure of is believed.
 */
import type { Expr, MacroNode } from '../../cel/ast.ts';
import type { Checked } from '../../cel/checker.ts';
import { print } from '../../cel/printer.ts';
import type { LintCode, LintFinding } from '../lint-finding.ts';
import type { OpenApiTypes } from '../openapi-schema.ts';
import { Resolver, rootOf } from './access.ts';
import { Effort } from './effort.ts';
import { Guards, intersection, NO_FACTS, ofElement, union, type Facts } from './guards.ts';
import { OUTSIDE, type Access, type Local, type Scope } from './places.ts';
import { Reports, type Report } from './reports.ts';
import { NOWHERE, ObjectPresence } from './presence.ts';
import { scenesOf } from './scenes.ts';
import type { Subject, SubjectExpression } from './subject.ts';
import { childrenOf, operandsOf, variableName } from './walk-expression.ts';

export function unguardedTraps(subject: Subject, types: OpenApiTypes): readonly LintFinding[] {
  const reports = new Reports(subject.policy);
  const presence = new ObjectPresence(types);
  const effort = new Effort();
  for (const scene of scenesOf(subject.policy, types)) {
    new SceneWalk(subject, new Resolver(presence, scene, subject, effort), reports, effort).run();
  }
  return reports.findings();
}

/** One kind of request. */
class SceneWalk {
  readonly #subject: Subject;
  readonly #resolver: Resolver;
  readonly #guards: Guards;
  readonly #reports: Reports;
  readonly #effort: Effort;
  /** Variables that were gone through with what was known then. */
  readonly #seen = new Set<string>();
  #locals = 0;
  #expression: SubjectExpression | undefined;
  /** Without what validations have no result: no message is asked for then. */
  readonly #failing = new Set<string>();
  /** That is gone through: it is to blame for what its variables read, too. */
  #message: SubjectExpression | undefined;

  constructor(subject: Subject, resolver: Resolver, reports: Reports, effort: Effort) {
    this.#subject = subject;
    this.#resolver = resolver;
    this.#guards = new Guards(resolver);
    this.#reports = reports;
    this.#effort = effort;
  }

  run(): void {
    const conditions = this.#of('condition');
    const values = conditions.map(({ checked }) => this.#resolver.constant(checked.ast.expr, OUTSIDE));
    // The policy is not asked then.
    if (values.includes(false)) return;
    const sure = conditions.map(({ checked }) => this.#guards.of(checked.ast.expr, true, OUTSIDE, true));
    for (const [index, one] of conditions.entries()) {
      // One that is false makes up for one that has no result (vap.md C02).
      const others = conditions.flatMap(({ checked }, i) => {
        if (i === index) return [];
        return [i < index ? (sure[i] ?? NO_FACTS) : this.#guards.of(checked.ast.expr, true, OUTSIDE, false)];
      });
      this.#look(one, union(...others));
    }
    const known = union(...sure);
    const validations = this.#of('validation');
    for (const one of [...validations, ...this.#of('annotation')]) this.#look(one, known);
    for (const message of this.#of('message')) {
      const of = validations.find(({ index }) => index === message.index)?.checked.ast.expr;
      // It is shown where its validation is false.
      if (of === undefined || this.#resolver.constant(of, OUTSIDE) === true) continue;
      this.#message = message;
      this.#look(message, union(known, this.#guards.of(of, false, OUTSIDE, true)));
      this.#message = undefined;
    }
  }

  #of(role: SubjectExpression['role']): readonly (SubjectExpression & { readonly checked: Checked })[] {
    return this.#subject.expressions.flatMap((one) =>
      one.role === role && one.checked !== undefined ? [{ ...one, checked: one.checked }] : [],
    );
  }

  #look(expression: SubjectExpression & { readonly checked: Checked }, facts: Facts): void {
    this.#expression = expression;
    this.#walk(expression.checked.ast.expr, OUTSIDE, facts);
  }

  /** @returns whether the expression is a place that was reported, or is read from one */
  #walk(expr: Expr, scope: Scope, facts: Facts): boolean {
    if (!this.#effort.spend()) return true;
    // What comes out the same whatever is absent reads nothing.
    if (expr.kind !== 'literal' && this.#resolver.constant(expr, scope) !== undefined) return false;
    if (expr.kind === 'select') return this.#select(expr, scope, facts);
    if (expr.kind === 'call') return this.#call(expr, scope, facts);
    if (expr.kind === 'macro') this.#macro(expr, scope, facts);
    else for (const child of childrenOf(expr)) this.#walk(child, scope, facts);
    return false;
  }

  #select(expr: Expr & { readonly kind: 'select' }, scope: Scope, facts: Facts): boolean {
    const name = variableName(expr);
    if (name !== undefined) {
      this.#variable(name, facts);
      return false;
    }
    if (this.#walk(expr.operand, scope, facts)) return true;
    if (expr.test || expr.optional || isOptional(expr.operand)) return false;
    return this.#read(expr, expr.operand, expr.field, scope, facts);
  }

  /** A variable has a result of its own, whoever uses it. */
  #variable(name: string, facts: Facts): void {
    const inner = this.#resolver.variable(name);
    const expression = this.#subject.expressions.findLast(
      ({ role, index }) => role === 'variable' && this.#subject.policy.variables[index]?.name === name,
    );
    const key = `${name} ${this.#message?.field ?? ''}\n${[...facts].sort().join('\n')}`;
    if (inner === undefined || expression === undefined || this.#seen.has(key)) return;
    this.#seen.add(key);
    const using = this.#expression;
    this.#expression = expression;
    this.#walk(inner, OUTSIDE, facts);
    this.#expression = using;
  }

  /**
   * @param name how the field or key is written
   * @returns whether it was reported
   */
  #read(expr: Expr, parent: Expr, name: string, scope: Scope, facts: Facts): boolean {
    const access = this.#resolver.access(expr, scope);
    if (access === undefined || facts.has(access.key)) return false;
    const root = rootOf(parent);
    if (this.#resolver.isNull(parent, scope)) {
      const isObject = root.kind === 'ident' && /^\.?object$/.test(root.name);
      this.#report(isObject ? 'LINT_OBJECT_NULL' : 'LINT_OLD_OBJECT_NULL', expr, parent, name);
      return true;
    }
    // That it is null in conditions is said by conditions.ts.
    const isNullSaid = this.#expression?.role === 'condition' && access.key.startsWith('namespaceObject.');
    if (access.presence !== 'optional' || isNullSaid) return false;
    this.#report(this.#codeOf(access, parent, scope), expr, parent, name);
    return true;
  }

  #codeOf({ key, place }: Access, parent: Expr, scope: Scope): LintCode {
    if (place.isParams) return 'LINT_PARAMS_UNGUARDED';
    if (key.startsWith('request.userInfo.extra')) return 'LINT_USER_EXTRA_UNGUARDED';
    if (key.startsWith('request.')) return 'LINT_REQUEST_FIELD_UNGUARDED';
    const base = this.#resolver.access(parent, scope);
    const isMap = base !== undefined && this.#resolver.presence.isMap(base.place);
    return isMap ? 'LINT_KEY_UNGUARDED' : 'LINT_FIELD_UNGUARDED';
  }

  #report(code: LintCode, expr: Expr, parent: Expr, name: string): void {
    const isKey = code === 'LINT_KEY_UNGUARDED' && expr.kind === 'select';
    const text = print(expr);
    const what = code.endsWith('_NULL') ? code : text;
    if (this.#message !== undefined && this.#failing.has(`${String(this.#message.index)} ${what}`)) return;
    if (this.#expression?.role === 'validation')
      this.#failing.add(`${String(this.#expression.index)} ${what}`);
    const report: Report = {
      code: this.#message === undefined ? code : 'LINT_MESSAGE_UNGUARDED',
      of: code,
      field: (this.#message ?? this.#expression)?.field ?? '',
      text,
      parent: print(parent),
      name: isKey ? `"${name}"` : name,
    };
    this.#reports.add(report, this.#resolver.scene);
  }

  #call(expr: Expr & { readonly kind: 'call' }, scope: Scope, facts: Facts): boolean {
    const [first, second, third] = expr.args;
    if (expr.target === undefined && first !== undefined && second !== undefined) {
      switch (expr.function) {
        case '_&&_':
        case '_||_':
          this.#logic(expr, scope, facts);
          return false;
        case '_?_:_':
          this.#choice([first, second, third ?? second], scope, facts);
          return false;
        case '_[_]': {
          const isReported = this.#walk(first, scope, facts);
          this.#walk(second, scope, facts);
          if (isReported || isOptional(first)) return isReported;
          return this.#read(expr, first, print(second), scope, facts);
        }
        default:
      }
    }
    for (const child of childrenOf(expr)) this.#walk(child, scope, facts);
    return false;
  }

  /** One operand that settles the matter makes up for another that has no result, on either side. */
  #logic(expr: Expr & { readonly kind: 'call' }, scope: Scope, facts: Facts): void {
    const isAnd = expr.function === '_&&_';
    const operands = operandsOf(expr, expr.function);
    const before = operands.map((one) => this.#guards.of(one, isAnd, scope, true));
    const after = operands.map((one) => this.#guards.of(one, isAnd, scope, false));
    const known = new Tally(facts);
    for (const more of after) known.add(more);
    for (const [index, operand] of operands.entries()) {
      known.remove(after[index] ?? NO_FACTS);
      this.#walk(operand, scope, known.facts);
      known.add(before[index] ?? NO_FACTS);
    }
  }

  #choice([condition, whenTrue, whenFalse]: readonly [Expr, Expr, Expr], scope: Scope, facts: Facts): void {
    const value = this.#resolver.constant(condition, scope);
    this.#walk(condition, scope, facts);
    if (value !== false)
      this.#walk(whenTrue, scope, union(facts, this.#guards.of(condition, true, scope, true)));
    if (value !== true)
      this.#walk(whenFalse, scope, union(facts, this.#guards.of(condition, false, scope, true)));
  }

  #macro(expr: MacroNode, scope: Scope, facts: Facts): void {
    this.#walk(expr.range, scope, facts);
    const within = (inner: Scope, more: Facts): void => {
      const known = union(facts, more);
      if (expr.filter === undefined) this.#walk(expr.body, inner, known);
      else {
        this.#walk(expr.filter, inner, known);
        this.#walk(expr.body, inner, union(known, this.#guards.of(expr.filter, true, inner, true)));
      }
    };
    const [first = '', second] = expr.variables;
    if (expr.macro === 'optMap' || expr.macro === 'optFlatMap') {
      const held = this.#resolver.access(expr.range, scope);
      within(
        held === undefined ? hidden(scope, expr) : bound(scope, first, { is: 'element', ...held }),
        NO_FACTS,
      );
      return;
    }
    const { place, range, isMap, filters, constants } = this.#resolver.elements(expr.range, scope);
    if (constants !== undefined && second === undefined) {
      for (const value of constants) within(bound(scope, first, { is: 'constant', value }), NO_FACTS);
      return;
    }
    this.#locals += 1;
    const key = `${second ?? first}#${String(this.#locals)}`;
    if (isMap && range !== undefined) {
      const name: Local = { is: 'key', key, map: range };
      const inner = bound(scope, first, name);
      const value: Local = { is: 'element', key: `${range}[${key}]`, place };
      within(second === undefined ? inner : bound(inner, second, value), new Set([`${range}[${key}]`]));
      return;
    }
    const element: Local = { is: 'element', key, place };
    const inner =
      second === undefined ? bound(scope, first, element) : bound(hidden(scope, expr), second, element);
    const selected = filters.map((all) =>
      union(
        ...all.map((one) => this.#guards.of(one.body, true, bound(one.scope, one.variable, element), true)),
      ),
    );
    within(
      inner,
      union(intersection(selected), range === undefined ? NO_FACTS : ofElement(facts, range, key)),
    );
  }
}

/** Facts that come and go; how often each is known. */
class Tally {
  /** As they are now: they change with the tally. */
  readonly facts = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(facts: Facts) {
    this.add(facts);
  }

  add(facts: Facts): void {
    for (const key of facts) {
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      this.facts.add(key);
    }
  }

  remove(facts: Facts): void {
    for (const key of facts) {
      const count = (this.#counts.get(key) ?? 0) - 1;
      if (count > 0) this.#counts.set(key, count);
      else {
        this.#counts.delete(key);
        this.facts.delete(key);
      }
    }
  }
}

function bound(scope: Scope, name: string, local: Local): Scope {
  return new Map([...scope, [name, local]]);
}

/** Variables that stand for what nothing is known of, and hide those of the same name outside. */
function hidden(scope: Scope, { variables }: MacroNode): Scope {
  const nothing: Local = { is: 'element', key: `?${variables.join()}`, place: NOWHERE };
  return new Map([...scope, ...variables.map((name) => [name, nothing] as const)]);
}

/** Whether a chain is optional from some step on: what is selected from it is, too. */
function isOptional(expr: Expr): boolean {
  for (let node = expr; ;) {
    if (node.kind === 'select') {
      if (node.optional) return true;
      node = node.operand;
    } else if (node.kind === 'call' && node.function === '_[?_]') return true;
    else if (node.kind === 'call' && node.function === '_[_]' && node.args[0] !== undefined)
      node = node.args[0];
    else return false;
  }
}
