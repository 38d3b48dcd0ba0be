/** The server's own decision, without a server: the same edge, asked in this process. */
import { openDelivery, openPolicies, webhooksOf } from '../app/webhooks.ts';
import type { Clock } from '../clock.ts';
import { createReader } from '../cluster/cache.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Kind } from '../cluster/kinds.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { stringifyJson } from '../json.ts';
import { silentLog, type Log } from '../log.ts';
import type { DecisionVerdict } from '../metrics.ts';
import { STAMPS_PATH } from '../policies/delivery/entry-names.ts';
import type { PatchOperation } from '../policies/verdict.ts';
import { createEdge, type Edge } from '../webhooks/edge.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { ErrorStatus } from './kubectl-error.ts';
import { openReviewEntries } from './review-entries.ts';
import { isStamped, withStamps } from './stamped-request.ts';

/** What one entry answered. */
export interface EntryAnswer {
  /** Of the entry, as kubectl shows it. */
  readonly webhook: string;
  readonly outcome: DecisionVerdict;
  readonly allowed: boolean;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: ErrorStatus['details'];
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export interface Decider {
  /** @param body the review as the API server would send it. */
  decide(request: AdmissionRequest, body: Uint8Array): Promise<readonly EntryAnswer[]>;
}

/** Beyond what an API server gives by default nobody waits. */
const TIMEOUT_SECONDS = 10;

export async function createDecider(
  config: Config,
  cluster: Cluster | undefined,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Decider> {
  const version = await cluster?.serverVersion();
  const reader = createReader({ mode: 'live', cluster: cluster ?? noCluster, reflectors: [], clock });
  let outcome: DecisionVerdict | undefined;
  const reviewAccess = askedOf(config, cluster);
  // One list each: a review is of one moment.
  const policies = await openPolicies({ ...config, state: 'live' }, { clock, log, reviewAccess, cluster });
  const unread = policies?.sources.doubt();
  if (unread !== undefined) throw unread;
  const edge = createEdge({
    webhooks: webhooksOf(config, {
      serverVersion: () => version,
      policies,
      delivery: await openDelivery(config, { clock, reviewAccess }),
    }),
    readerFor: () => reader.forRequest(),
    clock,
    log: silentLog(),
    metrics: {
      decision: ({ verdict }) => {
        outcome = verdict;
      },
      refusal: () => undefined,
    },
  });
  const entries = await openReviewEntries(config, { cluster, version, policies, log });
  return {
    async decide(request, body) {
      const stamped = config.delivery.enabled ? await stampedBy(edge, { request, clock }) : undefined;
      const { asked, refused } = await entries.about(stamped?.request ?? request);
      const answers: EntryAnswer[] = [...refused];
      for (const { name, path } of asked) {
        outcome = undefined;
        const response = await ask(edge, { path, body: stamped?.body ?? body, clock });
        // The edge counts every decision; that it counted none means that there is no such webhook.
        if (outcome === undefined)
          throw new GateError('GATE_INTERNAL', `entry ${name}: nothing answers ${path}`);
        answers.push({ webhook: name, outcome, ...response });
      }
      return answers;
    },
  };
}

/** Files cannot tell who may do what. */
function askedOf({ cluster: { source } }: Config, cluster: Cluster | undefined): ReviewAccess | undefined {
  if (cluster === undefined || source === 'directory') return undefined;
  return (question, options) => cluster.reviewAccess(question, options);
}

const refuse = (kind: Kind): Promise<never> =>
  Promise.reject(
    new GateError(
      'GATE_UNSYNCED',
      `cannot read ${kind.resource}: there is no cluster; give --cluster-directory or --cluster-kubeconfig`,
    ),
  );

const noCluster: Pick<Cluster, 'get' | 'list'> = { get: refuse, list: refuse };

interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: ErrorStatus;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly patch?: string;
}

async function ask(
  edge: Edge,
  of: { readonly path: string; readonly body: Uint8Array; readonly clock: Clock },
): Promise<Omit<EntryAnswer, 'webhook' | 'outcome'> & { readonly patch?: string }> {
  const answer = await edge.answer({
    method: 'POST',
    path: of.path,
    query: `timeout=${String(TIMEOUT_SECONDS)}s`,
    headers: { 'content-type': 'application/json' },
    body: of.body,
    receivedMs: of.clock.monotonic(),
  });
  if (answer.status !== 200) throw new GateError('GATE_INPUT_FILE', answer.body.trim());
  const { response } = JSON.parse(answer.body) as { readonly response: AdmissionResponse };
  const { allowed, status, warnings = [], auditAnnotations = {}, patch } = response;
  return {
    allowed,
    ...(status === undefined ? {} : refusalOf(status)),
    warnings,
    auditAnnotations,
    ...(patch === undefined ? {} : { patch }),
  };
}

/** The mutating entry goes first, and the others see what it wrote. */
async function stampedBy(
  edge: Edge,
  { request, clock }: { readonly request: AdmissionRequest; readonly clock: Clock },
): Promise<{ readonly request: AdmissionRequest; readonly body: Uint8Array } | undefined> {
  if (!isStamped(request)) return undefined;
  const { patch } = await ask(edge, { path: STAMPS_PATH, body: bodyOf(request), clock });
  if (patch === undefined) return undefined;
  const stamped = withStamps(
    request,
    JSON.parse(Buffer.from(patch, 'base64').toString()) as PatchOperation[],
  );
  return { request: stamped, body: bodyOf(stamped) };
}

function bodyOf(request: AdmissionRequest): Uint8Array {
  return Buffer.from(stringifyJson({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }));
}

function refusalOf({ code, reason, message, details }: ErrorStatus): Partial<EntryAnswer> {
  return { code, reason, message, ...(details === undefined ? {} : { details }) };
}
