/** The server's own decision, without a server: the same edge, asked in this process. */
import { openPolicies, webhooksOf } from '../app-webhooks.ts';
import type { Clock } from '../clock.ts';
import { createReader } from '../cluster/cache.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NAMESPACE, type Kind } from '../cluster/kinds.ts';
import type { AdmissionRequest, KubeObject } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { silentLog, type Log } from '../log.ts';
import type { DecisionVerdict } from '../metrics.ts';
import { NAMESPACE_NAME_LABEL, type ValidatingEntry } from '../policies/entry.ts';
import { EntryReach, type Reach } from '../policies/entry-reach.ts';
import { Attributes, nameInAnswer } from '../policies/vap/attributes.ts';
import { policyEntryName, policyPath } from '../policies/vap/entry-name.ts';
import { createEdge, type Edge } from '../webhooks/edge.ts';
import type { PolicySet } from '../policies/vap/policy-set.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import { entriesOf } from './generate-webhooks.ts';
import type { ErrorStatus } from './kubectl-error.ts';

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

/** Stands in the entries where the server's address would: only the path counts here. */
const ADDRESS = 'https://pacto-gate.invalid';
/** As `generate webhooks` writes by default. */
const TIMEOUT_SECONDS = 10;

export async function createDecider(
  config: Config,
  cluster: Cluster | undefined,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Decider> {
  const version = await cluster?.serverVersion();
  const reader = createReader({ mode: 'live', cluster: cluster ?? noCluster, reflectors: [], clock });
  let outcome: DecisionVerdict | undefined;
  // One list each: a review is of one moment.
  const policies = await openPolicies(
    { ...config, state: 'live' },
    { clock, log, reviewAccess: askedOf(config, cluster), cluster },
  );
  const unread = policies?.sources.doubt();
  if (unread !== undefined) throw unread;
  const edge = createEdge({
    webhooks: webhooksOf(config, {
      serverVersion: () => version,
      policies,
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
  const { configuration } = entriesOf(config, {
    target: { url: ADDRESS },
    timeoutSeconds: TIMEOUT_SECONDS,
    ...(version === undefined ? {} : { kubeMinor: version.minor }),
  });
  const knowsByName = configuration.webhooks.every(selectsByName);
  const reach = new EntryReach();
  return {
    async decide(request, body) {
      // The name needs no look-up, and one that fails would hide decisions that need none.
      const namespace = knowsByName ? undefined : await namespaceOf(cluster, request);
      const answers: EntryAnswer[] = [];
      const asked: { readonly name: string; readonly path: string }[] = [];
      for (const entry of configuration.webhooks) {
        const labels = namespace?.metadata.labels;
        const found = reach.of(entry, request, labels === undefined ? {} : { namespaceLabels: labels });
        if (found.reach === 'refused') answers.push(refusedBefore(entry, request, found));
        else if (found.reach !== 'passed')
          asked.push({ name: entry.name, path: new URL(entry.clientConfig.url ?? ADDRESS).pathname });
      }
      for (const { name, path } of [...asked, ...policyEntries(policies?.set(), request)]) {
        outcome = undefined;
        const response = await ask(edge, { path, body, clock });
        // The edge counts every decision; that it counted none means that there is no such webhook.
        if (outcome === undefined)
          throw new GateError('GATE_INTERNAL', `entry ${name}: nothing answers ${path}`);
        answers.push({ webhook: name, outcome, ...response });
      }
      return answers;
    },
  };
}

function selectsByName({ namespaceSelector }: ValidatingEntry): boolean {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector;
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)].every(
    (key) => key === NAMESPACE_NAME_LABEL,
  );
}

/** The API server itself refuses what it cannot decide about, and asks nobody (vap.md C08). */
function refusedBefore(
  { name }: ValidatingEntry,
  request: AdmissionRequest,
  { error }: Extract<Reach, { reach: 'refused' }>,
): EntryAnswer {
  const attributes = new Attributes(request);
  const { group, resource } = attributes.resource;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return {
    webhook: name,
    outcome: 'failed-closed',
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message: `${qualified} "${nameInAnswer(attributes)}" is forbidden: ${error}`,
    warnings: [],
    auditAnnotations: {},
  };
}

/** Files cannot tell who may do what. */
function askedOf({ cluster: { source } }: Config, cluster: Cluster | undefined): ReviewAccess | undefined {
  if (cluster === undefined || source === 'directory') return undefined;
  return (question, options) => cluster.reviewAccess(question, options);
}

/** Entries of the policies that may be about the request. */
function policyEntries(
  set: PolicySet | undefined,
  { operation, resource, requestResource = resource }: AdmissionRequest,
): readonly { readonly name: string; readonly path: string }[] {
  return (set?.candidates(operation, [requestResource, resource]) ?? []).map(({ compiled: { policy } }) => ({
    name: policyEntryName(policy.name),
    path: policyPath(policy.name),
  }));
}

const refuse = (kind: Kind): Promise<never> =>
  Promise.reject(
    new GateError(
      'GATE_UNSYNCED',
      `cannot read ${kind.resource}: there is no cluster; give --cluster-directory or --cluster-kubeconfig`,
    ),
  );

const noCluster: Pick<Cluster, 'get' | 'list'> = { get: refuse, list: refuse };

async function namespaceOf(
  cluster: Cluster | undefined,
  { namespace }: AdmissionRequest,
): Promise<KubeObject | undefined> {
  return namespace === undefined ? undefined : await cluster?.get(NAMESPACE, { name: namespace });
}

interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: ErrorStatus;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

async function ask(
  edge: Edge,
  of: { readonly path: string; readonly body: Uint8Array; readonly clock: Clock },
): Promise<Omit<EntryAnswer, 'webhook' | 'outcome'>> {
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
  const { allowed, status, warnings = [], auditAnnotations = {} } = response;
  return {
    allowed,
    ...(status === undefined ? {} : refusalOf(status)),
    warnings,
    auditAnnotations,
  };
}

function refusalOf({ code, reason, message, details }: ErrorStatus): Partial<EntryAnswer> {
  return { code, reason, message, ...(details === undefined ? {} : { details }) };
}
