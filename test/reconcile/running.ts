/** The reconciler as the program runs it, over a cluster in memory and under a turned clock. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openMetrics } from '../../src/app/metrics.ts';
import type { ReconcilerPart, ReconcilerSources } from '../../src/app/reconciler-part.ts';
import { startReconcilerPart } from '../../src/app/reconciler.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { PACTO } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { LogFields, RootLog } from '../../src/log.ts';
import type { FakeClock } from '../support/fake-clock.ts';

/** Real time in which work must come to an end; what waits for the clock does not. */
const PATIENCE_MS = 2_000;

export interface LoggedLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface Running {
  readonly part: ReconcilerPart;
  readonly lines: readonly LoggedLine[];
  /** Until nobody works any more. */
  settle(): Promise<void>;
  turn(ms: number): Promise<void>;
  scrape(): Promise<string>;
  stop(): Promise<void>;
}

export async function configWith(flags: Readonly<Record<string, string>> = {}): Promise<Config> {
  const loaded = await loadConfig({
    flags: Object.entries(flags).map(([path, value]) => ({ path, value, origin: path })),
    env: {},
    readFile: () => Promise.reject(new Error('no file')),
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded.config;
}

/** @param sources where others than the program's own are to be asked. */
export function run(
  cluster: Cluster,
  clock: FakeClock,
  config: Config,
  sources: Omit<ReconcilerSources, 'cluster'> = {},
): Running {
  const lines: LoggedLine[] = [];
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
    flush: () => Promise.resolve(),
    lost: () => 0,
  } as unknown as RootLog;
  const part = startReconcilerPart(config, { clock, log }, { cluster, ...sources });
  const metrics = openMetrics([], { lost: () => 0 });
  part.observe(metrics);
  const settle = async (): Promise<void> => {
    const endMs = performance.now() + PATIENCE_MS;
    for (let quiet = 0; quiet < 5 && performance.now() < endMs;) {
      await nextTurn();
      await clock.advance(0);
      quiet = part.unsynced() === undefined && part.isIdle() ? quiet + 1 : 0;
    }
  };
  return {
    part,
    lines,
    settle,
    async turn(ms) {
      await clock.advance(ms);
      await settle();
    },
    scrape: async () => (await metrics.scrape()).body,
    stop: () => part.stop(),
  };
}

export function aPacto(name: string, spec: Readonly<Record<string, unknown>>): KubeObject {
  return {
    apiVersion: 'pacto.trianalab.io/v1alpha1',
    kind: PACTO.kind,
    metadata: { namespace: 'shop', name },
    spec,
  };
}

/** A contract with one interface. */
export function withInterface(name: string, more = ''): string {
  return `pactoVersion: "2.0"\nservice: {name: ${name}, version: 1.0.0}\ninterfaces: [{name: api, type: openapi, ref: api.yaml}]\n${more}`;
}

export function aService(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }] },
  };
}

export function aSlice(service: string, ready: boolean): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'shop',
      name: `${service}-1`,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
  };
}

export const BOUND = { serviceName: 'cart', interfaceBindings: [{ interface: 'api', servicePort: 80 }] };
