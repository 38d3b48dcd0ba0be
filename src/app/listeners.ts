/** Listeners that every role has, for probes and metrics, and the certificate of those that speak TLS. */
import type { AppParts } from './parts.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { metricsGuard, type Callers } from '../http/callers.ts';
import type { Drain } from '../http/drain.ts';
import { registerMetrics, registerProbes, type Readiness } from '../http/probes.ts';
import { reportRefusals } from '../http/refusals.ts';
import { createListener, type Listener } from '../http/server.ts';
import type { TlsSource } from '../http/tls.ts';
import type { Metrics } from '../metrics.ts';

export interface ListenerParts {
  readonly config: Config;
  readonly parts: AppParts;
  readonly drain: Drain;
}

/** From files, or issued by ourselves. */
export async function openTls(config: Config, { clock, log }: AppParts): Promise<TlsSource> {
  const onError = (error: unknown): void => log.error('certificate not taken', { err: error });
  const { certFile, keyFile, dnsNames, ipAddresses } = config.tls;
  if (certFile !== undefined && keyFile !== undefined) {
    const { tlsFromFiles } = await import('../http/tls.ts');
    return tlsFromFiles({
      certFile,
      keyFile,
      clock,
      onError,
      onReload: () => log.info('certificate replaced', { file: certFile }),
    });
  }
  // Loaded late: issuing needs a library that takes longer to load than the rest together (platform.md §4).
  const { selfIssuedTls } = await import('../http/self-issued.ts');
  return selfIssuedTls({
    dnsNames,
    ipAddresses,
    clock,
    onError,
    onReload: () => log.info('certificate renewed'),
  });
}

export async function probesListener(
  { config, parts, drain }: ListenerParts,
  readiness: Readiness,
): Promise<Listener> {
  const { host, port } = config.health;
  const listener = await createListener({
    name: 'probes',
    section: 'health',
    host,
    port,
    drain,
    clock: parts.clock,
    onError: (error) => parts.log.error('probes listener', { err: error }),
    onRefusal: reportRefusals({ listener: 'probes', clock: parts.clock, log: parts.log }),
  });
  registerProbes(listener.app, readiness);
  return listener;
}

export async function metricsListener(
  { config, parts, drain }: ListenerParts,
  {
    metrics,
    tls,
    callers,
  }: {
    readonly metrics: Metrics;
    /** Needed unless `metrics.plain`. */
    readonly tls: TlsSource | undefined;
    readonly callers: Callers | undefined;
  },
): Promise<Listener | undefined> {
  const { enabled, host, port, plain } = config.metrics;
  if (!enabled) return undefined;
  const listener = await createListener({
    name: 'metrics',
    section: 'metrics',
    host,
    port,
    drain,
    clock: parts.clock,
    onError: (error) => parts.log.error('metrics listener', { err: error }),
    onRefusal: reportRefusals({ listener: 'metrics', clock: parts.clock, log: parts.log }),
    ...(plain || tls === undefined ? {} : { tls }),
  });
  if (!plain && callers === undefined)
    throw nobodyVouches(
      config,
      'metrics over HTTPS',
      'set metrics.plain true with metrics.host 127.0.0.1, or metrics.enabled false',
    );
  registerMetrics(listener, async () => (await metrics.scrape()).body, {
    mediaType: metrics.contentType,
    ...(!plain && callers !== undefined ? { guard: metricsGuard(callers) } : {}),
  });
  return listener;
}

/** Started all the same it would refuse everybody for as long as it runs. */
export function nobodyVouches({ cluster }: Config, what: string, instead: string): GateError {
  const found =
    cluster.source === 'directory' ? 'files in a directory vouch for none' : 'there is no cluster';
  return new GateError(
    'GATE_CONFIG_INVALID',
    `${what}: needs a cluster that vouches for tokens, and ${found}; ${instead}, or give a cluster by cluster.kubeconfig`,
  );
}
