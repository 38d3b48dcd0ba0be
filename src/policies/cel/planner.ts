/** Makes closures of a checked expression (cel-go interpreter/planner.go), with constants folded as cel-go folds them. */
import type { CallNode, Expr, MacroNode, SelectNode } from './ast.ts';
import type { CelType } from './cel-type.ts';
import type { Checked, Reference } from './checker.ts';
import type { DeclaredFunction, Environment } from './environment.ts';
import { type Plan, PlanFailure, type Run, constantPlan } from './plan.ts';
import { asAttribute, attributeOf, attributePlan, testPlan } from './plan-attributes.ts';
import { folded, operatorPlan, ternary } from './plan-builtins.ts';
import { callPlan } from './plan-calls.ts';
import { listLiteralPlan, literalValue, mapLiteralPlan } from './plan-literals.ts';
import {
  type Loop,
  existsOnePlan,
  lazyVariable,
  listPlan,
  mapEntryPlan,
  mapPlan,
  quantifierPlan,
} from './plan-macros.ts';
import { constantValue, slotRun, variableRun } from './plan-names.ts';
import { structPlan } from './plan-structs.ts';
import { CelError, Optional, type Value } from './values.ts';

const NONE: Plan = {
  run: (frame) => {
    frame.step(1);
    return new Optional(undefined);
  },
};

/** @throws PlanFailure */
export function planExpression(checked: Checked, environment: Environment): Run {
  return new Planner(checked, environment).plan(checked.ast.expr).run;
}

class Planner {
  readonly #checked: Checked;
  readonly #functions: Environment['functions'];
  readonly #constants: Environment['constants'];
  /** Where the variables of the macros around are read from. */
  readonly #locals = new Map<string, Run>();
  #slots = 0;

  constructor(checked: Checked, environment: Environment) {
    this.#checked = checked;
    this.#functions = environment.functions;
    this.#constants = environment.constants;
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case 'literal':
        return constantPlan(literalValue(expr.literal));
      case 'ident':
        return this.#name(expr.name, this.#checked.references.get(expr.id), expr.id);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return listLiteralPlan(
          expr.elements.map(({ value, optional }) => ({ plan: this.plan(value), optional })),
        );
      case 'map':
        return mapLiteralPlan(
          expr.entries.map(({ key, value, optional }) => ({
            key: this.plan(key),
            value: this.plan(value),
            optional,
          })),
        );
      case 'struct':
        return structPlan(
          withoutDot(expr.typeName),
          expr.fields.map(({ name, value, optional }) => ({ name, value: this.plan(value), optional })),
        );
      case 'macro':
        return this.#macro(expr);
    }
  }

  #name(written: string, reference: Reference | undefined, id: number): Plan {
    if (reference?.kind === 'constant')
      return constantPlan(constantValue(reference.name, reference.constant));
    const name = withoutDot(written);
    if (this.#checked.types.get(id)?.kind === 'type') return this.#typeNamed(name);
    const local = this.#locals.get(name);
    if (local !== undefined) return attributePlan(attributeOf(local, 1, false));
    // The variables of a policy are programs, whose values are cel-go's own.
    return attributePlan(attributeOf(variableRun(name), 1, name !== 'variables'));
  }

  /** cel-go takes a variable of a macro whose type is that of types for the name of a type. */
  #typeNamed(name: string): Plan {
    const constant = this.#constants.get(name);
    if (constant === undefined) throw new PlanFailure('program', `reference to undefined type: ${name}`);
    return constantPlan(constantValue(name, constant));
  }

  #select(expr: SelectNode): Plan {
    const reference = this.#checked.references.get(expr.id);
    if (reference?.kind === 'constant' || reference?.kind === 'variable') {
      return this.#name(reference.name, reference, expr.id);
    }
    const qualifier = { optional: expr.optional, test: expr.test, key: { constant: expr.field } };
    const attribute = asAttribute(this.plan(expr.operand)).with(qualifier);
    return expr.test ? testPlan(attribute) : attributePlan(attribute);
  }

  #call(expr: CallNode): Plan {
    const reference = this.#checked.references.get(expr.id);
    const declared = reference?.kind === 'function' ? reference : undefined;
    const qualified = declared?.qualified === true || expr.target === undefined;
    const operands = qualified || expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const args = operands.map((arg) => this.plan(arg));
    const overloads = declared?.overloads ?? [];
    const overloadId = overloads.length === 1 ? overloads[0]?.overload.id : undefined;
    const name = declared?.function.name ?? withoutDot(expr.function);
    return (
      operatorPlan(name, args, overloadId) ??
      folded(name, args, this.#libraryCall(name, declared?.function, overloadId, args))
    );
  }

  #libraryCall(
    name: string,
    known: DeclaredFunction | undefined,
    overloadId: string | undefined,
    args: readonly Plan[],
  ): Plan {
    const declared = known ?? this.#functions.get(name);
    if (declared === undefined) throw new PlanFailure('program', `no such overload: ${name}`);
    const plan = callPlan({ declared, overloadId, args });
    if (plan instanceof CelError) throw new PlanFailure('program', plan.message);
    return plan;
  }

  #macro(expr: MacroNode): Plan {
    switch (expr.macro) {
      case 'optMap':
      case 'optFlatMap':
        return this.#optionalMacro(expr);
      case 'sortBy':
        return this.#sortBy(expr);
      default:
        return this.#loopMacro(expr, this.plan(expr.range).run);
    }
  }

  #loopMacro(expr: MacroNode, range: Run): Plan {
    const slots = expr.variables.map(() => this.#slots++);
    const [filter, body] = this.#within(
      expr.variables.map((name, index) => [name, slotRun(slots[index] ?? 0)]),
      () => [expr.filter === undefined ? undefined : this.plan(expr.filter), this.plan(expr.body)],
    );
    if (body === undefined) throw new PlanFailure('program', 'macro without a body');
    const loop: Loop = { range, slots, filter: filter?.run, body };
    switch (expr.macro) {
      case 'all':
      case 'exists':
        return quantifierPlan(loop, expr.macro);
      case 'exists_one':
      case 'existsOne':
        return existsOnePlan(loop);
      case 'filter': {
        const [slot = 0] = slots;
        const type = this.#checked.types.get(expr.range.id);
        const isOfTypes = type?.kind === 'list' && type.element.kind === 'type';
        // What stays is the variable itself, read again.
        const element = isOfTypes
          ? this.#typeNamed(expr.variables[0] ?? '')
          : attributePlan(attributeOf(slotRun(slot), 1, false));
        return listPlan({ range, slots, filter: body.run, body: element });
      }
      case 'transformMap':
        return mapPlan(loop);
      case 'transformMapEntry':
        return mapEntryPlan(loop);
      default:
        return listPlan(loop);
    }
  }

  /** Plans with these variables in scope. */
  #within<T>(variables: readonly (readonly [name: string, run: Run])[], plan: () => T): T {
    const outside = variables.map(([name]) => this.#locals.get(name));
    for (const [name, run] of variables) this.#locals.set(name, run);
    const result = plan();
    variables.forEach(([name], index) => {
      const hidden = outside[index];
      if (hidden === undefined) this.#locals.delete(name);
      else this.#locals.set(name, hidden);
    });
    return result;
  }

  /** `target.hasValue() ? optional.of(body) : optional.none()`, where the body's variable is `target.value()`. */
  #optionalMacro(expr: MacroNode): Plan {
    const slot = this.#slots++;
    const target = this.plan(expr.range);
    const type = this.#checked.types.get(expr.range.id);
    // cel-go has the variable once more than is written.
    if (type?.kind === 'optional' && type.value.kind === 'type') this.#typeNamed(expr.variables[0] ?? '');
    const condition = this.#libraryCall('hasValue', undefined, 'optional_hasValue', [target]);
    const value = this.#libraryCall('value', undefined, 'optional_value', [target]);
    const variable = lazyVariable(slot, value.run);
    const body = this.#within([[expr.variables[0] ?? '', variable]], () => this.plan(expr.body));
    const bound: Plan = {
      run: (frame) => {
        frame.locals[slot] = undefined;
        const result = body.run(frame);
        // What the variable was added to is a list as any other from here on.
        return frame.mutable?.has(result) === true ? [...(result as readonly Value[])] : result;
      },
    };
    const some =
      expr.macro === 'optMap' ? this.#libraryCall('optional.of', undefined, 'optional_of', [bound]) : bound;
    return ternary(condition, some, NONE);
  }

  /** `list.@sortByAssociatedKeys(list.map(v, key))`, where the list is evaluated once. */
  #sortBy(expr: MacroNode): Plan {
    const slot = this.#slots++;
    const list = attributePlan(attributeOf(lazyVariable(slot, this.plan(expr.range).run), 1, false));
    const keys = this.#loopMacro({ ...expr, macro: 'map' }, list.run);
    const name = '@sortByAssociatedKeys';
    const overloadId = this.#sortOverload(name, this.#checked.types.get(expr.body.id));
    const sorted = this.#libraryCall(name, undefined, overloadId, [list, keys]);
    return {
      run: (frame) => {
        frame.locals[slot] = undefined;
        return sorted.run(frame);
      },
    };
  }

  /** The overload for keys of a type; undefined where that is known at run time only. */
  #sortOverload(name: string, key: CelType | undefined): string | undefined {
    const fitting = this.#functions.get(name)?.overloads.filter(({ overload }) => {
      const keys = overload.params[1];
      return keys?.kind === 'list' && keys.element.kind === key?.kind;
    });
    return fitting?.length === 1 ? fitting[0]?.overload.id : undefined;
  }
}

function withoutDot(name: string): string {
  return name.startsWith('.') ? name.slice(1) : name;
}
