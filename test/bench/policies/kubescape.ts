/** The real policies of the kubescape set, with what each of them is asked about (docs/conformance.md). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, stringifyJson } from '../../../src/json.ts';
import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import type { Cel } from '../../../src/policies/cel/cel.ts';
import { PolicyCompiler } from '../../../src/policies/vap/compile.ts';
import type { Evidence } from '../../../src/policies/vap/needs.ts';
import type { PolicySet } from '../../../src/policies/vap/policy-set.ts';
import { readPolicy } from '../../../src/policies/vap/read.ts';
import type { Binding, Policy } from '../../../src/policies/vap/types.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';
import { evidenceOf, policySetOf, type RequestCase } from '../../conformance/vap-case.ts';
import type { Peer } from '../peer.ts';
import type { PolicyTimes } from '../result.ts';
import { microseconds, middleRound, type Sides } from './timing.ts';

const CASES_FILE = 'cases.json';
const MINOR = 36;
/** Policies with patterns are a class of their own (design §6). */
const PATTERNS = /\.(?:matches|find|findAll)\(/;

const WARMUP = 60;
/** A compilation takes as long as many evaluations. */
const COMPILATION_SHARE = 6;

/** How long, and how often, each side of each policy is measured. */
export interface Effort {
  readonly milliseconds: number;
  readonly rounds: number;
}

interface Question {
  readonly request: AdmissionRequest;
  readonly evidence: Evidence;
}

/** A policy with the requests of its cases. */
export interface PolicyGroup {
  readonly name: string;
  readonly source: unknown;
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
  readonly set: PolicySet;
  readonly questions: readonly Question[];
  readonly cases: readonly RequestCase[];
}

/** @returns undefined where the folder is not there */
export async function readPolicyGroups(
  directory: string,
  cel: Cel,
): Promise<readonly PolicyGroup[] | undefined> {
  const bytes = await readFile(join(directory, CASES_FILE)).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const byPolicy = new Map<string, RequestCase[]>();
  for (const one of readJson(bytes) as readonly RequestCase[]) {
    const { name } = (one.policies[0] as { metadata: { name: string } }).metadata;
    const known = byPolicy.get(name);
    if (known === undefined) byPolicy.set(name, [one]);
    else known.push(one);
  }
  return [...byPolicy].map(([name, cases]) => groupOf(name, cases, cel));
}

function groupOf(name: string, cases: readonly RequestCase[], cel: Cel): PolicyGroup {
  const [first] = cases;
  const source = first?.policies[0];
  const read = readPolicy(source);
  if (first === undefined || !read.ok) throw new Error(`${name}: it cannot be read`);
  const set = policySetOf(first, cel);
  const questions = cases.flatMap((one) =>
    one.review === null
      ? []
      : [{ request: one.review.request, evidence: evidenceOf(one, one.review.request) }],
  );
  return { name, source, policy: read.value, bindings: set.bound[0]?.bindings ?? [], set, questions, cases };
}

/** Runs everything a while: the first policies measured would pay for the compiler of JavaScript otherwise. */
export function warmUp(groups: readonly PolicyGroup[], cel: Cel): void {
  for (const { policy, questions, set } of groups) {
    for (let n = 0; n < WARMUP; n += 1) {
      for (const { request, evidence } of questions) evaluate(set, request, evidence);
      if (n % COMPILATION_SHARE === 0) new PolicyCompiler(cel, MINOR).compile(policy);
    }
  }
}

/** The same policy, the same requests, ours and Go's in turn. */
export async function comparePolicy(
  group: PolicyGroup,
  peer: Peer,
  cel: Cel,
  { milliseconds, rounds }: Effort,
): Promise<PolicyTimes> {
  const asked = (op: string): string => stringifyJson({ op, ...peerQuestion(group), milliseconds });
  const evaluations: Sides[] = [];
  const compilations: Sides[] = [];
  let agree = true;
  for (let n = 0; n < rounds; n += 1) {
    const theirs = await peer.ask<{ nanoseconds: number; refusals: readonly (readonly string[])[] }>(
      asked('measure-policy'),
    );
    agree &&= group.questions.every(
      (question, index) => isRefused(group, question) === (theirs.refusals[index] ?? []).length > 0,
    );
    const run = (): void => {
      for (const { request, evidence } of group.questions) evaluate(group.set, request, evidence);
    };
    const ours = microseconds(milliseconds, run) / Math.max(group.questions.length, 1);
    evaluations.push({ ours, theirs: theirs.nanoseconds / 1000 });
    const compiled = await peer.ask<{ nanoseconds: number }>(asked('measure-compile'));
    compilations.push({
      ours: microseconds(milliseconds, () => new PolicyCompiler(cel, MINOR).compile(group.policy)),
      theirs: compiled.nanoseconds / 1000,
    });
  }
  return {
    name: group.name,
    requests: group.questions.length,
    hasPatterns: PATTERNS.test(stringifyJson(group.source)),
    agree,
    evaluation: middleRound(evaluations),
    compilation: middleRound(compilations),
  };
}

function isRefused({ set }: PolicyGroup, { request, evidence }: Question): boolean {
  const outcome = evaluate(set, request, evidence);
  if ('need' in outcome) throw new Error(`nothing known about ${outcome.need}`);
  return outcome.decisions.length > 0;
}

function peerQuestion({ source, cases }: PolicyGroup): object {
  const inputs = cases.flatMap(({ review, params }) => {
    if (review === null) return [];
    const { object = null, oldObject = null, ...request } = review.request;
    return [{ request, object, oldObject, params: params[0] ?? null, namespace: null }];
  });
  return { minor: MINOR, policy: source, inputs };
}
