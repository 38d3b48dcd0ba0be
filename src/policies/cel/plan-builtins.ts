/** Functions that are more than a call of an implementation: operators, and conversions of constants. */
import type { ArithmeticOperator } from './arithmetic.ts';
import { Frame } from './frame.ts';
import type { Relation } from './libraries/standard-operators.ts';
import { type Attribute, type Plan, PlanFailure, type Qualifier, constantPlan } from './plan.ts';
import { asAttribute, attributePlan, checkKey, conditionalAttribute, keyRun } from './plan-attributes.ts';
import {
  andPlan,
  constantMembershipPlan,
  equalityPlan,
  inequalityPlan,
  membershipPlan,
  orPlan,
} from './plan-logic.ts';
import {
  arithmeticPlan,
  negationPlan,
  notPlan,
  orOptionalPlan,
  orValuePlan,
  relationPlan,
  sizePlan,
} from './plan-operators.ts';
import { CelError, type Value } from './values.ts';

/** Calls that are made when the program is built, if their one argument is a constant (cel-go decorators.go). */
const CONVERSIONS: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

/** @returns undefined where a function is an ordinary one. */
export function operatorPlan(
  name: string,
  args: readonly Plan[],
  overloadId: string | undefined,
): Plan | undefined {
  const [first, second, third] = args;
  if (first === undefined) return undefined;
  if (second === undefined) return unary(name, first);
  if (third === undefined) return binary(name, first, second, overloadId);
  return name === '_?_:_' ? ternary(first, second, third) : undefined;
}

export function ternary(condition: Plan, whenTrue: Plan, whenFalse: Plan): Plan {
  return attributePlan(conditionalAttribute(condition.run, asAttribute(whenTrue), asAttribute(whenFalse)));
}

function unary(name: string, operand: Plan): Plan | undefined {
  switch (name) {
    case '!_':
      return notPlan(operand.run);
    case '-_':
      return negationPlan(operand.run);
    case 'size':
      return sizePlan(operand.run);
    default:
      return undefined;
  }
}

function binary(name: string, left: Plan, right: Plan, overloadId: string | undefined): Plan | undefined {
  switch (name) {
    case '_&&_':
      return andPlan(left.run, right.run);
    case '_||_':
      return orPlan(left.run, right.run);
    case '_==_':
      return equalityPlan(left.run, right.run);
    case '_!=_':
      return inequalityPlan(left.run, right.run);
    case '_[_]':
      return attributePlan(indexed(asAttribute(left), right, false));
    case '_[?_]':
      return attributePlan(indexed(asAttribute(left), right, true));
    case '@in':
      return membership(left, right, overloadId);
    case '_+_':
    case '_-_':
    case '_*_':
    case '_/_':
    case '_%_':
      return arithmeticPlan(name satisfies ArithmeticOperator, left.run, right.run, overloadId);
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      return relationPlan(name satisfies Relation, left.run, right.run, overloadId);
    case 'or':
      return orOptionalPlan(left.run, right.run);
    case 'orValue':
      return orValuePlan(left.run, right.run);
    default:
      return undefined;
  }
}

function indexed(operand: Attribute, index: Plan, optional: boolean): Attribute {
  let key: Qualifier['key'];
  if (index.constant !== undefined) {
    const constant = checkKey(index.constant, false);
    if (constant instanceof CelError) throw new PlanFailure('program', constant.message);
    key = { constant };
  } else {
    key = { run: index.attribute?.key ?? keyRun(index.run, false) };
  }
  return operand.with({ optional, test: false, key });
}

function membership(item: Plan, container: Plan, overloadId: string | undefined): Plan {
  const inList = overloadId === 'in_list';
  if (inList && Array.isArray(container.constant)) {
    const plan = constantMembershipPlan(item.run, container.constant as readonly Value[]);
    if (plan !== undefined) return plan;
  }
  return membershipPlan(item.run, container.run, inList);
}

/** The result of a conversion of a constant instead of the call. */
export function folded(name: string, args: readonly Plan[], call: Plan): Plan {
  const [arg] = args;
  if (args.length !== 1 || arg?.constant === undefined || !CONVERSIONS.has(name)) return call;
  const value = call.run(new Frame({}, Number.POSITIVE_INFINITY));
  if (value instanceof CelError) throw new PlanFailure('program', value.message);
  return constantPlan(value);
}
