/** A cluster, a registry and probe targets for one scenario, and the real reconciler over them under a turned clock. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReconcilerPart } from '../../../src/app/reconciler-part.ts';
import { startReconcilerPart } from '../../../src/app/reconciler.ts';
import { createMemoryCluster, type MemoryCluster } from '../../../src/cluster/memory.ts';
import { EVENT, PACTO, PACTO_REVISION, type Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { openMetrics } from '../../../src/app/metrics.ts';
import type { RootLog } from '../../../src/log.ts';
import type { Metrics } from '../../../src/metrics.ts';
import { createHttpProber } from '../../../src/reconcile/observe/http-prober.ts';
import { BundleCache } from '../../../src/registry/bundle-cache.ts';
import { messageOf } from '../../../src/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { withDefaults } from './defaults.ts';
import { RecordedRegistry } from './registry.ts';
import { MIRROR_SECONDS, mirroredAt, type Pushed, type Scenario, type Step } from './scenario.ts';
import { startTargets, type ProbeTargets } from './targets.ts';

/** Readiness of the recording counts its days from here. */
const START_MS = Date.parse('2026-11-30T12:00:00Z');
const NAMESPACE = 'ns';
/** Nothing is asked there. */
const SILENT_PORT = 83;
/** Real time in which something must move on, before the clock is turned all the same. */
const PATIENCE_MS = 400;

export class World {
  readonly clock = new FakeClock(START_MS);
  readonly cluster: MemoryCluster;
  readonly #scenario: Scenario;
  readonly #registry = new RecordedRegistry();
  readonly #targets: ProbeTargets;
  readonly #start: () => { readonly reconciler: ReconcilerPart; readonly metrics: Metrics };
  #reconciler: ReconcilerPart;
  #metrics: Metrics;
  readonly log: string[];
  readonly startMs: number;

  static async open(scenario: Scenario): Promise<World> {
    const config = await configFor(scenario);
    return await new Promise((resolve, reject) => {
      const clock = { elapsed: (): number => 0 };
      startTargets(() => clock.elapsed()).then((targets) => {
        const world = new World(scenario, config, targets);
        clock.elapsed = () => world.clock.monotonic();
        resolve(world);
      }, reject);
    });
  }

  private constructor(scenario: Scenario, config: Config, targets: ProbeTargets) {
    const { clock } = this;
    this.#scenario = scenario;
    this.#targets = targets;
    this.cluster = createMemoryCluster({ clock });
    const log = recordingLog();
    this.log = log.lines;
    this.#start = () => {
      const cache = new BundleCache({ clock, maxBytes: 1024 * 1024, keepsResults: true });
      const reconciler = startReconcilerPart(
        config,
        { clock, log: log.log },
        {
          cluster: this.cluster,
          prober: createHttpProber({
            clock,
            resolve: ({ port }) => ({ host: '127.0.0.1', port: port === SILENT_PORT ? 1 : targets.port }),
          }),
          registries: () =>
            Promise.resolve({
              client: this.#registry,
              cache,
              withPullSecret: (secret, reference) => this.#registry.withSecret(secret, reference),
              close: () => Promise.resolve(),
            }),
        },
      );
      const metrics = openMetrics([], { lost: () => 0 });
      reconciler.observe(metrics);
      return { reconciler, metrics };
    };
    const { reconciler, metrics } = this.#start();
    this.#reconciler = reconciler;
    this.#metrics = metrics;
    this.startMs = clock.now();
  }

  /** Objects first, then the Pacto, as it was recorded. */
  async begin(): Promise<void> {
    const { input } = this.#scenario;
    for (const bundle of input.pushed) if (bundle.at === undefined) this.#registry.push(bundle);
    for (const object of input.objects) await this.#create(object);
    // It leads before there is anything to look at.
    await this.settle();
    // The mirror comes round when it did in the recording.
    const at = mirroredAt(this.#scenario);
    await this.turn(at === undefined ? 100 : (MIRROR_SECONDS - at) * 1_000 - 100);
    await this.cluster.create(PACTO, {
      apiVersion: 'pacto.trianalab.io/v1alpha1',
      kind: 'Pacto',
      metadata: { namespace: NAMESPACE, name: input.name },
      spec: { checkIntervalSeconds: 300, ...input.pacto },
    });
    await this.settle();
  }

  async step(step: Step): Promise<void> {
    const [, action, ...rest] = step;
    if (action === 'create') await this.#create(rest[0] as KubeObject);
    else if (action === 'push') this.#push(rest[0] as readonly [string, string, Pushed['files']]);
    else await this.#change(action, rest[0] as string, rest[1] as string, rest[2]);
    await this.settle();
  }

  async turn(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  /** Turns of the event loop until nobody works any more; what waits for the clock does not count for long. */
  async settle(): Promise<void> {
    const endMs = performance.now() + PATIENCE_MS;
    for (let quiet = 0; quiet < 4 && performance.now() < endMs;) {
      await nextTurn();
      await this.clock.advance(0);
      quiet = this.#reconciler.isIdle() ? quiet + 1 : 0;
    }
  }

  /** Another reconciler in place of this one, and what happens in between. */
  async replaceReconciler(meanwhile: () => Promise<void>): Promise<void> {
    await this.#reconciler.stop();
    await meanwhile();
    const { reconciler, metrics } = this.#start();
    this.#reconciler = reconciler;
    this.#metrics = metrics;
    await this.settle();
  }

  pacto(): Promise<KubeObject | undefined> {
    return this.cluster.get(PACTO, { namespace: NAMESPACE, name: this.#scenario.input.name });
  }

  async all(kind: Kind): Promise<readonly KubeObject[]> {
    return (await this.cluster.list(kind, { namespace: NAMESPACE })).items;
  }

  revisions(): Promise<readonly KubeObject[]> {
    return this.all(PACTO_REVISION);
  }

  events(): Promise<readonly KubeObject[]> {
    return this.all(EVENT);
  }

  async scrape(): Promise<readonly string[]> {
    const { body } = await this.#metrics.scrape();
    return body.split('\n').filter((line) => /^pacto_(?:contract|readiness)_/.test(line));
  }

  async close(): Promise<void> {
    await this.#reconciler.stop();
    await this.cluster.close();
    await this.#targets.close();
  }

  async #create(object: KubeObject): Promise<void> {
    await this.cluster.create(kindOf(object.kind), withDefaults(object, NAMESPACE));
  }

  #push([repository, tag, files]: readonly [string, string, Pushed['files']]): void {
    const ref = `registry.test/${repository}:${tag}`;
    const recorded = this.#scenario.input.pushed.find(({ ref: one, at }) => one === ref && at !== undefined);
    if (recorded === undefined) throw new Error(`nothing was recorded of ${ref}`);
    this.#registry.push({ ...recorded, files });
  }

  async #change(action: string, kindName: string, name: string, patch: unknown): Promise<void> {
    const kind = kindOf(kindName);
    const at = { namespace: NAMESPACE, name };
    if (action === 'delete') {
      await this.cluster.delete(kind, at);
      return;
    }
    const object = await this.cluster.get(kind, at);
    if (object === undefined) throw new Error(`there is no ${kindName} ${name}`);
    const { metadata } = object;
    const touched = {
      ...metadata,
      annotations: { ...metadata.annotations, touched: String(this.clock.now()) },
    };
    const changed =
      action === 'touch' ? { ...object, metadata: touched } : (merge(object, patch) as KubeObject);
    await this.cluster.replace(kind, changed);
  }
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

function kindOf(name: string): Kind {
  const found = (Object.values(kinds) as unknown[]).find(
    (one): one is Kind => typeof one === 'object' && one !== null && (one as Kind).kind === name,
  );
  if (found === undefined) throw new Error(`kind ${name} is not known`);
  return found;
}

async function configFor(scenario: Scenario): Promise<Config> {
  const { group, stabilizationWindowSeconds } = scenario.input.operator;
  const flags = {
    'reconciler.stabilizationSeconds': String(stabilizationWindowSeconds),
    // Where the recording shows nothing of the mirror it must not show here either.
    'reconciler.mirrorSeconds': String(mirroredAt(scenario) === undefined ? 86_400 : MIRROR_SECONDS),
    ...(group === 'probing' && { 'reconciler.probing': 'true', 'reconciler.metricsObservation': 'true' }),
    ...(group === 'namematch' && { 'reconciler.nameMatchDiscovery': 'true' }),
  };
  const loaded = await loadConfig({
    flags: Object.entries(flags).map(([path, value]) => ({ path, value, origin: path })),
    env: {},
    readFile: () => Promise.reject(new Error('no file')),
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded.config;
}

/** Lines of warnings, for `--verbose`. */
function recordingLog(): { readonly log: RootLog; readonly lines: string[] } {
  const lines: string[] = [];
  const quiet = (): void => undefined;
  const say = (message: string, fields?: { readonly err?: unknown }): void => {
    lines.push(`${message} ${fields?.err === undefined ? '' : messageOf(fields.err)}`);
  };
  const log = { trace: quiet, debug: quiet, info: quiet, warn: say, error: say, fatal: say };
  return { log: { ...log, flush: () => Promise.resolve(), lost: () => 0 } as unknown as RootLog, lines };
}
