/** One case on both sides: our engine, and the API server's packages (test/bench/go). */
import { readFile } from 'node:fs/promises';
import { readJson } from '../../src/json.ts';
import { Cel, withVariables, type VariableSource } from '../../src/policies/cel/cel.ts';
import type { EnvironmentOptions } from '../../src/policies/cel/environment.ts';
import { Budget } from '../../src/policies/cel/program.ts';
import { typeString } from '../../src/policies/cel/type-format.ts';
import type { Value } from '../../src/policies/cel/values.ts';
import type { Peer } from '../bench/peer.ts';
import { bind } from '../conformance/cel.ts';
import { scriptedAuthorizer } from '../conformance/scripted-authorizer.ts';
import { typedText } from '../conformance/typed-values.ts';
import type { Inputs } from './inputs.ts';

export interface Case {
  readonly source: string;
  readonly minor: number;
  readonly mode: 'new' | 'stored';
  readonly variables: readonly VariableSource[];
  readonly inputs: Inputs;
}

export interface Answer {
  readonly compile:
    | { readonly ok: true; readonly type: string }
    | { readonly ok: false; readonly phase: string; readonly error: string };
  readonly outcome?: Outcome;
  /** Something in it is refused as an expression that the API server's code does not survive. */
  readonly panics: boolean;
}

/** With one of value (as typed JSON text), error, fatal. */
export interface Outcome {
  readonly value?: string;
  readonly error?: string;
  readonly fatal?: string;
  readonly cost?: number;
}

export interface PeerAnswer {
  readonly panic?: string;
  readonly compile?: { readonly ok: boolean; readonly type?: string; readonly error?: string };
  readonly outcomes?: readonly {
    readonly value?: unknown;
    readonly error?: string;
    readonly fatal?: string;
    readonly cost: number;
  }[];
}

/** Of a phase (vap.md B01). */
const BUDGET = 10_000_000;
const INPUTS_FILE = 'test/golden/cel/inputs.json';

/** What does not change from case to case: a request and a namespace of the recorded inputs. */
export interface Surroundings {
  readonly request: Value;
  readonly namespace: Value;
}

export async function readSurroundings(): Promise<Surroundings> {
  const { inputs } = JSON.parse(await readFile(INPUTS_FILE, 'utf8')) as { inputs: Record<string, Value> };
  return { request: inputs['req-default'] ?? null, namespace: inputs['ns-shop'] ?? null };
}

export class Ours {
  readonly #cel = new Cel();
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** @throws whatever the engine throws: it should not */
  answer(asked: Case): Answer {
    const options: EnvironmentOptions = {
      minor: asked.minor,
      mode: asked.mode,
      params: true,
      authorizer: true,
    };
    const variables =
      asked.variables.length === 0 ? undefined : this.#cel.compileVariables(asked.variables, options);
    const program = this.#cel.compile(asked.source, variables?.environment ?? this.#cel.environment(options));
    const panics = [program, ...(variables?.variables ?? []).map((one) => one.program)].some(
      (one) => !one.ok && 'phase' in one && one.phase === 'panic',
    );
    if (!program.ok) return { compile: program, panics };
    const { request, namespace } = this.#surroundings;
    const bound = {
      object: read(asked.inputs.object),
      oldObject: read(asked.inputs.oldObject),
      params: read(asked.inputs.params),
      request,
      namespaceObject: namespace,
      ...bind(request, scriptedAuthorizer(undefined)),
    };
    const activation = variables === undefined ? bound : withVariables(bound, variables.variables);
    const evaluation = program.evaluate(activation, new Budget(BUDGET));
    const compile = { ok: true, type: typeString(program.type) } as const;
    if ('fatal' in evaluation) return { compile, panics, outcome: { fatal: evaluation.fatal } };
    const { cost } = evaluation;
    return 'error' in evaluation
      ? { compile, panics, outcome: { error: evaluation.error, cost } }
      : { compile, panics, outcome: { value: typedText(evaluation.value), cost } };
  }
}

function read(text: string): Value {
  return readJson(Buffer.from(text), { negativeZero: 'int' }) as Value;
}

/** @param repeat Go goes over maps in random order, so one evaluation may not show all it can come to. */
export function askPeer(
  peer: Peer,
  { source, minor, mode, variables, inputs }: Case,
  { request, namespace }: Surroundings,
  repeat: number,
): Promise<PeerAnswer> {
  const asked = {
    op: 'evaluate',
    expr: source,
    minor,
    mode,
    variables,
    request,
    namespaceObject: namespace,
    repeat,
    budget: BUDGET,
  };
  // The objects as they are written: what is an int and what a double is lost in JavaScript's JSON.
  const head = JSON.stringify(asked).slice(0, -1);
  return peer.ask(
    `${head},"object":${inputs.object},"oldObject":${inputs.oldObject},"params":${inputs.params}}`,
  );
}
