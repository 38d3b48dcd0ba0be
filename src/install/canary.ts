/**
 * The proof that an API server enforces what was written (design decision 19): a policy, or an entry, that refuses one
 * ConfigMap of ours in a dry run, with words that nobody else says. It names a nonce that stands for everything that
 * was written before it, so that an API server that says it has seen all of that.
 */
import { createHash } from 'node:crypto';
import { sleep, type Clock } from '../clock.ts';
import { ApiRefusal } from '../cluster/answers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { apiVersionOf, CONFIG_MAP, NATIVE_POLICY, NATIVE_POLICY_BINDING } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf } from '../errors.ts';
import {
  NAMESPACE_NAME_LABEL,
  REVIEW_VERSIONS,
  clientConfigOf,
  type ClientTarget,
  type ValidatingEntry,
} from '../policies/entry.ts';
import { policyPath } from '../policies/vap/entry-name.ts';
import { CANARY_LABEL, CANARY_NAME, FIELD_MANAGER, MANAGED_LABEL, MANAGED_VALUE } from './names.ts';

/** One API server behind the address that clients use. */
export interface ApiServer {
  /** For messages: its address. */
  readonly name: string;
  readonly cluster: Pick<Cluster, 'create'>;
}

export type Proof = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Refusals in a row that are wanted, and over how long (design decision 19). */
const TIMES = 10;
const OVER_MS = 5_000;
/** What was written acts after a second or so (vap.md O07); an API server under load needs longer. */
const SETTLE_MS = 20_000;
const SETTLE_INTERVAL_MS = 250;

/** @returns what stands for these texts, as a label may hold it. */
export function nonceOf(texts: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex').slice(0, 16);
}

function sentenceOf(nonce: string): string {
  return `pacto-gate proves by canary ${nonce} that this API server enforces policies`;
}

/** Policy and binding: the binding selects by the nonce and the policy says it, so that both must have been seen. */
export function canaryObjects(nonce: string, namespace: string): readonly [KubeObject, KubeObject] {
  const metadata = { name: CANARY_NAME, labels: { [MANAGED_LABEL]: MANAGED_VALUE } };
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  return [
    {
      apiVersion: apiVersionOf(NATIVE_POLICY),
      kind: NATIVE_POLICY.kind,
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: { matchLabels: { [NAMESPACE_NAME_LABEL]: namespace } },
          resourceRules: [rule],
        },
        matchConditions: [{ name: 'is-the-canary', expression: `object.metadata.name == '${CANARY_NAME}'` }],
        validations: [{ expression: 'false', message: sentenceOf(nonce), reason: 'Forbidden' }],
      },
    },
    {
      apiVersion: apiVersionOf(NATIVE_POLICY_BINDING),
      kind: NATIVE_POLICY_BINDING.kind,
      metadata,
      spec: {
        policyName: CANARY_NAME,
        validationActions: ['Deny'],
        matchResources: { objectSelector: { matchLabels: { [CANARY_LABEL]: nonce } } },
      },
    },
  ];
}

/** Name of the entry of a nonce: three labels and more. */
export function canaryEntryName(nonce: string): string {
  return `canary-${nonce}.gate.pacto.trianalab.io`;
}

/**
 * An entry that nobody answers: the server does not know the policy of its path, and failure policy Fail refuses then.
 * It selects objects with the label of the nonce alone, so that it is in nobody's way.
 */
export function canaryEntry(
  nonce: string,
  at: { readonly target: ClientTarget; readonly caBundle?: string; readonly namespace: string },
): ValidatingEntry {
  return {
    name: canaryEntryName(nonce),
    clientConfig: clientConfigOf(at, policyPath(CANARY_NAME)),
    rules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['configmaps'],
        scope: 'Namespaced',
      },
    ],
    failurePolicy: 'Fail',
    matchPolicy: 'Exact',
    namespaceSelector: {
      matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator: 'In', values: [at.namespace] }],
    },
    objectSelector: { matchLabels: { [CANARY_LABEL]: nonce } },
    sideEffects: 'None',
    timeoutSeconds: 5,
    admissionReviewVersions: REVIEW_VERSIONS,
  };
}

export type Refuses = (said: string) => boolean;

/**
 * The native sentence, word for word with what the API server puts before it (vap.md A01): a webhook that evaluates
 * policies and repeats it has another beginning.
 */
export function nativeRefusal(nonce: string): Refuses {
  const wanted = `configmaps "${CANARY_NAME}" is forbidden: ValidatingAdmissionPolicy '${CANARY_NAME}' with binding '${CANARY_NAME}' denied request: ${sentenceOf(nonce)}`;
  return (said) => said === wanted;
}

/** What an API server says that has called the entry and got no answer that it can use. */
export function entryRefusal(nonce: string): Refuses {
  return (said) => said.includes(`failed calling webhook "${canaryEntryName(nonce)}"`);
}

export interface ProofOptions {
  readonly servers: readonly ApiServer[];
  readonly clock: Clock;
  readonly namespace: string;
  readonly nonce: string;
  readonly refuses: Refuses;
  readonly signal?: AbortSignal;
}

/** Asks every API server until it refuses, and then that it goes on to: one miss is the end. */
export async function prove(options: ProofOptions): Promise<Proof> {
  const answers = await Promise.all(options.servers.map((server) => proveOne(server, options)));
  const failed = answers.find((answer) => !answer.ok);
  if (failed !== undefined) return failed;
  // Of all, not one that was reached.
  if (answers.every((answer) => answer === UNREACHED))
    return { ok: false, why: 'no API server could be reached' };
  return { ok: true };
}

/** An API server that cannot be reached from here proves nothing, and disproves nothing (design decision 19). */
const UNREACHED: Proof = { ok: true };

async function proveOne(server: ApiServer, options: ProofOptions): Promise<Proof> {
  const { clock, signal } = options;
  const settledBy = clock.monotonic() + SETTLE_MS;
  for (;;) {
    const answer = await ask(server, options);
    if (answer === 'unreachable') return UNREACHED;
    if (answer === 'refused') break;
    if (clock.monotonic() >= settledBy) return { ok: false, why: `${server.name}: ${answer.why}` };
    await sleep(clock, SETTLE_INTERVAL_MS, signal);
  }
  for (let time = 1; time < TIMES; time++) {
    await sleep(clock, OVER_MS / (TIMES - 1), signal);
    const answer = await ask(server, options);
    if (answer !== 'refused')
      return {
        ok: false,
        why: `${server.name}: ${answer === 'unreachable' ? 'it is no longer reached' : answer.why}`,
      };
  }
  return { ok: true };
}

async function ask(
  { cluster }: ApiServer,
  { namespace, nonce, refuses, signal }: ProofOptions,
): Promise<'refused' | 'unreachable' | { readonly why: string }> {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CANARY_NAME, namespace, labels: { [CANARY_LABEL]: nonce } },
  };
  try {
    await cluster.create(CONFIG_MAP, object, {
      dryRun: true,
      fieldManager: FIELD_MANAGER,
      ...(signal !== undefined && { signal }),
    });
    return { why: 'the canary was let pass' };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiRefusal) {
      if (refuses(error.said)) return 'refused';
      return { why: `the canary was refused in other words: ${messageOf(error)}` };
    }
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_UNREACHABLE') return 'unreachable';
    if (error instanceof GateError) return { why: messageOf(error) };
    throw error;
  }
}
