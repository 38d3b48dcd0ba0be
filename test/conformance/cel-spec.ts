/**
 * The tests of the CEL specification, as the package @bufbuild/cel-spec has them: each does what
 * test/golden/cel/conformance-expectations.json says that it does in Kubernetes (its README has the words).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { CelType } from '../../src/policies/cel/cel-type.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import type { DeclaredFunction, Environment } from '../../src/policies/cel/environment.ts';
import { parse } from '../../src/policies/cel/parser.ts';
import { PlanFailure } from '../../src/policies/cel/plan.ts';
import { planExpression } from '../../src/policies/cel/planner.ts';
import { Program } from '../../src/policies/cel/program.ts';
import { typeString } from '../../src/policies/cel/type-format.ts';
import { CelError, type Value } from '../../src/policies/cel/values.ts';
import { unchecked } from './cel-spec-unchecked.ts';
import { specType, specValue, type Json } from './cel-spec-values.ts';
import type { Failure, FamilyResult, Suite, SuiteOptions } from './suite.ts';
import { typedText } from './typed-values.ts';

const PACKAGE = '@bufbuild/cel-spec';
const EXPECTATIONS_FILE = 'test/golden/cel/conformance-expectations.json';
const FAMILY = 'cel-spec';

/** Of a message `SimpleTest`, in its JSON form. */
export interface SpecTest {
  readonly name: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: Json };
    readonly function?: { readonly overloads: readonly SpecOverload[] };
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value?: Json }>>;
  readonly value?: Json;
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
  readonly evalError?: Json;
  readonly anyEvalErrors?: Json;
  readonly unknown?: Json;
  readonly anyUnknowns?: Json;
}

interface SpecOverload {
  readonly overloadId: string;
  readonly params: readonly Json[];
  readonly resultType: Json;
  readonly isInstanceFunction?: boolean;
}

export type Expectation = 'pass' | 'refused-as-error' | 'not-in-environment' | 'differs';

/** What became of a test here. */
type Outcome =
  | { readonly came: 'refused'; readonly why: string }
  /** It needs values that the environment has none of. */
  | { readonly came: 'foreign'; readonly why: string }
  | { readonly came: 'checked'; readonly type: CelType }
  | { readonly came: 'value'; readonly type: CelType; readonly value: Value }
  | { readonly came: 'error'; readonly why: string };

export const celSpecSuite: Suite = {
  name: FAMILY,

  async recognises(directory: string): Promise<boolean> {
    const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '{}');
    return (JSON.parse(text) as { name?: string }).name === PACKAGE;
  },

  async *run(_directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    if (only !== undefined && only !== FAMILY) return;
    const expectations = JSON.parse(await readFile(EXPECTATIONS_FILE, 'utf8')) as Record<string, Expectation>;
    const tests = await specTests();
    const runner = new SpecRunner();
    const failures: Failure[] = [];
    for (const [id, expected] of Object.entries(expectations)) {
      const found = tests.get(id) ?? [];
      if (found.length === 0) failures.push({ id, detail: 'the package has no such test' });
      for (const test of found) {
        const problem = runner.problem(test, expected);
        if (problem !== undefined) failures.push({ id, detail: `${test.expr}\n${expected}, but ${problem}` });
      }
    }
    for (const id of tests.keys()) {
      if (!Object.hasOwn(expectations, id)) failures.push({ id, detail: 'nothing is expected of it' });
    }
    const ids = Object.keys(expectations);
    yield { family: FAMILY, total: ids.length, failures, ids };
  },
};

/** By `suite/section/test`; a few tests of one section have the same name. */
async function specTests(): Promise<ReadonlyMap<string, readonly SpecTest[]>> {
  const { tests: root } = await import('@bufbuild/cel-spec/testdata/conformance.js');
  const found = new Map<string, SpecTest[]>();
  for (const suite of root.suites ?? []) {
    for (const section of suite.suites ?? []) {
      for (const { original } of section.tests ?? []) {
        const test = original as unknown as SpecTest;
        const id = `${suite.name}/${section.name}/${test.name}`;
        const same = found.get(id);
        if (same === undefined) found.set(id, [test]);
        else same.push(test);
      }
    }
  }
  return found;
}

export class SpecRunner {
  readonly #cel = new Cel();

  /** @returns why the test does something else than is expected. */
  problem(test: SpecTest, expected: Expectation): string | undefined {
    const outcome = this.#outcome(test);
    const asSpecified = isAsSpecified(test, outcome);
    const said = describe(outcome);
    switch (expected) {
      case 'pass':
        return asSpecified ? undefined : said;
      case 'differs':
        return outcome.came === 'refused' || outcome.came === 'foreign' || asSpecified ? said : undefined;
      case 'refused-as-error':
        return wantsError(test) && outcome.came === 'refused' ? undefined : said;
      case 'not-in-environment':
        return isOutside(test, outcome) ? undefined : said;
    }
  }

  #outcome(test: SpecTest): Outcome {
    if (test.unknown !== undefined || test.anyUnknowns !== undefined) {
      return { came: 'foreign', why: 'it needs unknowns' };
    }
    const environment = this.#environment(test);
    const source = writtenOut(test, environment);
    if (test.checkOnly === true) {
      const checked = this.#cel.check(source, environment);
      return checked.ok ? { came: 'checked', type: checked.type } : { came: 'refused', why: checked.error };
    }
    const program =
      test.disableCheck === true
        ? uncheckedProgram(source, environment)
        : this.#cel.compile(source, environment);
    if (!program.ok) return { came: 'refused', why: program.error };
    const others = new Map<string, Value>();
    for (const [name, { value: written = null }] of Object.entries(test.bindings ?? {})) {
      const value = specValue(written);
      if (value === undefined) return { came: 'foreign', why: `${name} is no value here` };
      others.set(name, value);
    }
    const { value } = program.run({ others });
    return value instanceof CelError
      ? { came: 'error', why: value.message }
      : { came: 'value', type: program.type, value };
  }

  #environment(test: SpecTest): Environment {
    const variables = new Map<string, CelType>();
    const functions = new Map<string, DeclaredFunction>();
    for (const { name, ident, function: declared } of test.typeEnv ?? []) {
      if (ident !== undefined) variables.set(name, specType(ident.type));
      if (declared !== undefined) functions.set(name, specFunction(name, declared.overloads));
    }
    const known = this.#cel.environment({
      minor: 36,
      mode: 'stored',
      params: false,
      authorizer: false,
      variables,
    });
    return { ...known, functions: new Map([...known.functions, ...functions]) };
  }
}

/** A declared function: only tests of types have any, so it is never called. */
function specFunction(name: string, overloads: readonly SpecOverload[]): DeclaredFunction {
  const made = overloads.map(({ overloadId, params, resultType, isInstanceFunction = false }) => ({
    id: overloadId,
    member: isInstanceFunction,
    params: params.map(specType),
    result: specType(resultType),
    impl: (): Value => new CelError(`${name} has no implementation`),
  }));
  const definition = { name, overloads: made };
  return {
    name,
    overloads: made.map((overload) => ({ overload, definition, generic: true, crossType: false, since: 0 })),
  };
}

/** The API server's environments have no container: names are written in full. */
function writtenOut({ expr, container }: SpecTest, { variables, constants, messages }: Environment): string {
  if (container === undefined) return expr;
  return expr.replaceAll(/(?<![\w.'"])[A-Za-z]\w*(?:\.\w+)*/g, (written) => {
    const full = `${container}.${written}`;
    const isKnown = variables.has(full) || constants.has(full) || messages.has(full);
    return isKnown ? full : written;
  });
}

function uncheckedProgram(
  source: string,
  environment: Environment,
): Program | { readonly ok: false; readonly error: string } {
  const parsed = parse(source, environment.syntax);
  if ('errors' in parsed) return { ok: false, error: 'it does not parse' };
  try {
    const resolved = unchecked(parsed.ast, environment);
    return new Program(source, resolved.type, planExpression(resolved, environment));
  } catch (thrown) {
    if (thrown instanceof PlanFailure) return { ok: false, error: thrown.message };
    throw thrown;
  }
}

function wantsError({ evalError, anyEvalErrors }: SpecTest): boolean {
  return evalError !== undefined || anyEvalErrors !== undefined;
}

/** It does not compile, is about values that are none here, or fails to make one. */
function isOutside({ value }: SpecTest, { came }: Outcome): boolean {
  const makesForeign = value !== undefined && specValue(value) === undefined;
  return came === 'refused' || came === 'foreign' || (came === 'error' && makesForeign);
}

function isAsSpecified(test: SpecTest, outcome: Outcome): boolean {
  if (wantsError(test)) return outcome.came === 'error';
  if (outcome.came !== 'value' && outcome.came !== 'checked') return false;
  const { typedResult } = test;
  if (typedResult?.deducedType !== undefined) {
    if (typeString(outcome.type) !== typeString(specType(typedResult.deducedType))) return false;
  }
  if (outcome.came === 'checked') return typedResult?.deducedType !== undefined;
  // What is not said is true (simple.proto).
  const wanted = specValue(test.value ?? typedResult?.result ?? { boolValue: true });
  return wanted !== undefined && typedText(wanted) === typedText(outcome.value);
}

function describe(outcome: Outcome): string {
  switch (outcome.came) {
    case 'checked':
      return `it is of type ${typeString(outcome.type)}`;
    case 'value':
      return `it is ${typedText(outcome.value)} of type ${typeString(outcome.type)}`;
    case 'error':
      return `it is the error: ${outcome.why}`;
    case 'refused':
    case 'foreign':
      return `it is ${outcome.came}: ${outcome.why}`;
  }
}
