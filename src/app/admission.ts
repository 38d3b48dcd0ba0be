/** The admission edge: webhooks, their limits and their numbers, on a listener or as a plain function. */
import { openMetrics } from './metrics.ts';
import type { AppParts } from './parts.ts';
import type { EnforcedPolicies } from './policies.ts';
import type { State } from './state.ts';
import { openDelivery, openPolicies, webhooksOf } from './webhooks.ts';
import type { Config } from '../config.ts';
import { guardRequests, type Guard } from '../http/callers.ts';
import { limitBodies } from '../http/limit-bodies.ts';
import { createLimits } from '../http/limits.ts';
import type { Listener } from '../http/server.ts';
import type { TlsSource } from '../http/tls.ts';
import type { Metrics } from '../metrics.ts';
import { createEdge, type Edge } from '../webhooks/edge.ts';
import { registerWebhooks } from '../webhooks/routes.ts';
import type { Webhook } from '../webhooks/webhook.ts';

export interface Admission {
  readonly webhooks: readonly Webhook[];
  /** Those that the configuration names; undefined where it names none. */
  readonly policies: EnforcedPolicies | undefined;
  readonly edge: Edge;
  readonly metrics: Metrics;
  /** Puts the webhooks on a listener; `guard` is asked before a body is read. */
  serveOn(listener: Listener, tls: TlsSource, guard: Guard | undefined): void;
  close(): Promise<void>;
}

/** Of a process that answers no review: nothing is read, watched or asked for that a decision would need. */
export function withoutReviews(config: Config): Config {
  const { identity, policies, delivery } = config;
  return {
    ...config,
    identity: { ...identity, enabled: false },
    policies: { ...policies, files: [], directory: undefined, sources: [] },
    delivery: { ...delivery, enabled: false },
  };
}

/**
 * @param served resolves once requests come in
 * @throws GateError as `openPolicies`.
 */
export async function openAdmission(
  config: Config,
  { clock, log }: AppParts,
  state: State,
  served?: Promise<void>,
): Promise<Admission> {
  const { serverVersion, reviewAccess, cluster } = state;
  const policies = await openPolicies(config, {
    clock,
    log,
    reviewAccess,
    cluster,
    ...(served === undefined ? {} : { served }),
  });
  const webhooks = webhooksOf(config, {
    serverVersion,
    policies,
    delivery: await openDelivery(config, { clock, reviewAccess }),
  });
  const metrics = openMetrics(
    webhooks.map(({ name }) => name),
    log,
  );
  metrics.observeWatches(() => [...state.watches(), ...(policies?.sources.watches() ?? [])]);
  if (policies !== undefined) metrics.observePolicies(() => policies.facts());
  state.observeLiveCalls((facts) => metrics.liveCall(facts));
  const edge = createEdge({ webhooks, readerFor: () => state.reader.forRequest(), clock, log, metrics });
  return {
    webhooks,
    policies,
    edge,
    metrics,
    serveOn(listener, tls, guard) {
      const { maxConcurrent, maxQueued, maxBytesInFlight } = config.webhooks;
      const limits = createLimits({ maxConcurrent, maxQueued, maxBytesInFlight });
      // In this order: the time of arrival is taken first, a stranger gets no room, and room is reserved before reading.
      registerWebhooks(listener.app, { edge, webhooks, clock });
      if (guard !== undefined) guardRequests(listener.app, guard);
      limitBodies(listener.app, limits, { clock });
      metrics.observeLoad(() => limits.stats());
      metrics.observeConnections(listener.name, () => listener.stats());
      metrics.observeTlsExpiry(listener.name, () => tls.notAfterMs() / 1_000);
    },
    async close() {
      await policies?.close();
    },
  };
}
