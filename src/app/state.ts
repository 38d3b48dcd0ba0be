/** What the program knows of the cluster: the way to it, what is watched, and how decisions read. */
import type { AppParts } from './parts.ts';
import { paramKindsOf, wantsPolicies } from './policy-settings.ts';
import { startWatch, watchFacts, type Watch, type WatchOptions } from './watch.ts';
import type { Clock } from '../clock.ts';
import { createAccessReviews, type ReviewAccess } from '../cluster/access-reviews.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NAMESPACE, NODE, POD, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { createReader, type ReaderSource } from '../cluster/cache.ts';
import { openCluster, type ClusterSource } from '../cluster/open.ts';
import { followServerVersion, type ServerVersionFollower } from '../cluster/server-version.ts';
import type { Reflector } from '../cluster/watch.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { createCallers, type Callers } from '../http/callers.ts';
import type { LiveCallFacts, WatchFacts } from '../metrics.ts';
import { createReviewCap } from '../http/review-cap.ts';

export interface State {
  /** Undefined where there is none. */
  readonly cluster: Cluster | undefined;
  readonly reader: ReaderSource;
  readonly serverVersion: () => { readonly major: number; readonly minor: number } | undefined;
  /** For readiness: what has not been read once yet. A watch that is stale later on does not count (decision 14). */
  unsynced(): string | undefined;
  /** For the metrics: every watch as it is just now. */
  watches(): readonly WatchFacts[];
  /** Told from now on of each call to the API server that a decision waited for, when it has ended. */
  observeLiveCalls(listener: (facts: LiveCallFacts) => void): void;
  /** Who may call, by the cluster's word; undefined without a cluster that can tell, as files cannot. */
  readonly callers: Callers | undefined;
  /** What a user may do, by the cluster's word, capped for the process; undefined as with `callers`. */
  readonly reviewAccess: ReviewAccess | undefined;
  close(): Promise<void>;
}

/** The API server issues node claims from this minor on: from there no Pod is looked up by `auto`. */
const FIRST_MINOR_WITH_NODE_CLAIM = 30;

/** @throws GateError as openCluster. */
export async function openState(config: Config, parts: AppParts): Promise<State> {
  const source = sourceOf(config);
  if (source === undefined) return withoutCluster(parts);
  const { clock, log } = parts;
  const cluster = await openCluster(
    source,
    clock,
    ({ code, message, ...where }) => {
      log.warn(where.file === undefined ? 'cluster' : 'cluster file', {
        ...where,
        err: new GateError(code, message),
      });
    },
    (file) => log.info('cluster file in order again', { file }),
  );
  // Only `auto` asks how old the API server is.
  const versionCounts = config.identity.enabled && config.identity.podLookup === 'auto';
  const version = followServerVersion(cluster, clock, (error) => {
    log.warn('the version of the API server is not known', { err: error });
  });
  const reflectors: Reflector[] = [];
  let onLiveCall: (facts: LiveCallFacts) => void = () => undefined;
  const report = (facts: LiveCallFacts): void => onLiveCall(facts);
  const reader = createReader({ mode: config.state, cluster, reflectors, clock, report });
  const { audience } = config.webhooks.bearer;
  const watching =
    config.state === 'cached'
      ? watchWhatIdentityNeeds(config, parts, cluster, version, reflectors)
      : undefined;
  const ofPolicies = config.state === 'cached' ? watchWhatPoliciesNeed(config, parts, cluster) : [];
  const optional = [...ofPolicies, ...(await watchesOfDelivery(config, parts, cluster))];
  reflectors.push(...optional.map(({ reflector }) => reflector));
  // What is not served holds no parameters and no Stages, and that is known.
  const isAwaited = (reflector: Reflector): boolean =>
    !reflector.synced() && !optional.some((watch) => watch.reflector === reflector && watch.isMissing());
  return {
    cluster,
    reader,
    serverVersion: () => version.current(),
    unsynced() {
      if (versionCounts && version.current() === undefined)
        return 'the version of the API server is not known yet';
      const missing = reflectors.find(isAwaited);
      return missing === undefined ? undefined : `${missing.kind.resource} are not read yet`;
    },
    watches: () => reflectors.map(watchFacts),
    observeLiveCalls(listener) {
      onLiveCall = listener;
    },
    ...(source.source === 'directory' ? NOBODY : askable(cluster, clock, { audience, report })),
    async close() {
      version.stop();
      await watching?.stop();
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
      await cluster.close();
    },
  };
}

type Askable = Pick<State, 'callers' | 'reviewAccess'>;

/** Files can tell nothing of users. */
const NOBODY: Askable = { callers: undefined, reviewAccess: undefined };

function askable(
  cluster: Cluster,
  clock: Clock,
  {
    audience,
    report,
  }: { readonly audience: string | undefined; readonly report: (facts: LiveCallFacts) => void },
): Askable {
  return {
    callers: createCallers({
      cluster,
      clock,
      cap: createReviewCap({ clock }),
      audiences: audience === undefined ? [] : [audience],
    }),
    reviewAccess: createAccessReviews({ cluster, clock, report }),
  };
}

export function sourceOf({ cluster, environment }: Config): ClusterSource | undefined {
  switch (cluster.source) {
    case 'none':
      return undefined;
    case 'directory':
      return {
        source: 'directory',
        path: cluster.directory ?? '',
        watch: true,
        ...(cluster.directoryVersion === undefined ? {} : { version: cluster.directoryVersion }),
      };
    case 'kubeconfig':
      return {
        source: 'kubeconfig',
        paths: cluster.kubeconfigFiles,
        ...(cluster.context === undefined ? {} : { context: cluster.context }),
      };
    case 'in-cluster':
      return {
        source: 'in-cluster',
        host: environment.apiServer?.host ?? '',
        port: environment.apiServer?.port ?? '',
      };
  }
}

/** Decisions that need nothing of a cluster are still made; those that do are failures, and say so. */
function withoutCluster({ clock }: AppParts): State {
  const refuse = (kind: Kind): never => {
    throw new GateError(
      'GATE_UNSYNCED',
      `cannot read ${kind.resource}: there is no cluster; set cluster.source, cluster.kubeconfig or cluster.directory`,
    );
  };
  const cluster = { get: refuse, list: refuse };
  return {
    cluster: undefined,
    reader: createReader({ mode: 'live', cluster, reflectors: [], clock }),
    serverVersion: () => undefined,
    unsynced: () => undefined,
    watches: () => [],
    observeLiveCalls: () => undefined,
    ...NOBODY,
    close: () => Promise.resolve(),
  };
}

/**
 * Starts the watches that identity decisions read: agent Pods only where Pods are looked up at all, which with `auto`
 * is known once the API server has told its version; Nodes only where their uid counts.
 */
function watchWhatIdentityNeeds(
  { identity }: Config,
  parts: AppParts,
  cluster: Cluster,
  version: ServerVersionFollower,
  reflectors: Reflector[],
): { stop(): Promise<void> } {
  let stopped = false;
  const watch = (kind: Kind, rest: Pick<WatchOptions, 'select' | 'project' | 'metadataOnly'>): void => {
    if (stopped) return;
    reflectors.push(startWatch({ cluster, kind, ...rest }, parts).reflector);
  };
  const watchPods = (): void => {
    const namespaces = new Set(identity.agents.map((agent) => agent.slice(0, agent.indexOf('/'))));
    for (const namespace of namespaces) watch(POD, { select: { namespace }, project: agentPod });
  };
  if (identity.enabled) {
    if (identity.requireNodeUid) watch(NODE, { metadataOnly: true });
    if (identity.podLookup === 'always') watchPods();
    if (identity.podLookup === 'auto') {
      void version.first.then(({ major, minor }) => {
        if (major === 1 && minor < FIRST_MINOR_WITH_NODE_CLAIM) watchPods();
      });
    }
  }
  return {
    stop: () => {
      stopped = true;
      return Promise.resolve();
    },
  };
}

/**
 * Starts the watches of what policies look up: namespaces, for their labels and for expressions, and every kind that
 * may be a parameter. Expressions may read any field of them.
 */
function watchWhatPoliciesNeed(config: Config, parts: AppParts, cluster: Cluster): readonly Watch[] {
  if (!wantsPolicies(config)) return [];
  const { paramKinds } = config.policies;
  return [NAMESPACE, ...paramKindsOf(paramKinds)].map((kind) =>
    startWatch({ cluster, kind, whole: true }, parts),
  );
}

/** Loaded where the delivery gate is switched on alone: most servers start without it. */
async function watchesOfDelivery(
  config: Config,
  parts: AppParts,
  cluster: Cluster,
): Promise<readonly Watch[]> {
  if (!config.delivery.enabled || config.state === 'live') return [];
  const { watchWhatDeliveryNeeds } = await import('./delivery.ts');
  return watchWhatDeliveryNeeds(config, parts, cluster);
}

/** All that a Pod look-up compares (node-identity.md §3.1). */
function agentPod(pod: KubeObject): KubeObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = pod.metadata;
  const { serviceAccountName, nodeName } = (pod['spec'] ?? {}) as Record<string, unknown>;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: { name, namespace, uid, resourceVersion },
    spec: { serviceAccountName, nodeName },
  };
}
