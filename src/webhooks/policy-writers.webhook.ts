import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { GATE_POLICY, GATE_POLICY_BINDING, type Kind } from '../cluster/kinds.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import { GateError, quote } from '../errors.ts';
import { allow, type Verdict } from '../policies/verdict.ts';
import type { Cel } from '../policies/cel/cel.ts';
import { WRITERS_ENTRY, WRITERS_PATH } from '../policies/vap/entry-name.ts';
import { readBinding, readPolicy } from '../policies/vap/read.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import type { Policy } from '../policies/vap/types.ts';
import { bindingWrite } from '../policies/vap/validate-binding.ts';
import { policyWrite } from '../policies/vap/validate-policy.ts';
import type { InSteps } from '../policies/vap/write-answer.ts';
import {
  bindingWriterQuestion,
  paramKindError,
  policyWriterQuestion,
  type WriterQuestion,
} from '../policies/vap/write-rights.ts';
import { forbiddenWrite, invalidWrite } from '../policies/vap/write-verdict.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { DecisionContext, Webhook } from './webhook.ts';

export interface PolicyWritersParts {
  readonly cel: Cel;
  /** Of the API server that is imitated. */
  readonly minor: number;
  /** Kinds that may be parameters. */
  readonly paramKinds: readonly Kind[];
  /** Left out where nobody can be asked, as of files. */
  readonly reviewAccess?: ReviewAccess;
  /**
   * What is in force just now.
   * @throws where that is not known.
   */
  inForce(): Promise<SourcedPolicies>;
}

/**
 * Who may write policies and bindings of our own group, and what may stand in them: as the API server has it for its
 * own, since they are read with our rights (design decision 17, vap.md F10). Whatever cannot be found out is denied.
 */
export function policyWritersWebhook(parts: PolicyWritersParts): Webhook {
  const entry = {
    name: WRITERS_ENTRY,
    failurePolicy: 'Fail',
    // Its texts are the API server's.
    isVerbatim: true,
    decide: (request: AdmissionRequest, context: DecisionContext) => decide(request, parts, context),
  } as const;
  return { name: 'policy-writers', path: WRITERS_PATH, entry: () => entry };
}

async function decide(
  request: AdmissionRequest,
  parts: PolicyWritersParts,
  context: DecisionContext,
): Promise<Verdict> {
  const isPolicy = isOf(request, GATE_POLICY);
  if (!isPolicy && !isOf(request, GATE_POLICY_BINDING)) return allow();
  const { operation, subResource = '' } = request;
  // A policy can always be taken away, and its status is read by people only.
  if (subResource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return allow();
  const object = specified(request.object);
  const old = operation === 'UPDATE' ? specified(request.oldObject) : undefined;
  if (old !== undefined && isBookkeeping(object, old)) return allow();
  const write: Write = { request, object, old, parts, context };
  return isPolicy ? await decidePolicy(write) : await decideBinding(write);
}

function isOf({ resource }: AdmissionRequest, kind: Kind): boolean {
  return resource.group === kind.group && resource.resource === kind.resource;
}

interface Write {
  readonly request: AdmissionRequest;
  readonly object: unknown;
  /** Undefined on creation. */
  readonly old: unknown;
  readonly parts: PolicyWritersParts;
  readonly context: DecisionContext;
}

/** Without `status`, which is no part of such a write and has members of ours that the API server's kind has not. */
function specified(object: unknown): unknown {
  if (!isObject(object)) return object;
  const { status: _, ...rest } = object;
  return rest;
}

/** Metadata by which objects are kept and collected: they say nothing of what is enforced. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'finalizers',
  'ownerReferences',
  'managedFields',
  'resourceVersion',
  'generation',
]);

/**
 * Whether an update can do nothing but let go of the object, or keep it: that must never hang on what a policy says, nor
 * on anybody who could be asked. One that is being deleted may lose its finalizers and whatever else, but may not get
 * another spec: it is enforced until it is gone.
 */
function isBookkeeping(object: unknown, old: unknown): boolean {
  if (!isObject(object) || !isObject(old) || !isDeepStrictEqual(object['spec'], old['spec'])) return false;
  const { metadata: next } = object;
  const { metadata: stored } = old;
  if (!isObject(next) || !isObject(stored)) return false;
  if (typeof stored['deletionTimestamp'] === 'string') return true;
  return isDeepStrictEqual(lasting(next), lasting(stored));
}

function lasting(metadata: Fields): Fields {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !BOOKKEEPING.has(key)));
}

interface Fields {
  readonly [field: string]: unknown;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function decidePolicy({ request, object, old, parts, context }: Write): Promise<Verdict> {
  const { cel, minor, paramKinds } = parts;
  const options = { cel, minor, group: GATE_POLICY.group, ...(old === undefined ? {} : { old }) };
  const { status, warnings } = await paced(policyWrite(object, options), context.signal);
  if (status !== undefined) return invalidWrite(status, warnings);
  const written = readPolicy(object);
  const stored = old === undefined ? undefined : readPolicy(old);
  // The check above has read both.
  if (!written.ok || stored?.ok === false) throw unread(request);
  const subject = { group: GATE_POLICY.group, kind: GATE_POLICY.kind, name: written.value.name };
  if (!isSameSpec(object, old)) {
    const error = paramKindError(written.value, paramKinds);
    if (error !== undefined) return forbiddenWrite(subject, error, warnings, 'POLICY_PARAM_KIND');
  }
  const { userInfo: user } = request;
  const question = policyWriterQuestion({ written: written.value, old: stored?.value, user, paramKinds });
  const error = question && (await ask(question, request, parts, context));
  return error === undefined
    ? allow({ warnings })
    : forbiddenWrite(subject, error, warnings, 'POLICY_WRITER_RIGHTS');
}

async function decideBinding({ request, object, old, parts, context }: Write): Promise<Verdict> {
  const { cel, minor, paramKinds } = parts;
  const options = { cel, minor, group: GATE_POLICY_BINDING.group, ...(old === undefined ? {} : { old }) };
  const { status, warnings } = await paced(bindingWrite(object, options), context.signal);
  if (status !== undefined) return invalidWrite(status, warnings);
  const written = readBinding(object);
  const stored = old === undefined ? undefined : readBinding(old);
  if (!written.ok || stored?.ok === false) throw unread(request);
  const { name, policyName, paramRef } = written.value;
  const policy = paramRef === undefined ? undefined : await policyInForce(policyName, parts, context);
  const question = bindingWriterQuestion({
    written: written.value,
    old: stored?.value,
    user: request.userInfo,
    policy,
    paramKinds,
  });
  const error = question && (await ask(question, request, parts, context));
  if (error === undefined) return allow({ warnings });
  const subject = { group: GATE_POLICY_BINDING.group, kind: GATE_POLICY_BINDING.kind, name };
  return forbiddenWrite(subject, error, warnings, 'POLICY_WRITER_RIGHTS');
}

function isSameSpec(object: unknown, old: unknown): boolean {
  return isObject(object) && isObject(old) && isDeepStrictEqual(object['spec'], old['spec']);
}

function unread({ uid }: AdmissionRequest): GateError {
  return new GateError('GATE_INTERNAL', `a written policy was read and then was not (review ${quote(uid)})`);
}

/** Lets others work after each step. */
async function paced<T>(steps: InSteps<T>, signal: AbortSignal): Promise<T> {
  let next = steps.next();
  while (next.done !== true) {
    await nextTurn();
    signal.throwIfAborted();
    next = steps.next();
  }
  return next.value;
}

/**
 * The policy that a binding is about: that of a file, of which custom resources take no precedence, else the custom
 * resource, as it is stored now, else that of a ConfigMap.
 */
async function policyInForce(
  name: string,
  parts: PolicyWritersParts,
  { reader, signal }: DecisionContext,
): Promise<Policy | undefined> {
  const { policies } = await parts.inForce();
  const known = policies.find(({ policy }) => policy.name === name);
  if (known?.source.source === 'file') return known.policy;
  const stored = await reader.get(GATE_POLICY, { name }, { signal, settles: () => false });
  const read = stored === undefined ? undefined : readPolicy(stored);
  // One that cannot be read takes part in nothing.
  if (read?.ok === true) return read.value;
  return known?.source.source === 'configMap' ? known.policy : undefined;
}

async function ask(
  question: WriterQuestion,
  { userInfo: { username, uid, groups, extra } }: AdmissionRequest,
  { reviewAccess }: PolicyWritersParts,
  { signal }: DecisionContext,
): Promise<ReturnType<WriterQuestion['refusal']>> {
  if (reviewAccess === undefined) {
    throw new GateError(
      'GATE_UNSYNCED',
      'what the writer of this policy may read cannot be found out: there is no cluster that could be asked; give one by cluster.kubeconfig',
    );
  }
  const user = {
    ...(username === undefined ? {} : { username }),
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
  return question.refusal(await reviewAccess({ user, resource: question.access }, { signal }));
}
