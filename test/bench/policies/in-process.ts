/** What evaluation costs this process: latency of a request, the longest stall, memory of what is compiled. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { readJson } from '../../../src/json.ts';
import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import { Budget, type Program } from '../../../src/policies/cel/program.ts';
import type { Value } from '../../../src/policies/cel/values.ts';
import type { Evidence } from '../../../src/policies/vap/needs.ts';
import { createPolicySet, type PolicySet } from '../../../src/policies/vap/policy-set.ts';
import { readPolicy } from '../../../src/policies/vap/read.ts';
import type { Binding, Policy } from '../../../src/policies/vap/types.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';
import { readVectors } from '../../conformance/cel-vector.ts';
import { reviewBody } from '../corpus.ts';
import type { PoliciesResult } from '../result.ts';
import { summarize } from '../statistics.ts';

const MINOR = 36;
const POLICIES_FILE = 'test/bench/policies/policies.yaml';
const VECTORS_FILE = 'test/golden/cel/policies.jsonl';
const BUDGET = 10_000_000;
/** After so many the engine of JavaScript has compiled what it will. */
const WARMUP = 400;
/** So often each expression is compiled for the memory: one by one they are too small to weigh. */
const COPIES = 10;
/** Each hostile expression is timed so often, and the best counts: the others had to share the processor. */
const ATTEMPTS = 3;

/**
 * Policies on a review of 4 KiB, reading it included.
 *
 * @param rounds of so many samples each; the one with the lowest p99 counts, the others had to share the processor
 */
export async function timeRequests(
  counts: readonly number[],
  rounds: number,
  samples: number,
): Promise<PoliciesResult['requests']> {
  const cel = new Cel();
  const policies = await readPolicies();
  const { bytes } = reviewBody('pod-create-4k');
  return counts.map((count) => {
    const set = setOf(cel, policies, count);
    for (let n = 0; n < WARMUP; n += 1) answer(set, bytes);
    const summaries = Array.from({ length: rounds }, () => summarize(timesOf(set, bytes, samples)));
    const [{ p50Ms, p99Ms } = summarize([])] = summaries.toSorted((a, b) => a.p99Ms - b.p99Ms);
    return { policies: count, p50Ms, p99Ms };
  });
}

function timesOf(set: PolicySet, bytes: Uint8Array, samples: number): readonly number[] {
  return Array.from({ length: samples }, () => {
    const start = performance.now();
    answer(set, bytes);
    return performance.now() - start;
  });
}

function answer(set: PolicySet, bytes: Uint8Array): void {
  const { request } = readJson(bytes) as { request: AdmissionRequest };
  const known: Evidence = {
    namespace: () => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }),
    authorize: () => ({ decision: 'noopinion', reason: '' }),
    paramKind: () => null,
    params: () => [],
    conversion: () => undefined,
  };
  const outcome = evaluate(set, request, known);
  if ('need' in outcome) throw new Error(`nothing known about ${outcome.need}`);
  if (outcome.decisions.some((decision) => decision.evaluation !== 'deny')) {
    throw new Error('the policies of the benchmark do not evaluate');
  }
}

async function readPolicies(): Promise<readonly Policy[]> {
  const documents = parse(await readFile(POLICIES_FILE, 'utf8')) as readonly unknown[];
  return documents.map((document) => {
    const read = readPolicy(document);
    if (!read.ok) throw new Error(read.fault);
    return read.value;
  });
}

/** So many policies under names of their own, each bound. */
function setOf(cel: Cel, known: readonly Policy[], count: number): PolicySet {
  const policies = Array.from({ length: count }, (_, index): Policy => {
    const policy = known[index % known.length];
    if (policy === undefined) throw new Error(`${POLICIES_FILE} is empty`);
    return { ...policy, name: `${policy.name}-${String(index)}` };
  });
  const bindings = policies.map(({ name }): Binding => ({
    name,
    policyName: name,
    validationActions: ['Deny'],
  }));
  return createPolicySet({ cel, policies, bindings, minor: MINOR });
}

/** Made to take long: each has to end at its limit of cost, or by itself. */
const HOSTILE: readonly string[] = [
  'object.l.all(a, object.l.all(b, object.l.all(c, object.l.all(d, object.l.all(e, true)))))',
  'object.l.map(a, object.l.map(b, object.l.map(c, object.l))).size() > 0',
  "object.s.matches('(a+)+$')",
  "object.s.matches('(.*a){12}b')",
  "object.s.findAll('a|aa|aaa').size() > 0",
  '[1,2,3,4,5,6,7,8].map(a, [1,2,3,4,5,6,7,8].map(b, object.s + object.s + object.s + object.s)).size() > 0',
  "object.s.split('').map(c, c + object.s).size() > 0",
  'object.n == object.n && object.n in [object.n]',
  'object.n.sort().size() > 0',
  'object.n.distinct().size() > 0',
  'object.n.flatten().size() > 0',
  'lists.range(object.huge).size() > 0',
  'object.n.map(x, string(x)).join(object.s).size() > 0',
  "object.s.replace('a', object.s).size() > 0",
  "'%s'.format([object.n]).size() > 0",
  'sets.contains(object.n, object.n)',
  'object.n.all(x, object.n.indexOf(x) >= 0)',
];

export function longestStall(): PoliciesResult['stall'] {
  const cel = new Cel();
  const environment = cel.environment({ minor: MINOR, mode: 'stored', params: true, authorizer: true });
  const object: Value = {
    l: Array.from({ length: 30 }, (_, index) => index),
    n: Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 20_011),
    s: 'a'.repeat(5000),
    huge: 4_000_000_000,
  };
  let longest = { expression: '', ms: 0 };
  for (const expression of HOSTILE) {
    const program = cel.compile(expression, environment);
    if (!program.ok) throw new Error(`${expression}: ${program.error}`);
    const ms = Math.min(...Array.from({ length: ATTEMPTS }, () => elapsed(program, object)));
    if (ms > longest.ms) longest = { expression, ms };
  }
  return longest;
}

function elapsed(program: Program, object: Value): number {
  const start = performance.now();
  program.evaluate({ object }, new Budget(BUDGET));
  return performance.now() - start;
}

/** Bytes that a compiled expression keeps, its source included: expressions of recorded policies, each its own text. */
export async function bytesPerExpression(): Promise<number> {
  const cel = new Cel();
  const environment = cel.environment({ minor: MINOR, mode: 'stored', params: true, authorizer: true });
  const sources = readVectors(await readFile(VECTORS_FILE)).flatMap(({ expr, compile, variables }) =>
    expr === undefined || !compile.ok || variables !== undefined ? [] : [expr],
  );
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const compileAll = (): unknown[] =>
    Array.from({ length: COPIES }, (_, copy) =>
      sources.map((source) => cel.compile(`${source} // ${String(copy)}`, environment)),
    ).flat();
  // Patterns and tables that all expressions share are there from here on.
  compileAll();
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = compileAll();
  collect();
  const after = process.memoryUsage().heapUsed;
  return (after - before) / kept.length;
}
