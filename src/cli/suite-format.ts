/** What a test suite of policies looks like in its file (docs/policies.md). */
import * as z from 'zod';
import { GateError } from '../errors.ts';

const SUITE_API_VERSION = 'test.gate.pacto.trianalab.io/v1alpha1';
const SUITE_KIND = 'Suite';

const name = z.string().min(1);
/** An object as it is, with everything that is in it. */
const inline = z.record(z.string(), z.unknown());
/** A file, or the object itself. */
const object = z.union([name, inline]);
/** Files and directories beside the suite, or objects themselves. */
const sources = z.array(object);

const user = z.strictObject({
  username: name,
  uid: z.string().optional(),
  groups: z.array(z.string()).optional(),
  extra: z.record(z.string(), z.array(z.string())).optional(),
});

const given = z.strictObject({
  operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']).optional(),
  object: object.nullable().optional(),
  oldObject: object.nullable().optional(),
  user: z.union([name, user]).optional(),
  name: z.string().optional(),
  namespace: z.string().optional(),
  subresource: z.string().optional(),
  dryRun: z.boolean().optional(),
});

const text = z.union([z.string(), z.strictObject({ contains: z.string().min(1) })]);

const expectation = z.strictObject({
  allowed: z.boolean().optional(),
  message: text.optional(),
  reason: z.string().optional(),
  code: z.int().optional(),
  policy: z.string().optional(),
  binding: z.string().optional(),
  warnings: z.array(text).optional(),
  auditAnnotations: z.record(z.string(), text.nullable()).optional(),
});

const row = given.extend({ name: z.string().optional(), case: name, expect: expectation.optional() });

const testCase = z.strictObject({
  name,
  given: given.optional(),
  review: object.optional(),
  expect: expectation.optional(),
  table: z.array(row).min(1).optional(),
});

/** Each attribute that is there must be that of the question. */
const rule = z.strictObject({
  user: z.string().optional(),
  userGroup: z.string().optional(),
  verb: z.string().optional(),
  group: z.string().optional(),
  version: z.string().optional(),
  resource: z.string().optional(),
  subresource: z.string().optional(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  path: z.string().optional(),
  decision: z.enum(['allow', 'deny', 'noopinion']),
  reason: z.string().optional(),
  error: z.string().optional(),
});

const delivery = z.strictObject({
  objects: sources.min(1),
  namespace: name.optional(),
  now: z.iso.datetime({ offset: true }).optional(),
  promoter: name.optional(),
  stabilizationSeconds: z.int().min(0).optional(),
});

const suite = z.strictObject({
  apiVersion: z.literal(SUITE_API_VERSION),
  kind: z.literal(SUITE_KIND),
  metadata: z.looseObject({ name }),
  kubeVersion: z
    .string()
    .regex(/^1\.(2[6-9]|3[0-7])$/)
    .optional(),
  policies: sources.min(1).optional(),
  delivery: delivery.optional(),
  params: sources.optional(),
  namespaces: sources.optional(),
  definitions: sources.optional(),
  users: z.record(z.string(), user).optional(),
  authorizer: z.array(rule).optional(),
  cases: z.array(testCase).min(1),
});

export type Suite = z.output<typeof suite>;
export type SuiteCase = z.output<typeof testCase>;
export type Given = z.output<typeof given>;
export type Expectation = z.output<typeof expectation>;
export type ExpectedText = z.output<typeof text>;
export type AuthorizerRule = z.output<typeof rule>;
export type SuiteUser = z.output<typeof user>;

/** @throws GateError GATE_INPUT_FILE with everything that is wrong. */
export function parseSuite(file: string, value: unknown): Suite {
  const parsed = suite.safeParse(value);
  if (parsed.success && parsed.data.policies === undefined && parsed.data.delivery === undefined)
    throw new GateError('GATE_INPUT_FILE', `file ${file}: is no suite: need policies, or delivery, or both`);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(issuesOf).map(({ path, message }) => {
    const at = path.map(String).join('.');
    return `${at === '' ? 'the suite' : at}: ${message}`;
  });
  throw new GateError('GATE_INPUT_FILE', `file ${file}: is no suite: ${problems.join('; ')}`);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Of a union only what is wrong with the alternative that comes closest: that of an object, if there is an object. */
function issuesOf(issue: z.core.$ZodIssue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [plainIssue(issue)];
  const deep = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === 'unrecognized_keys');
  if (deep === undefined) return [{ path: issue.path, message: 'has a type that it may not have' }];
  return [plainIssue({ ...deep, path: [...issue.path, ...deep.path] })];
}

function plainIssue(issue: z.core.$ZodIssue): Issue {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') return { path, message: `unknown ${issue.keys.join(', ')}` };
  return { path, message: message.replace(/^Invalid input: /, '') };
}
