/** From a case of a suite to the requests that it is about. */
import { dirname, join } from 'node:path';
import type { Kind } from '../cluster/kinds.ts';
import type { AdmissionRequest, KubeObject, UserInfo } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import { isBoxedDouble, stringifyJson } from '../json.ts';
import { readReview } from '../webhooks/review.ts';
import { buildRequest, impersonatedUser } from './admission-review.ts';
import { readDocuments } from './manifests.ts';
import { expectsSomething } from './suite-expect.ts';
import type { Expectation, Given, Suite, SuiteCase, SuiteUser } from './suite-format.ts';
import type { Surroundings } from './surroundings.ts';

/** One request and what is expected of it: a case, or a row of its table. */
export interface SuiteStep {
  readonly name: string;
  readonly request: AdmissionRequest;
  readonly expect: Expectation;
}

export interface StepParts {
  readonly file: string;
  readonly suite: Suite;
  readonly customKinds: readonly Kind[];
  readonly around: Pick<Surroundings, 'stdin'>;
}

/** @throws GateError GATE_INPUT_FILE where a case is not whole. */
export async function stepsOf(one: SuiteCase, parts: StepParts): Promise<readonly SuiteStep[]> {
  const { name, given, review, expect = {}, table } = one;
  if ((given === undefined) === (review === undefined))
    throw wrong(parts, name, 'need given or review, one of the two');
  if (review !== undefined) {
    if (table !== undefined) throw wrong(parts, name, 'a review is whole: a table needs given');
    return [await step(name, { kind: 'review', review }, expect, parts)];
  }
  const base = await resolved(given ?? {}, parts, name);
  if (table === undefined) return [await step(name, { kind: 'given', given: base }, expect, parts)];
  const steps: SuiteStep[] = [];
  for (const { case: rowName, expect: rowExpect = {}, ...change } of table) {
    const whole = `${name}: ${rowName}`;
    const row = await resolved(change, parts, whole);
    const merged = mergedGiven(base, row);
    steps.push(await step(whole, { kind: 'given', given: merged }, { ...expect, ...rowExpect }, parts));
  }
  return steps;
}

type Asked =
  | { readonly kind: 'review'; readonly review: string | object }
  | { readonly kind: 'given'; readonly given: Resolved };

async function step(name: string, asked: Asked, expect: Expectation, parts: StepParts): Promise<SuiteStep> {
  if (!expectsSomething(expect)) throw wrong(parts, name, 'expect says nothing, so it could not fail');
  const review =
    asked.kind === 'given'
      ? reviewOf(asked.given, name, parts)
      : typeof asked.review === 'string'
        ? await readOne(asked.review, parts, name)
        : asked.review;
  // As the server reads what it is sent.
  const read = readReview(Buffer.from(stringifyJson(review)), { 'content-type': 'application/json' });
  if (read.kind !== 'review') throw wrong(parts, name, read.error.message);
  return { name, request: read.request, expect };
}

/** With the objects of files in place of their names. */
interface Resolved extends Omit<Given, 'object' | 'oldObject'> {
  readonly object?: Readonly<Record<string, unknown>> | null;
  readonly oldObject?: Readonly<Record<string, unknown>> | null;
}

async function resolved(given: Given, parts: StepParts, name: string): Promise<Resolved> {
  const { object, oldObject, ...rest } = given;
  const read = async (value: string | Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> =>
    typeof value === 'string' ? await readOne(value, parts, name) : value;
  return {
    ...rest,
    ...(object === undefined ? {} : { object: object === null ? null : await read(object) }),
    ...(oldObject === undefined ? {} : { oldObject: oldObject === null ? null : await read(oldObject) }),
  };
}

async function readOne(path: string, parts: StepParts, name: string): Promise<KubeObject> {
  const documents = await readDocuments(join(dirname(parts.file), path), parts.around);
  const [first] = documents;
  if (first === undefined || documents.length > 1) {
    throw wrong(parts, name, `${path} holds ${String(documents.length)} objects: need a file with one`);
  }
  return first.object;
}

function mergedGiven(base: Resolved, row: Resolved): Resolved {
  const merged = { ...base, ...row };
  const patched = (field: 'object' | 'oldObject'): Partial<Resolved> => {
    const before = base[field];
    const change = row[field];
    if (!isMap(before) || !isMap(change)) return {};
    return { [field]: mergePatch(before, change) as Readonly<Record<string, unknown>> };
  };
  return { ...merged, ...patched('object'), ...patched('oldObject') };
}

/** A JSON merge patch (RFC 7386): maps are merged, null removes, everything else is replaced. */
function mergePatch(before: unknown, change: unknown): unknown {
  if (!isMap(change)) return change;
  const entries = new Map(isMap(before) ? Object.entries(before) : []);
  for (const [key, value] of Object.entries(change)) {
    if (value === null) entries.delete(key);
    else entries.set(key, mergePatch(entries.get(key), value));
  }
  return Object.fromEntries(entries);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxedDouble(value);
}

function reviewOf(given: Resolved, name: string, parts: StepParts): object {
  const old = given.oldObject ?? undefined;
  const object = given.object ?? old;
  if (object === undefined) throw wrong(parts, name, 'need an object, or the oldObject of a DELETE');
  const request = buildRequest(
    wholeObject(object, name, parts),
    old === undefined ? undefined : wholeObject(old, name, parts),
    {
      operation: given.operation,
      user: userOf(given.user, parts.suite),
      name: given.name,
      namespace: given.namespace,
      subresource: given.subresource,
      dryRun: given.dryRun ?? false,
      customKinds: parts.customKinds,
    },
    1,
  );
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
}

function wholeObject(value: Readonly<Record<string, unknown>>, name: string, parts: StepParts): KubeObject {
  const { apiVersion, kind, metadata = {} } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw wrong(parts, name, 'an object has no apiVersion and kind: need both');
  }
  if (!isMap(metadata)) throw wrong(parts, name, 'metadata of an object is no object: need one');
  return { ...value, apiVersion, kind, metadata };
}

/** By its name in `users`, as it is, or a user of that name. */
function userOf(given: string | SuiteUser | undefined, { users = {} }: Suite): UserInfo {
  const named = typeof given === 'string' && Object.hasOwn(users, given) ? users[given] : given;
  const {
    username,
    groups,
    uid,
    extra = {},
  } = typeof named === 'string' ? { username: named } : (named ?? {});
  return impersonatedUser({
    username,
    groups: groups ?? [],
    uid,
    extra: Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const)),
  });
}

function wrong({ file }: StepParts, name: string, what: string): GateError {
  return new GateError('GATE_INPUT_FILE', `file ${file}: case ${JSON.stringify(name)}: ${what}`);
}
