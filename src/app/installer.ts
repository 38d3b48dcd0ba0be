/**
 * The role installer: a process of its own that writes webhook entries, native policies and the status of policies,
 * and answers nothing but probes and metrics (design decision 18).
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { InstallerDesired } from './installer-desired.ts';
import { followedByInstaller } from './installer-watches.ts';
import { metricsListener, openTls, probesListener } from './listeners.ts';
import { openMetrics } from './metrics.ts';
import type { AppParts } from './parts.ts';
import { openPolicySources, type PolicySources } from './policy-sources.ts';
import { gateNamespaceOf, targetOf } from './target.ts';
import { sourceOf } from './state.ts';
import { createApiServers } from '../cluster/api-servers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { openCluster, type ClusterSource } from '../cluster/open.ts';
import { followServerVersion, type ServerVersionFollower } from '../cluster/server-version.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { createCallers, type Callers } from '../http/callers.ts';
import { publicBundle } from '../http/certificate.ts';
import { createDrain } from '../http/drain.ts';
import { createReadiness } from '../http/probes.ts';
import { createReviewCap } from '../http/review-cap.ts';
import type { Listener } from '../http/server.ts';
import { readTogether, watchFiles } from '../http/watched-files.ts';
import { startInstaller } from '../install/installer.ts';
import { startLeader } from '../cluster/leader.ts';
import { FIELD_MANAGER, INSTALLER_LEASE } from '../install/names.ts';
import { createServerProbe } from '../install/server-probe.ts';
import { RoundLog } from './installer-log.ts';
import type { Metrics } from '../metrics.ts';

export interface InstallerApp {
  readonly urls: { readonly probes: string; readonly metrics?: string };
  /** Stops writing, lets another installer lead, and closes everything. */
  stop(): Promise<void>;
}

/** @throws GateError for what an operator must mend first; nothing is left running then. */
export async function startInstallerApp(config: Config, parts: AppParts): Promise<InstallerApp> {
  const undo: (() => Promise<void> | void)[] = [];
  try {
    return await start(config, parts, undo);
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  }
}

async function start(
  config: Config,
  parts: AppParts,
  undo: (() => Promise<void> | void)[],
): Promise<InstallerApp> {
  const { clock, log } = parts;
  const namespace = gateNamespaceOf(config);
  const target = targetOf(config);
  const source = sourceOf(config);
  if (source === undefined) throw needs('cluster.source', 'a cluster to write to');
  if (target === undefined) throw needs('installer.service', 'where the webhook servers are');
  if (namespace === undefined)
    throw needs('installer.namespace', 'the namespace of the gate, or POD_NAMESPACE in the environment');
  const cluster = await openCluster(source, clock, ({ code, message, ...where }) => {
    log.warn('cluster', { ...where, err: new GateError(code, message) });
  });
  undo.push(() => cluster.close());
  const known = await openKnown(config, parts, cluster);
  undo.push(() => known.close());
  const metrics = openMetrics([], log);
  const work = startWork({ config, parts, source, cluster, namespace, known, target });
  undo.push(() => work.stop());
  metrics.observeInstaller(() => work.facts());
  metrics.observeWatches(() => [...known.sources.watches(), ...work.watches()]);
  const drain = createDrain({ clock, drainMs: 0 });
  const readiness = createReadiness(drain);
  readiness.add({ name: 'policies', run: () => known.sources.unsynced() });
  readiness.add({
    name: 'version',
    run: () =>
      known.version.current() === undefined ? 'the version of the API server is not known yet' : undefined,
  });
  const served = await listen(config, parts, { drain, readiness, metrics, cluster, source });
  undo.push(...served.listeners.map((listener) => () => listener.close()));
  for (const listener of served.listeners) drain.add(listener);
  drain.add({
    async close() {
      await work.stop();
      await known.close();
      await cluster.close();
      served.close();
    },
  });
  for (const [listener, url] of Object.entries(served.urls)) log.info('listening', { listener, url });
  return { urls: served.urls, stop: () => drain.begin() };
}

function needs(key: string, what: string): GateError {
  return new GateError('GATE_CONFIG_INVALID', `${key}: the role installer needs ${what}; set it`);
}

interface Known {
  readonly sources: PolicySources;
  readonly version: ServerVersionFollower;
  /** PEM, of the file as it is now. */
  caBundle(): string | undefined;
  onBundle(listener: () => void): void;
  close(): Promise<void>;
}

async function openKnown(config: Config, parts: AppParts, cluster: Cluster): Promise<Known> {
  const { clock, log } = parts;
  const bundle = await followBundle(config, parts);
  const sources = await openPolicySources(config, { cluster, clock, log });
  const version = followServerVersion(cluster, clock, (error) => {
    log.warn('the version of the API server is not known', { err: error });
  });
  return {
    sources,
    version,
    ...bundle,
    async close() {
      version.stop();
      bundle.close();
      await sources.close();
    },
  };
}

interface Bundle extends Pick<Known, 'caBundle' | 'onBundle'> {
  close(): void;
}

async function followBundle(config: Config, { clock, log }: AppParts): Promise<Bundle> {
  const { caFile } = config.installer;
  if (caFile === undefined)
    return { caBundle: () => undefined, onBundle: () => undefined, close: () => undefined };
  let listener: () => void = () => undefined;
  const first = await readTogether([caFile]);
  let bundle = publicBundle(first[0] ?? '', caFile);
  const watch = watchFiles({
    paths: [caFile],
    first,
    directories: [dirname(caFile)],
    clock,
    take([pem = '']) {
      bundle = publicBundle(pem, caFile);
      log.info('CA certificates replaced', { file: caFile });
      listener();
    },
    onError: (error) => log.error('CA certificates not taken', { err: error }),
  });
  return {
    caBundle: () => bundle,
    onBundle(own) {
      listener = own;
    },
    close: () => watch.close(),
  };
}

interface WorkParts {
  readonly config: Config;
  readonly parts: AppParts;
  readonly source: ClusterSource;
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly known: Known;
  readonly target: NonNullable<ReturnType<typeof targetOf>>;
}

interface Work extends Pick<RoundLog, 'facts'> {
  watches(): ReturnType<PolicySources['watches']>;
  stop(): Promise<void>;
}

function startWork({ config, parts, source, cluster, namespace, known, target }: WorkParts): Work {
  const { clock, log } = parts;
  const rounds = new RoundLog(log, () => leader.leads());
  const desired = new InstallerDesired(config, { clock, cluster, known, target, log });
  const apiServers = createApiServers(source, cluster, clock);
  const watches = followedByInstaller({ cluster, clock, log }, () => installer.wake());
  const leader = startLeader({
    cluster,
    clock,
    namespace,
    name: INSTALLER_LEASE,
    fieldManager: FIELD_MANAGER,
    role: 'installer',
    identity: `${hostname()}_${randomUUID()}`,
    random: Math.random,
    onChange(leads) {
      log.info(leads ? 'installer leads' : 'installer does not lead', {});
      if (leads) installer.wake();
    },
    onError: (error) => log.warn('lease of the installer not renewed', { err: error }),
  });
  const installer = startInstaller({
    cluster,
    clock,
    leader,
    enforcement: config.policies.enforcement,
    namespace,
    probe: createServerProbe(clock),
    apiServers: () => apiServers.all(),
    desired: () => desired.current(),
    report: (...given) => desired.report(...given),
    onRound(outcome) {
      rounds.note(outcome);
      if (outcome.ok && outcome.result.servesNative) watches.followNative();
    },
  });
  const stopListening = known.sources.onChange(() => installer.wake());
  known.onBundle(() => installer.wake());
  void known.version.first.then(() => installer.wake());
  return {
    facts: () => rounds.facts(),
    watches: () => watches.facts(),
    async stop() {
      stopListening();
      await installer.stop();
      await leader.stop();
      await watches.stop();
      await apiServers.close();
    },
  };
}

interface Served {
  readonly listeners: readonly Listener[];
  readonly urls: InstallerApp['urls'];
  close(): void;
}

async function listen(
  config: Config,
  parts: AppParts,
  with_: {
    readonly drain: ReturnType<typeof createDrain>;
    readonly readiness: ReturnType<typeof createReadiness>;
    readonly metrics: Metrics;
    readonly cluster: Cluster;
    readonly source: ClusterSource;
  },
): Promise<Served> {
  const { drain, readiness, metrics } = with_;
  const common = { config, parts, drain };
  const isTls = config.metrics.enabled && !config.metrics.plain;
  const tls = isTls ? await openTls(config, parts) : undefined;
  const listeners: Listener[] = [];
  try {
    const probes = await probesListener(common, readiness);
    listeners.push(probes);
    const callers = callersOf(config, parts, with_.cluster, with_.source);
    const scraped = await metricsListener(common, { metrics, tls, callers });
    if (scraped !== undefined) listeners.push(scraped);
    const urls = {
      probes: (await probes.listen()).url,
      ...(scraped === undefined ? {} : { metrics: (await scraped.listen()).url }),
    };
    return { listeners, urls, close: () => tls?.close() };
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close()));
    tls?.close();
    throw error;
  }
}

/** Files can tell nothing of users. */
function callersOf(
  { webhooks }: Config,
  { clock }: AppParts,
  cluster: Cluster,
  { source }: ClusterSource,
): Callers | undefined {
  if (source === 'directory') return undefined;
  const { audience } = webhooks.bearer;
  const audiences = audience === undefined ? [] : [audience];
  return createCallers({ cluster, clock, cap: createReviewCap({ clock }), audiences });
}
