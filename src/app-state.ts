/** What the program knows of the cluster: the way to it, what is watched, and how decisions read. */
import type { AppParts } from './app-parts.ts';
import type { Clock } from './clock.ts';
import type { Cluster } from './cluster/cluster.ts';
import { NODE, POD, type Kind } from './cluster/kinds.ts';
import type { KubeObject } from './cluster/objects.ts';
import { createReader, type ReaderSource } from './cluster/cache.ts';
import { openCluster, type ClusterSource } from './cluster/open.ts';
import { followServerVersion, type ServerVersionFollower } from './cluster/server-version.ts';
import { createReflector, type Reflector, type ReflectorReport } from './cluster/watch.ts';
import type { Config } from './config.ts';
import { GateError } from './errors.ts';
import { createCallers, type Callers } from './http/callers.ts';
import type { WatchFacts } from './metrics.ts';
import { createReviewCap } from './http/review-cap.ts';

export interface State {
  readonly reader: ReaderSource;
  readonly serverVersion: () => { readonly major: number; readonly minor: number } | undefined;
  /** For readiness: what has not been read once yet. A watch that is stale later on does not count (decision 14). */
  unsynced(): string | undefined;
  /** For the metrics: every watch as it is just now. */
  watches(): readonly WatchFacts[];
  /** Who may call, by the cluster's word; undefined without a cluster that can tell, as files cannot. */
  readonly callers: Callers | undefined;
  /** What a user may do, by the cluster's word; undefined as with `callers`. */
  readonly reviewAccess: Cluster['reviewAccess'] | undefined;
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
  const reader = createReader({ mode: config.state, cluster, reflectors, clock });
  const { audience } = config.webhooks.bearer;
  const watching =
    config.state === 'cached'
      ? watchWhatIdentityNeeds(config, parts, cluster, version, reflectors)
      : undefined;
  return {
    reader,
    serverVersion: () => version.current(),
    unsynced() {
      if (versionCounts && version.current() === undefined)
        return 'the version of the API server is not known yet';
      const missing = reflectors.find((reflector) => !reflector.synced());
      return missing === undefined ? undefined : `${missing.kind.resource} are not read yet`;
    },
    watches: () =>
      reflectors.map((reflector) => ({
        kind: reflector.kind.kind,
        namespace: reflector.namespace ?? '',
        objects: reflector.store.size,
        synced: reflector.synced(),
        silentSeconds: Math.round(reflector.freshnessMs()) / 1_000,
      })),
    ...(source.source === 'directory' ? NOBODY : askable(cluster, clock, audience)),
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

function askable(cluster: Cluster, clock: Clock, audience: string | undefined): Askable {
  return {
    callers: createCallers({
      cluster,
      clock,
      cap: createReviewCap({ clock }),
      audiences: audience === undefined ? [] : [audience],
    }),
    reviewAccess: (question, options) => cluster.reviewAccess(question, options),
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
    reader: createReader({ mode: 'live', cluster, reflectors: [], clock }),
    serverVersion: () => undefined,
    unsynced: () => undefined,
    watches: () => [],
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
  const watch = (
    kind: Kind,
    rest: { namespace?: string; project?: (pod: KubeObject) => KubeObject },
  ): void => {
    if (stopped) return;
    const reflector = createReflector({
      cluster,
      kind,
      clock: parts.clock,
      random: Math.random,
      report: reporter(parts, kind),
      ...(rest.namespace === undefined ? {} : { select: { namespace: rest.namespace } }),
      ...(rest.project === undefined ? { metadataOnly: true } : { project: rest.project }),
    });
    reflectors.push(reflector);
    reflector.start();
  };
  const watchPods = (): void => {
    const namespaces = new Set(identity.agents.map((agent) => agent.slice(0, agent.indexOf('/'))));
    for (const namespace of namespaces) watch(POD, { namespace, project: agentPod });
  };
  if (identity.enabled) {
    if (identity.requireNodeUid) watch(NODE, {});
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

function reporter({ log }: AppParts, kind: Kind): (report: ReflectorReport) => void {
  return (report) => {
    switch (report.type) {
      case 'listed':
        log.info('watch synced', {
          kind: kind.kind,
          count: report.objects,
          durationMs: Math.round(report.tookMs),
        });
        return;
      case 'failed':
        log.warn('watch interrupted', {
          kind: kind.kind,
          requeueMs: Math.round(report.retryMs),
          err: report.error,
        });
        return;
      case 'expired':
        log.info('watch listed anew', { kind: kind.kind, code: report.code });
        return;
      case 'consumer-failed':
        log.error('watch consumer failed', { kind: kind.kind, err: report.error });
    }
  };
}
