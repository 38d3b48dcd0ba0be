/** The API of a reconciler: verdicts for whoever may read them, and events from outside (design §5). */
import type { ListenerParts } from './listeners.ts';
import type { ReconcilerPart } from './reconciler-part.ts';
import { followSecret } from './secret-file.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { createCallers, type Callers } from '../http/callers.ts';
import { limitBodies } from '../http/limit-bodies.ts';
import { createLimits } from '../http/limits.ts';
import { reportRefusals } from '../http/refusals.ts';
import { createReviewCap } from '../http/review-cap.ts';
import { createListener, type Listener } from '../http/server.ts';
import type { TlsSource } from '../http/tls.ts';
import { EVENT_BYTES, registerEvents } from '../reconcile/http/events.ts';
import { registerVerdicts } from '../reconcile/http/verdicts.ts';

/** Of the tokens of senders of CloudEvents (design §5). */
const EVENTS_AUDIENCE = 'pacto-gate-events';
/** Of tokens for the gate and nothing else (delivery.md §4.0). */
const GATE_AUDIENCE = 'pacto-delivery-gate';
/** Requests at the same time, and those that wait. */
const LIMITS = { maxConcurrent: 64, maxQueued: 256, maxBytesInFlight: 32 * 1024 * 1024 };

export interface ApiListener {
  readonly listener: Listener;
  close(): void;
}

/**
 * @returns undefined where nobody could call it: files vouch for nobody, and no sender of events has a secret.
 * @throws GateError as followSecret and createListener.
 */
export async function openApi(
  { config, parts, drain }: ListenerParts,
  {
    reconciler,
    cluster,
    callers,
    tls,
  }: {
    readonly reconciler: ReconcilerPart;
    readonly cluster: Cluster;
    /** Undefined where the cluster vouches for nobody. */
    readonly callers: Callers | undefined;
    readonly tls: TlsSource;
  },
): Promise<ApiListener | undefined> {
  if (callers === undefined && !hasSecrets(config)) return undefined;
  const { clock, log } = parts;
  const { api } = config;
  const [fluxKey, fluxToken, registryToken] = await Promise.all(
    [api.fluxKeyFile, api.fluxTokenFile, api.registryTokenFile].map((path) => followSecret(path, parts)),
  );
  const listener = await createListener({
    name: 'api',
    section: 'api',
    host: api.host,
    port: api.port,
    tls,
    bodyLimitBytes: EVENT_BYTES,
    drain,
    clock,
    onError: (error) => log.error('api listener', { err: error }),
    onRefusal: reportRefusals({ listener: 'api', clock, log }),
  });
  limitBodies(listener.app, createLimits(LIMITS), { clock });
  const callersFor = (audience: string): Callers =>
    createCallers({ cluster, clock, cap: createReviewCap({ clock }), audiences: [audience] });
  if (callers !== undefined) {
    registerVerdicts(listener.app, { verdicts: reconciler.verdicts, callers });
    const { gates } = reconciler;
    if (gates !== undefined) {
      const { registerGate } = await import('../reconcile/http/gate.ts');
      registerGate(listener.app, { gates, callers: [callers, callersFor(GATE_AUDIENCE)] });
    }
  }
  registerEvents(listener.app, {
    sink: reconciler.events,
    callers: callers === undefined ? undefined : callersFor(EVENTS_AUDIENCE),
    fluxKey: () => fluxKey?.value(),
    fluxToken: () => fluxToken?.value(),
    registryToken: () => registryToken?.value(),
  });
  return {
    listener,
    close() {
      for (const secret of [fluxKey, fluxToken, registryToken]) secret?.close();
    },
  };
}

function hasSecrets({ api }: Config): boolean {
  return [api.fluxKeyFile, api.fluxTokenFile, api.registryTokenFile].some((path) => path !== undefined);
}
