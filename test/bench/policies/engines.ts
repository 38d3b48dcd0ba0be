/** The engines of the npm registry, each used as its authors show it, with what its values need. */
import { celEnv, parse as parseBuf, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { Environment } from '@marcbachmann/cel-js';
import { evaluate as evaluateCelJs, parse as parseCelJs } from 'cel-js';
import { readFile } from 'node:fs/promises';
import { readJson } from '../../../src/json.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import { Budget } from '../../../src/policies/cel/program.ts';
import type { Value } from '../../../src/policies/cel/values.ts';
import { readVectors, type Vector } from '../../conformance/cel-vector.ts';
import type { EngineTimes } from '../result.ts';
import { geometricMean, microseconds } from './timing.ts';

const VECTORS_FILE = 'test/golden/cel/policies.jsonl';
const INPUTS_FILE = 'test/golden/cel/inputs.json';
const PATTERNS = /\b(?:matches|find|findAll)\(/;
const BUDGET = 10_000_000;

/** What expressions read: the texts of a review's parts, as they come over the wire. */
interface Texts {
  readonly object: Buffer;
  readonly params: Buffer;
}

/** An expression made ready: everything from the bytes of the review to the value. */
type Run = (texts: Texts) => unknown;

interface Engine {
  readonly name: string;
  /** @throws whatever the engine does not compile */
  prepare(source: string): Run;
}

interface Candidate {
  readonly source: string;
  readonly texts: Texts;
  readonly expected: unknown;
}

/** Both engines take bigint for int, and number for double. */
function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withBigints);
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) copy[key] = withBigints(member);
  return copy;
}

function read(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString());
}

function converted({ object, params }: Texts): Record<string, unknown> {
  return { object: withBigints(read(object)), params: withBigints(read(params)) };
}

const bufbuild: Engine = {
  name: '@bufbuild/cel',
  prepare(source) {
    const run = plan(celEnv({ funcs: [...strings] }), parseBuf(source)) as (input: unknown) => unknown;
    return (texts) => run(converted(texts));
  },
};

const marcbachmann: Engine = {
  name: '@marcbachmann/cel-js',
  prepare(source) {
    const environment = new Environment({ enableOptionalTypes: true })
      .registerVariable('object', 'dyn')
      .registerVariable('params', 'dyn');
    const run = environment.parse(source);
    return (texts) => run(converted(texts));
  },
};

const celJs: Engine = {
  name: 'cel-js',
  prepare(source) {
    const parsed = parseCelJs(source);
    if (!parsed.isSuccess) throw new Error(parsed.errors.join());
    return ({ object, params }) => evaluateCelJs(parsed.cst, { object: read(object), params: read(params) });
  },
};

const ENGINES: readonly Engine[] = [bufbuild, marcbachmann, celJs];

function ours(cel: Cel, source: string): Run {
  const environment = cel.environment({ minor: 36, mode: 'stored', params: true, authorizer: true });
  const program = cel.compile(source, environment);
  if (!program.ok) throw new Error(program.error);
  return ({ object, params }) => {
    const activation = { object: readJson(object) as Value, params: readJson(params) as Value };
    const evaluation = program.evaluate(activation, new Budget(BUDGET));
    return 'value' in evaluation ? evaluation.value : undefined;
  };
}

/** @param milliseconds for each engine and expression, and as long for ours beside it */
export async function compareEngines(milliseconds: number): Promise<readonly EngineTimes[]> {
  const cel = new Cel();
  const candidates = await readCandidates();
  return ENGINES.flatMap((engine) =>
    [false, true].map((hasPatterns): EngineTimes => {
      const tried = candidates.filter(({ source }) => PATTERNS.test(source) === hasPatterns);
      const ratios = tried.flatMap((candidate) => ratio(cel, engine, candidate, milliseconds) ?? []);
      return {
        name: engine.name,
        hasPatterns,
        expressions: ratios.length,
        tried: tried.length,
        ratio: ratios.length === 0 ? Number.NaN : geometricMean(ratios),
      };
    }),
  );
}

/** @returns undefined where the engine does not give what the API server gives */
function ratio(
  cel: Cel,
  engine: Engine,
  { source, texts, expected }: Candidate,
  milliseconds: number,
): number | undefined {
  let theirs: Run;
  try {
    theirs = engine.prepare(source);
    if (theirs(texts) !== expected) return undefined;
  } catch {
    return undefined;
  }
  const own = ours(cel, source);
  if (own(texts) !== expected) throw new Error(`${source}: we do not give ${String(expected)}`);
  const slow = microseconds(milliseconds, () => theirs(texts));
  return microseconds(milliseconds, () => own(texts)) / slow;
}

/** Recorded expressions of policies that read an object and its parameter alone, and give a truth or a text. */
async function readCandidates(): Promise<readonly Candidate[]> {
  const { inputs } = JSON.parse(await readFile(INPUTS_FILE, 'utf8')) as { inputs: Record<string, unknown> };
  return readVectors(await readFile(VECTORS_FILE)).flatMap((vector) => {
    const { expr, vars = {}, variables, result } = vector;
    const expected = plainResult(result?.value);
    if (expr === undefined || variables !== undefined || expected === undefined) return [];
    if (/\b(?:request|authorizer|namespaceObject|oldObject)\b/.test(expr)) return [];
    const text = (name: string): Buffer => Buffer.from(JSON.stringify(inputOf(vars[name], inputs)));
    return [{ source: expr, texts: { object: text('object'), params: text('params') }, expected }];
  });
}

function inputOf(
  name: NonNullable<Vector['vars']>[string] | undefined,
  inputs: Record<string, unknown>,
): unknown {
  return typeof name === 'string' ? (inputs[name] ?? null) : null;
}

function plainResult(value: unknown): boolean | string | undefined {
  const { bool, string } = (value ?? {}) as { bool?: boolean; string?: string };
  return bool ?? string;
}
