/**
 * Expressions that the specification evaluates without a check of their types: names are found by what the environment
 * declares, and every call is resolved when it runs. The API server never does that, so the engine has no door to it.
 */
import type { Ast, CallNode, Expr } from '../../src/policies/cel/ast.ts';
import { DYN } from '../../src/policies/cel/cel-type.ts';
import type { Checked, Reference } from '../../src/policies/cel/checker.ts';
import type { DeclaredFunction, Environment } from '../../src/policies/cel/environment.ts';
import { PlanFailure } from '../../src/policies/cel/plan.ts';

/**
 * @returns what the planner takes for a checked expression, all of it dyn.
 * @throws PlanFailure where cel-go cannot plan it either (interpreter/planner.go): a type that is not known, or a
 * function whose only overload takes another number of arguments.
 */
export function unchecked(ast: Ast, environment: Environment): Checked {
  const references = new Map<number, Reference>();
  new Resolver(environment, references).visit(ast.expr, new Set());
  return { ast, type: DYN, types: new Map(), references };
}

class Resolver {
  readonly #environment: Environment;
  readonly #references: Map<number, Reference>;

  constructor(environment: Environment, references: Map<number, Reference>) {
    this.#environment = environment;
    this.#references = references;
  }

  /** @param locals variables of the macros around */
  visit(expr: Expr, locals: ReadonlySet<string>): void {
    switch (expr.kind) {
      case 'literal':
        return;
      case 'ident':
        if (!locals.has(expr.name)) this.#name(expr.id, expr.name);
        return;
      case 'select': {
        const path = pathOf(expr, locals);
        if (path === undefined || !this.#name(expr.id, path)) this.visit(expr.operand, locals);
        return;
      }
      case 'call':
        this.#call(expr, locals);
        return;
      case 'list':
        for (const { value } of expr.elements) this.visit(value, locals);
        return;
      case 'map':
        for (const { key, value } of expr.entries) {
          this.visit(key, locals);
          this.visit(value, locals);
        }
        return;
      case 'struct':
        if (!this.#environment.messages.has(expr.typeName.replace(/^\./, ''))) {
          throw new PlanFailure('program', `unknown type: ${expr.typeName}`);
        }
        for (const { value } of expr.fields) this.visit(value, locals);
        return;
      case 'macro': {
        this.visit(expr.range, locals);
        const within = new Set([...locals, ...expr.variables]);
        if (expr.filter !== undefined) this.visit(expr.filter, within);
        this.visit(expr.body, within);
      }
    }
  }

  #name(id: number, written: string): boolean {
    const name = written.replace(/^\./, '');
    const constant = this.#environment.constants.get(name);
    if (this.#environment.variables.has(name)) this.#references.set(id, { kind: 'variable', name });
    else if (constant !== undefined) this.#references.set(id, { kind: 'constant', name, constant });
    else return false;
    return true;
  }

  #call(expr: CallNode, locals: ReadonlySet<string>): void {
    const path = expr.target === undefined ? undefined : pathOf(expr.target, locals);
    const qualified = path === undefined ? undefined : this.#function(`${path}.${expr.function}`);
    for (const arg of expr.args) this.visit(arg, locals);
    if (expr.target !== undefined && qualified === undefined) this.visit(expr.target, locals);
    const found = qualified ?? this.#function(expr.function) ?? { name: expr.function, overloads: [] };
    const count = expr.args.length + (expr.target === undefined || qualified !== undefined ? 0 : 1);
    const [only, another] = found.overloads;
    const wrongCount = another === undefined && only !== undefined && only.overload.params.length !== count;
    if (wrongCount && (count === 1 || count === 2)) {
      throw new PlanFailure('program', `no such overload: ${found.name}`);
    }
    this.#references.set(expr.id, {
      kind: 'function',
      function: found,
      qualified: qualified !== undefined,
      overloads: found.overloads,
    });
  }

  #function(name: string): DeclaredFunction | undefined {
    return this.#environment.functions.get(name.replace(/^\./, ''));
  }
}

/** `a.b.c` of selections from a name; undefined for anything else. */
function pathOf(expr: Expr, locals: ReadonlySet<string>): string | undefined {
  if (expr.kind === 'ident') return locals.has(expr.name) ? undefined : expr.name;
  if (expr.kind !== 'select' || expr.test || expr.optional) return undefined;
  const path = pathOf(expr.operand, locals);
  return path === undefined ? undefined : `${path}.${expr.field}`;
}
