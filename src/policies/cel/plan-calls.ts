/** Calls of functions: which overload runs, what is evaluated after an error, what it costs (cel-go planner.go). */
import type { DeclaredFunction, DeclaredOverload } from './environment.ts';
import type { FunctionDefinition } from './library.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import type { Plan, Run } from './plan.ts';
import { type Guard, guardOf } from './type-guard.ts';
import { typeNameOf } from './type-name.ts';
import { CelError, Duration, Timestamp, type Value } from './values.ts';

export interface Call {
  /** With the overloads that the environment has. */
  readonly declared: DeclaredFunction;
  /** The overload that the checker resolved, if it is one. */
  readonly overloadId: string | undefined;
  /** The receiver first. */
  readonly args: readonly Plan[];
}

type Implementation = (...args: readonly Value[]) => Value;

interface Binding {
  readonly run: Implementation;
  /** What follows an argument that is an error is not evaluated, and the call is free then. */
  readonly sequential: boolean;
}

/** Whether a type has methods in cel-go: an operator or function that it lacks is looked for among these. */
function hasMethods(value: Value): boolean {
  return typeof value === 'string' || value instanceof Timestamp || value instanceof Duration;
}

/** The error of a function that wants another type of its first argument, where any overload might be called. */
export function noSuchOverload(name: string, first: Value): CelError {
  return hasMethods(first) ? NO_SUCH_OVERLOAD : new CelError(`no such overload: ${name}`);
}

/** The error of a function that none of its overloads fits. */
function noneFits(name: string, args: readonly Value[]): CelError {
  for (const arg of args) if (arg instanceof CelError) return arg;
  return new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}

/** @returns the error of a constant that a function cannot work with: the program is refused. */
export function callPlan(call: Call): Plan | CelError {
  const binding = bind(call);
  if (binding instanceof CelError) return binding;
  const runs = call.args.map((plan) => plan.run);
  return { run: callRun(binding, runs, costOf(call), effortOf(call)) };
}

type CostOf = (args: readonly Value[], result: Value) => number;

/** Of a call that costs 1. */
function unitCost(): number {
  return 1;
}

function costOf({ declared, overloadId }: Call): CostOf {
  const [first, ...others] = definitionsOf(declared).flatMap(({ cost }) =>
    cost === undefined ? [] : [cost],
  );
  if (first === undefined) return unitCost;
  return (args, result) => {
    const facts = { args, result, overloadId };
    let known = first(facts);
    for (const cost of others) known ??= cost(facts);
    return known ?? 1;
  };
}

type EffortOf = NonNullable<FunctionDefinition['effort']>;

function effortOf({ declared }: Call): EffortOf | undefined {
  return definitionsOf(declared).find(({ effort }) => effort !== undefined)?.effort;
}

/** Each once: a name may be declared by several libraries. */
function definitionsOf({ overloads }: DeclaredFunction): readonly FunctionDefinition[] {
  return [...new Set(overloads.map(({ definition }) => definition))];
}

function callRun(binding: Binding, runs: readonly Run[], cost: CostOf, extra: EffortOf | undefined): Run {
  const { run, sequential } = binding;
  const [first, second] = runs;
  if (runs.length === 1 && first !== undefined) return unaryRun(run, first, cost, extra);
  if (runs.length === 2 && first !== undefined && second !== undefined) {
    return binaryRun(binding, first, second, cost, extra);
  }
  return (frame) => {
    const args: Value[] = [];
    let error: CelError | undefined;
    for (const argument of runs) {
      const value = argument(frame);
      args.push(value);
      if (error !== undefined || !(value instanceof CelError)) continue;
      error = value;
      // cel-go does not find the arguments that are missing now, so the call itself costs nothing.
      if (sequential && args.length < runs.length) return error;
    }
    const result = error ?? run(...args);
    frame.charge(cost(args, result));
    for (const arg of args) frame.effort.pass(arg);
    frame.effort.pass(result);
    if (extra !== undefined && error === undefined) frame.effort.spend(extra(args, result));
    return result;
  };
}

function unaryRun(run: Implementation, argument: Run, cost: CostOf, extra: EffortOf | undefined): Run {
  return (frame) => {
    const value = argument(frame);
    if (value instanceof CelError) {
      frame.charge(cost([value], value));
      return value;
    }
    const result = run(value);
    frame.charge(cost === unitCost ? 1 : cost([value], result));
    frame.effort.pass(value);
    frame.effort.pass(result);
    if (extra !== undefined) frame.effort.spend(extra([value], result));
    return result;
  };
}

function binaryRun(
  { run, sequential }: Binding,
  left: Run,
  right: Run,
  cost: CostOf,
  extra: EffortOf | undefined,
): Run {
  return (frame) => {
    const a = left(frame);
    if (sequential && a instanceof CelError) return a;
    const b = right(frame);
    const error = a instanceof CelError ? a : b instanceof CelError ? b : undefined;
    const result = error ?? run(a, b);
    frame.charge(cost === unitCost ? 1 : cost([a, b], result));
    frame.effort.pass(a);
    frame.effort.pass(b);
    frame.effort.pass(result);
    if (extra !== undefined && error === undefined) frame.effort.spend(extra([a, b], result));
    return result;
  };
}

function bind(call: Call): Binding | CelError {
  const constant = constantRegex(call);
  if (constant !== undefined) return constant;
  const { declared, overloadId } = call;
  const { name, overloads } = declared;
  const [first] = overloads;
  const arity = call.args.length;
  const singleton = first?.definition.singleton;
  if (first !== undefined && singleton !== undefined) {
    const { impl } = first.overload;
    return {
      run: (...args) => {
        const receiver = args[0] ?? null;
        return singleton(receiver) ? impl(...args) : noSuchOverload(name, receiver);
      },
      sequential: arity === 0 || arity > 2,
    };
  }
  const resolved =
    overloads.find(({ overload }) => overload.id === overloadId) ??
    (overloads.length === 1 ? first : undefined);
  if (resolved === undefined) return { run: dispatch(name, overloads), sequential: true };
  return {
    run: guarded(name, resolved),
    sequential: resolved.overload.variadic === true || arity === 0 || arity > 2,
  };
}

function constantRegex({ declared, args }: Call): Binding | CelError | undefined {
  const regex = declared.overloads[0]?.definition.constantRegex;
  const pattern = regex === undefined ? undefined : args[regex.index]?.constant;
  if (regex === undefined || typeof pattern !== 'string') return undefined;
  const bound = regex.bind(pattern);
  return bound instanceof CelError ? bound : { run: bound, sequential: true };
}

function guardsOf({ overload, definition }: DeclaredOverload): readonly Guard[] {
  return overload.params.map((type) => (definition.unguarded === true ? () => true : guardOf(type)));
}

/** One overload, with a look at the arguments, which may have been dyn. */
function guarded(name: string, declared: DeclaredOverload): Implementation {
  const { impl } = declared.overload;
  if (declared.definition.unguarded === true) return impl;
  const guards = guardsOf(declared);
  const [first, second] = guards;
  if (guards.length === 1 && first !== undefined) {
    return (value = null) => (first(value) ? impl(value) : noneFits(name, [value]));
  }
  if (guards.length === 2 && first !== undefined && second !== undefined) {
    return (left = null, right = null) =>
      first(left) && second(right) ? impl(left, right) : noneFits(name, [left, right]);
  }
  return (...args) => (fits(guards, args) ? impl(...args) : noneFits(name, args));
}

/** The first overload that fits, in the order of their declaration. */
function dispatch(name: string, overloads: readonly DeclaredOverload[]): Implementation {
  const candidates = overloads.map((declared) => ({
    guards: guardsOf(declared),
    impl: declared.overload.impl,
  }));
  return (...args) => {
    for (const { guards, impl } of candidates) if (fits(guards, args)) return impl(...args);
    return noneFits(name, args);
  };
}

function fits(guards: readonly Guard[], args: readonly Value[]): boolean {
  return args.length === guards.length && guards.every((guard, index) => guard(args[index] as Value));
}
