/** Runs a suite: its policies decide about each of its requests. */
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { AuthorizationAnswer, AuthorizationQuery } from '../policies/cel/signals.ts';
import type { Outcome } from '../policies/vap/answer.ts';
import { minorOf } from '../policies/vap/policy-objects.ts';
import { readDocuments } from './manifests.ts';
import { NativePolicies } from './native-policies.ts';
import { readObjectFiles } from './object-files.ts';
import { differences, type Difference } from './suite-expect.ts';
import { isSuiteFile } from './suite-files.ts';
import { parseSuite, type AuthorizerRule, type Suite } from './suite-format.ts';
import { SuiteGate } from './suite-gate.ts';
import { stepsOf, type SuiteStep } from './suite-request.ts';
import type { Surroundings } from './surroundings.ts';

export interface CaseResult {
  readonly name: string;
  /** None: it passed. */
  readonly differences: readonly Difference[];
  readonly durationMs: number;
}

export interface SuiteResult {
  readonly file: string;
  readonly name: string;
  readonly cases: readonly CaseResult[];
}

export interface SuiteRun {
  readonly result: SuiteResult;
  /** What the suite was read from, for whoever watches: files and directories. */
  readonly sources: readonly string[];
}

export interface SuiteOptions {
  /** Where a suite does not say one. */
  readonly kubeVersion: string;
  /** Only cases whose name holds this. */
  readonly only?: string | undefined;
}

/** @throws GateError GATE_INPUT_FILE where the suite, or what it names, cannot be read. */
export async function runSuite(
  file: string,
  options: SuiteOptions,
  around: Pick<Surroundings, 'stdin' | 'clock'>,
): Promise<SuiteRun> {
  const suite = await readSuite(file, around);
  const { objects, gated, sources } = await objectsOf(suite, file, around);
  const native = new NativePolicies({
    objects,
    minor: minorOf(suite.kubeVersion ?? options.kubeVersion),
    ...(suite.authorizer === undefined ? {} : { authorize: authorizerOf(suite.authorizer) }),
  });
  if (native.isEmpty && suite.policies !== undefined) {
    throw new GateError('GATE_INPUT_FILE', `file ${file}: policies: none of them has a binding: give one`);
  }
  const gate = gateOf(suite, gated, native, around.clock);
  const cases: CaseResult[] = refusedCases(native);
  const parts = { file, suite, customKinds: native.given.customKinds, around };
  for (const one of suite.cases) {
    for (const step of await stepsOf(one, parts)) {
      if (options.only !== undefined && !step.name.includes(options.only)) continue;
      cases.push(await runStep(step, { native, gate }, around.clock));
    }
  }
  return { result: { file, name: suite.metadata.name, cases }, sources: [file, ...sources] };
}

async function readSuite(file: string, around: Pick<Surroundings, 'stdin'>): Promise<Suite> {
  const [document, another] = await readDocuments(file, around);
  if (another !== undefined) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `file ${file}: holds more than one document: need one suite a file`,
    );
  }
  return parseSuite(file, document?.object);
}

/** Undefined where the suite is about policies alone. */
function gateOf(
  { delivery }: Suite,
  objects: readonly KubeObject[],
  { given }: NativePolicies,
  clock: Clock,
): SuiteGate | undefined {
  if (delivery === undefined) return undefined;
  const { namespace = 'pacto-delivery', now, promoter, stabilizationSeconds = 120 } = delivery;
  return new SuiteGate(
    {
      objects,
      namespaces: given.namespaces(),
      namespace,
      promoter,
      stabilizationMs: stabilizationSeconds * 1_000,
      nowMs: now === undefined ? undefined : Date.parse(now),
    },
    clock,
  );
}

interface Sources {
  readonly objects: readonly KubeObject[];
  /** Of the delivery gate. */
  readonly gated: readonly KubeObject[];
  readonly sources: readonly string[];
}

async function objectsOf(suite: Suite, file: string, around: Pick<Surroundings, 'stdin'>): Promise<Sources> {
  const { policies = [], params = [], namespaces = [], definitions = [], delivery } = suite;
  const sources: string[] = [];
  const read = async (given: Suite['policies']): Promise<readonly KubeObject[]> =>
    readSources(given ?? [], file, around, sources);
  return {
    objects: await read([...policies, ...params, ...namespaces, ...definitions]),
    gated: await read(delivery?.objects),
    sources,
  };
}

async function readSources(
  given: NonNullable<Suite['policies']>,
  file: string,
  around: Pick<Surroundings, 'stdin'>,
  sources: string[],
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const source of given) {
    if (typeof source !== 'string') {
      objects.push(wholeObject(source, file));
      continue;
    }
    const path = join(dirname(file), source);
    const { documents, directories } = await readObjectFiles([path], around, (found) => !isSuiteFile(found));
    objects.push(...documents.map(({ object }) => object));
    sources.push(...(directories.length === 0 ? [path] : directories));
  }
  return objects;
}

function wholeObject(value: Readonly<Record<string, unknown>>, file: string): KubeObject {
  const { apiVersion, kind, metadata } = value;
  if (
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null
  ) {
    return { ...value, apiVersion, kind, metadata };
  }
  throw new GateError(
    'GATE_INPUT_FILE',
    `file ${file}: an object in it lacks apiVersion, kind or metadata: need all`,
  );
}

/** What no API server would store cannot be tested as if it did. */
function refusedCases({ refused }: NativePolicies): CaseResult[] {
  return refused.map(({ kind, name, answer }) => ({
    name: `${kind} ${name} can be created`,
    differences: [{ what: 'write', expected: 'accepted', found: answer.status?.message ?? '' }],
    durationMs: 0,
  }));
}

interface Deciders {
  readonly native: NativePolicies;
  readonly gate: SuiteGate | undefined;
}

/** Policies go before webhooks, as in an API server; a refusal of the first ends it. */
async function outcomeOf({ native, gate }: Deciders, request: SuiteStep['request']): Promise<Outcome> {
  const byPolicies = await native.decide(request);
  if (gate === undefined || byPolicies.status !== undefined) return byPolicies;
  const byGate = await gate.decide(request);
  return {
    ...byGate,
    warnings: [...byPolicies.warnings, ...byGate.warnings],
    auditAnnotations: { ...byPolicies.auditAnnotations, ...byGate.auditAnnotations },
  };
}

async function runStep(
  { name, request, expect }: SuiteStep,
  deciders: Deciders,
  clock: Clock,
): Promise<CaseResult> {
  const startMs = clock.monotonic();
  const found = await decided(expect, deciders, request);
  return { name, differences: found, durationMs: clock.monotonic() - startMs };
}

async function decided(
  expect: SuiteStep['expect'],
  deciders: Deciders,
  request: SuiteStep['request'],
): Promise<readonly Difference[]> {
  try {
    return differences(expect, await outcomeOf(deciders, request));
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return [{ what: 'decision', expected: 'one', found: error.message }];
  }
}

/** The first rule that fits answers; where none fits there is no opinion, which is no. */
function authorizerOf(rules: readonly AuthorizerRule[]): (query: AuthorizationQuery) => AuthorizationAnswer {
  return (query) => {
    const rule = rules.find((one) => fits(one, query));
    if (rule === undefined) return { decision: 'noopinion', reason: '' };
    const { decision, reason = '', error } = rule;
    return { decision, reason, ...(error === undefined ? {} : { error }) };
  };
}

const ATTRIBUTES = [
  'verb',
  'group',
  'version',
  'resource',
  'subresource',
  'namespace',
  'name',
  'path',
] as const;

function fits(rule: AuthorizerRule, query: AuthorizationQuery): boolean {
  const { username, groups } = query.user;
  if (rule.user !== undefined && rule.user !== username) return false;
  if (rule.userGroup !== undefined && !groups.includes(rule.userGroup)) return false;
  const asked: Readonly<Partial<Record<(typeof ATTRIBUTES)[number], string>>> = query;
  return ATTRIBUTES.every((key) => rule[key] === undefined || rule[key] === (asked[key] ?? ''));
}
