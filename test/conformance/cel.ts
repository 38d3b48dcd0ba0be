/** Runs the vectors of test/golden/cel, or of another folder in its format. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from '../../src/json.ts';
import type { Activation } from '../../src/policies/cel/activation.ts';
import { type CelType, DYN } from '../../src/policies/cel/cel-type.ts';
import { Cel, withVariables } from '../../src/policies/cel/cel.ts';
import type { Environment, EnvironmentOptions } from '../../src/policies/cel/environment.ts';
import { bindAuthorizer } from '../../src/policies/cel/libraries/authorizer.ts';
import { Budget, type Program } from '../../src/policies/cel/program.ts';
import type { AuthorizerBinding } from '../../src/policies/cel/signals.ts';
import { typeString } from '../../src/policies/cel/type-format.ts';
import type { Value } from '../../src/policies/cel/values.ts';
import { differences, type Answer } from './cel-differences.ts';
import { readVectors, sourceOf, type Vector } from './cel-vector.ts';
import { type ScriptedAuthorizer, scriptedAuthorizer } from './scripted-authorizer.ts';
import type { FamilyResult, Failure, Suite, SuiteOptions } from './suite.ts';
import { typedText } from './typed-values.ts';

/** Budget of one phase of a policy (vap.md B01). */
const PHASE_BUDGET = 10_000_000;
const INPUTS_FILE = 'inputs.json';
const RETURN_TYPES: Readonly<Record<string, CelType>> = {
  bool: { kind: 'bool' },
  bytes: { kind: 'bytes' },
  double: { kind: 'double' },
  dyn: DYN,
  int: { kind: 'int' },
  null_type: { kind: 'null' },
  string: { kind: 'string' },
  uint: { kind: 'uint' },
};

interface Inputs {
  readonly inputs: Readonly<Record<string, Value>>;
  readonly authz: Readonly<Record<string, unknown>>;
}

export const celSuite: Suite = {
  name: 'cel',

  async recognises(directory: string): Promise<boolean> {
    const names = await readdir(directory).catch((): string[] => []);
    return names.includes(INPUTS_FILE) && names.some((name) => name.endsWith('.jsonl'));
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    const inputs = readJson(await readFile(join(directory, INPUTS_FILE)), { negativeZero: 'int' }) as Inputs;
    const runner = new Runner(inputs);
    for (const name of (await readdir(directory)).sort()) {
      const family = name.replace(/\.jsonl$/, '');
      if (family === name || (only !== undefined && only !== family)) continue;
      const vectors = readVectors(await readFile(join(directory, name)));
      const failures = vectors.flatMap((vector) => runner.failure(vector) ?? []);
      yield { family, total: vectors.length, failures, ids: vectors.map((vector) => vector.id) };
    }
  },
};

class Runner {
  readonly #inputs: Inputs;
  readonly #cel = new Cel();

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
  }

  failure(vector: Vector): Failure | undefined {
    const found = this.#differences(vector);
    if (found.length === 0) return undefined;
    const source = vector.expr ?? JSON.stringify(vector.exprGen);
    return { id: vector.id, detail: [source, ...found].join('\n') };
  }

  #differences(vector: Vector): readonly string[] {
    try {
      return differences(vector, this.#answer(vector));
    } catch (thrown) {
      return [`threw ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`];
    }
  }

  #answer(vector: Vector): Answer {
    const declares = vector.declares ?? ['params', 'authorizer'];
    const options: EnvironmentOptions = {
      minor: Number(vector.env.split('.')[1]),
      mode: vector.mode,
      params: declares.includes('params'),
      authorizer: declares.includes('authorizer'),
    };
    const source = sourceOf(vector);
    const variables =
      vector.variables === undefined ? undefined : this.#cel.compileVariables(vector.variables, options);
    const environment = variables?.environment ?? this.#cel.environment(options);
    const returns = vector.returns?.map((name) => RETURN_TYPES[name] ?? DYN);
    const program = this.#cel.compile(source, environment, returns === undefined ? {} : { returns });
    if (!program.ok) return { compile: program };
    const authorizer = scriptedAuthorizer(
      vector.authz === undefined ? undefined : this.#inputs.authz[vector.authz],
    );
    const bound = this.#activation(vector, authorizer);
    const activation = variables === undefined ? bound : withVariables(bound, variables.variables);
    return {
      compile: { ok: true, type: typeString(program.type) },
      ...outcome(program, activation),
      ...(vector.estimate === undefined ? {} : { estimate: this.#estimate(source, environment) }),
      authzCalls: authorizer.questions,
    };
  }

  #estimate(source: string, environment: Environment): { min: string; max: string } {
    const estimate = this.#cel.estimate(source, environment);
    if (!estimate.ok) throw new Error(estimate.error);
    return { min: String(estimate.min), max: String(estimate.max) };
  }

  #activation(vector: Vector, authorizer: ScriptedAuthorizer): Activation {
    const request = this.#input(vector, 'request', 'req-default');
    const binding = vector.unbound?.includes('authorizer') === true ? {} : bind(request, authorizer);
    return {
      object: this.#input(vector, 'object'),
      oldObject: this.#input(vector, 'oldObject'),
      params: this.#input(vector, 'params'),
      namespaceObject: this.#input(vector, 'namespaceObject'),
      request,
      ...binding,
    };
  }

  #input(vector: Vector, name: string, fallback?: string): Value {
    const input = vector.vars?.[name] ?? fallback;
    if (input === undefined) return null;
    return typeof input === 'string' ? (this.#inputs.inputs[input] ?? null) : (input.json as Value);
  }
}

function outcome(program: Program, activation: Activation): Pick<Answer, 'result' | 'cost'> {
  const evaluation = program.evaluate(activation, new Budget(PHASE_BUDGET));
  if ('fatal' in evaluation) return { result: { fatal: evaluation.fatal } };
  const { cost } = evaluation;
  return 'error' in evaluation
    ? { result: { error: evaluation.error }, cost }
    : { result: { value: typedText(evaluation.value) }, cost };
}

/** The parts of a request that the authorizer is asked about. */
interface Request {
  readonly userInfo?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly resource?: { readonly group?: string; readonly resource?: string };
  readonly subResource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export function bind(value: Value, { authorize }: ScriptedAuthorizer): AuthorizerBinding {
  const request = value as unknown as Request;
  const { username = '', uid = '', groups = [], extra = {} } = request.userInfo ?? {};
  return bindAuthorizer(
    { username, uid, groups, extra },
    {
      group: request.resource?.group ?? '',
      resource: request.resource?.resource ?? '',
      subresource: request.subResource ?? '',
      namespace: request.namespace ?? '',
      name: request.name ?? '',
    },
    authorize,
  );
}
