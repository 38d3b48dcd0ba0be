/**
 * The composition root: configuration → parts → start and stop. Start order: cluster, TLS, webhooks, listeners, then
 * the first sync, and only then ready (webhook-operations.md R3).
 */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openAdmission, withoutReviews, type Admission } from './app/admission.ts';
import {
  metricsListener,
  nobodyVouches,
  openTls,
  probesListener,
  type ListenerParts,
} from './app/listeners.ts';
import type { ApiListener } from './app/api-listener.ts';
import type { AppParts } from './app/parts.ts';
import type { ReconcilerPart } from './app/reconciler-part.ts';
import { openState, type State } from './app/state.ts';
import type { Config } from './config.ts';
import { GateError, messageOf } from './errors.ts';
import { createDrain } from './http/drain.ts';
import { usernamesGuard, type Callers } from './http/callers.ts';
import { certificateCheck, createReadiness, type Readiness } from './http/probes.ts';
import { reportRefusals } from './http/refusals.ts';
import { createListener, type Listener } from './http/server.ts';
import type { TlsSource } from './http/tls.ts';
import type { RootLog } from './log.ts';
import { isReviewHead } from './webhooks/layout.ts';
import { makeDirectory } from './make-directory.ts';

export interface App {
  readonly urls: {
    /** Of the role webhooks. */
    readonly admission?: string;
    readonly probes: string;
    readonly metrics?: string;
    /** Of the role reconciler, where anybody could call it. */
    readonly api?: string;
  };
  /** PEM of the CA that callers must trust; undefined where the certificate came without one. */
  readonly caBundle: string | undefined;
  /** Names and paths of what is served. */
  readonly webhooks: readonly { readonly name: string; readonly path: string }[];
  /** Readiness off, serve on with `Connection: close`, then close everything. A second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts everything that the configuration names.
 * @throws GateError for what an operator must mend first (files, ports, certificates); nothing is left running then.
 */
export async function startApp(given: Config, parts: AppParts): Promise<App> {
  const { clock, log } = parts;
  const config = admits(given) ? given : withoutReviews(given);
  const undo: (() => Promise<void> | void)[] = [];
  const serving = Promise.withResolvers<void>();
  try {
    const state = await openState(config, parts);
    undo.push(() => state.close());
    const tls = await openTls(config, parts);
    undo.push(() => tls.close());
    const drain = createDrain({ clock, drainMs: config.webhooks.drainSeconds * 1_000 });
    const readiness = createReadiness(drain);
    readiness.add(certificateCheck(tls));
    readiness.add({ name: 'sync', run: () => state.unsynced() });
    const admission = await openAdmission(config, parts, state, serving.promise);
    undo.push(() => admission.close());
    const { policies } = admission;
    // It has its own switch: what it needs is not what reviews need.
    const reconciler = await openReconciler(given, parts, state);
    if (reconciler !== undefined) {
      undo.push(() => reconciler.stop());
      reconciler.observe(admission.metrics);
      readiness.add({ name: 'pactos', run: () => reconciler.unsynced() });
    }
    if (policies !== undefined) readiness.add({ name: 'policies', run: () => policies.unsynced() });
    const callers = state.callers;
    const served = await listenAll({
      config,
      parts,
      tls,
      drain,
      readiness,
      admission,
      callers,
      reconciler,
      state,
    });
    serving.resolve();
    undo.push(...served.listeners.map((listener) => () => listener.close()));
    for (const listener of served.listeners) drain.add(listener);
    drain.add({ close: () => closeAll({ admission, state, tls, reconciler, api: served.api }) });
    await publishCa(config, tls);
    if (admits(config)) warnOpenAdmission(config, log);
    for (const [listener, url] of Object.entries(served.urls)) log.info('listening', { listener, url });
    return {
      urls: served.urls,
      caBundle: tls.caBundle(),
      webhooks: admission.webhooks.map(({ name, path }) => ({ name, path })),
      stop: () => drain.begin(),
    };
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  }
}

function admits({ roles }: Config): boolean {
  return roles.includes('webhooks');
}

/** Loaded where it is asked for alone: most replicas answer reviews and do nothing else. */
async function openReconciler(
  config: Config,
  parts: AppParts,
  { cluster }: State,
): Promise<ReconcilerPart | undefined> {
  if (!config.roles.includes('reconciler')) return undefined;
  if (cluster === undefined) {
    parts.log.info('no reconciler: there is no cluster', {});
    return undefined;
  }
  const { startReconcilerPart } = await import('./app/reconciler.ts');
  const stages = config.delivery.enabled ? (await import('./app/stages.ts')).startStages : undefined;
  return startReconcilerPart(config, parts, { cluster }, stages);
}

async function closeAll({
  admission,
  state,
  tls,
  reconciler,
  api,
}: {
  readonly admission: Admission;
  readonly state: State;
  readonly tls: TlsSource;
  readonly reconciler: ReconcilerPart | undefined;
  readonly api: ApiListener | undefined;
}): Promise<void> {
  tls.close();
  api?.close();
  await reconciler?.stop();
  await admission.close();
  await state.close();
}

interface ServingParts extends ListenerParts {
  readonly tls: TlsSource;
  readonly readiness: Readiness;
  readonly admission: Admission;
  readonly callers: Callers | undefined;
  readonly reconciler: ReconcilerPart | undefined;
  readonly state: State;
}

/** Opens every listener or none. */
async function listenAll(parts: ServingParts): Promise<{
  readonly listeners: readonly Listener[];
  readonly urls: App['urls'];
  readonly api: ApiListener | undefined;
}> {
  const listeners: Listener[] = [];
  try {
    const admission = admits(parts.config) ? await admissionListener(parts) : undefined;
    if (admission !== undefined) listeners.push(admission);
    // Requests are answered while the rest is made: whoever waits for the probe asks later.
    const admissionUrl = (await admission?.listen())?.url;
    const probes = await probesListener(parts, parts.readiness);
    listeners.push(probes);
    const { tls, callers } = parts;
    const metrics = await metricsListener(parts, { metrics: parts.admission.metrics, tls, callers });
    if (metrics !== undefined) listeners.push(metrics);
    const api = await apiOf(parts);
    if (api !== undefined) listeners.push(api.listener);
    const urls = {
      ...(admissionUrl === undefined ? {} : { admission: admissionUrl }),
      probes: (await probes.listen()).url,
      ...(metrics === undefined ? {} : { metrics: (await metrics.listen()).url }),
      ...(api === undefined ? {} : { api: (await api.listener.listen()).url }),
    };
    return { listeners, urls, api };
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close()));
    throw error;
  }
}

async function apiOf({
  reconciler,
  state,
  callers,
  tls,
  ...common
}: ServingParts): Promise<ApiListener | undefined> {
  const { cluster } = state;
  if (reconciler === undefined || cluster === undefined) return undefined;
  const { openApi } = await import('./app/api-listener.ts');
  return openApi(common, { reconciler, cluster, callers, tls });
}

async function admissionListener({
  config,
  parts,
  tls,
  drain,
  admission,
  callers,
}: ServingParts): Promise<Listener> {
  const { host, port, maxConnections, auth, clientCAFile, bearer } = config.webhooks;
  const listener = await createListener({
    name: 'admission',
    section: 'webhooks',
    host,
    port,
    tls,
    maxConnections,
    drain,
    clock: parts.clock,
    keepsHead: isReviewHead,
    onError: (error) => parts.log.error('admission listener', { err: error }),
    onRefusal: reportRefusals({
      listener: 'admission',
      clock: parts.clock,
      log: parts.log,
      count: (code) => admission.metrics.refusal(code),
    }),
    ...(auth === 'clientCA' && clientCAFile !== undefined ? { clientCaFile: clientCAFile } : {}),
  });
  if (auth === 'bearer' && callers === undefined)
    throw nobodyVouches(config, 'webhooks.auth bearer', 'set webhooks.auth to clientCA or none');
  const guard =
    auth === 'bearer' && callers !== undefined ? usernamesGuard(callers, bearer.usernames) : undefined;
  admission.serveOn(listener, tls, guard);
  return listener;
}

/** The CA certificate is public; written where `npm run try` and curl can find it. */
async function publishCa(config: Config, tls: TlsSource): Promise<void> {
  const file = config.tls.caOutFile;
  const bundle = tls.caBundle();
  if (file === undefined || bundle === undefined) return;
  try {
    await makeDirectory(dirname(file));
    await writeFile(file, bundle);
  } catch (error) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `tls.caOutFile: ${file} cannot be written: ${messageOf(error)}: give another file`,
      { cause: error },
    );
  }
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** Any Pod may ask an open admission port questions (webhook-operations.md W11). */
function warnOpenAdmission({ webhooks }: Config, log: RootLog): void {
  if (webhooks.auth !== 'none' || webhooks.networkPolicyDeclared || LOOPBACK.test(webhooks.host)) return;
  log.warn(
    'admission is open to every caller: set webhooks.auth to clientCA or bearer, or put a NetworkPolicy in front and set webhooks.networkPolicyDeclared',
  );
}
