/** The server's own decision, without a server: the same edge, asked in this process. */
import { webhooksOf } from '../app-webhooks.ts';
import type { Clock } from '../clock.ts';
import { createReader } from '../cluster/cache.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NAMESPACE } from '../cluster/kinds.ts';
import type { AdmissionRequest, KubeObject } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { silentLog } from '../log.ts';
import type { DecisionVerdict } from '../metrics.ts';
import { createEdge, type Edge } from '../webhooks/edge.ts';
import { asks, NAMESPACE_NAME_LABEL } from './entry-match.ts';
import { entriesOf } from './generate-webhooks.ts';

/** What one entry answered. */
export interface EntryAnswer {
  /** Of the entry, as kubectl shows it. */
  readonly webhook: string;
  readonly outcome: DecisionVerdict;
  readonly allowed: boolean;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
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
  clock: Clock,
): Promise<Decider> {
  const version = await cluster?.serverVersion();
  const reader = createReader({ mode: 'live', cluster: cluster ?? noCluster, reflectors: [], clock });
  let outcome: DecisionVerdict | undefined;
  const edge = createEdge({
    webhooks: webhooksOf(config, () => version),
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
  const knowsByName = configuration.webhooks.every((entry) =>
    entry.namespaceSelector.matchExpressions.every(({ key }) => key === NAMESPACE_NAME_LABEL),
  );
  return {
    async decide(request, body) {
      // The name needs no look-up, and one that fails would hide decisions that need none.
      const namespace = knowsByName ? undefined : await namespaceOf(cluster, request);
      const answers: EntryAnswer[] = [];
      for (const entry of configuration.webhooks) {
        if (!asks(entry, request, namespace)) continue;
        outcome = undefined;
        const path = new URL(entry.clientConfig.url ?? ADDRESS).pathname;
        const response = await ask(edge, { path, body, clock });
        // The edge counts every decision; that it counted none means that there is no such webhook.
        if (outcome === undefined)
          throw new GateError('GATE_INTERNAL', `entry ${entry.name}: nothing answers ${path}`);
        answers.push({ webhook: entry.name, outcome, ...response });
      }
      return answers;
    },
  };
}

const noCluster: Pick<Cluster, 'get'> = {
  get: (kind) =>
    Promise.reject(
      new GateError(
        'GATE_UNSYNCED',
        `cannot read ${kind.resource}: there is no cluster; give --cluster-directory or --cluster-kubeconfig`,
      ),
    ),
};

async function namespaceOf(
  cluster: Cluster | undefined,
  { namespace }: AdmissionRequest,
): Promise<KubeObject | undefined> {
  return namespace === undefined ? undefined : await cluster?.get(NAMESPACE, { name: namespace });
}

interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
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
    ...(status === undefined ? {} : { code: status.code, reason: status.reason, message: status.message }),
    warnings,
    auditAnnotations,
  };
}
