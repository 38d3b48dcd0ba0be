/** The reconciler on a real API server with a fleet of services: its built program, a process of its own. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApiClient, type ApiClient } from '../../cluster/support/api-client.ts';
import { readAuditEvents } from '../../cluster/support/audit-log.ts';
import { skipReason, startControlPlane, type ControlPlane } from '../../cluster/support/control-plane.ts';
import { pollUntil } from '../../cluster/support/polling.ts';
import { installPactoKinds } from '../../cluster/support/reconcile-objects.ts';
import {
  prepareReconciler,
  RECONCILER_USERNAME,
  type ReconcilerProcess,
} from '../../cluster/support/reconcile-process.ts';
import { ask } from '../../support/http-client.ts';
import { pause, type Bench } from '../bench.ts';
import { anyOf, pinSelf } from '../pinning.ts';
import {
  deploymentPath,
  endpointsOf,
  FLEET,
  namespaces,
  newPacto,
  pieces,
  published,
  quietPactos,
  slicePath,
  type Piece,
  type Place,
} from '../reconcile/fleet.ts';
import { startRegistry } from '../reconcile/registry.ts';
import { StatusWatch } from '../reconcile/status-watch.ts';
import type { Measured, StormResult } from '../reconcile/result.ts';
import type { BenchResult } from '../result.ts';
import { longestStall } from '../stalls.ts';
import { summarize } from '../statistics.ts';

const BUNDLE = fileURLToPath(new URL('../../../dist/pacto-gate.js', import.meta.url));
const STORM_FILE = fileURLToPath(new URL('../reconcile/storm.ts', import.meta.url));
const CREATORS = 32;
const ALL_TIMEOUT_MS = 120_000;
/** Nothing written for so long: what came of it is done. */
const QUIET_MS = 2_000;
const STALL_EVERY_MS = 100;
const STORM_TIMEOUT_MS = 120_000;
/** Of a caller beside a storm. */
const ASKED_EVERY_MS = 50;
/**
 * Verdicts are asked of so many Pactos in turn, as by a gate that has some in its care: what a caller may of each is
 * reviewed every ten seconds.
 */
const ASKED_PACTOS = 10;
/** Between new Pactos: reviews of what a caller may have a ceiling (src/http/review-cap.ts). */
const BETWEEN_NEW_MS = 300;
const ASK_AGAIN_MS = 2;
const NEW_TIMEOUT_MS = 10_000;

/** What it writes, and who writes: anything else would only cost the API server time. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${RECONCILER_USERNAME}']
    verbs: [create, update, patch, delete]
  - level: None
`;

export async function reconcile(bench: Bench): Promise<Pick<BenchResult, 'reconcile'>> {
  const leftOut = skipReason({ versions: ['1.36'] });
  if (leftOut !== undefined) {
    bench.say(`  LEFT OUT: ${leftOut}`);
    return { reconcile: { leftOut } };
  }
  // Three programs that work together: none of them is only a generator of load.
  pinSelf(anyOf(bench.cores));
  const plane = await startControlPlane({
    version: '1.36',
    auditPolicy: AUDIT_POLICY,
    extraApiserverArgs: ['--service-cluster-ip-range=10.0.0.0/16'],
  });
  try {
    return { reconcile: await Run.whole(bench, plane) };
  } finally {
    await plane.stop();
    pinSelf(bench.cores.loader);
  }
}

class Run {
  readonly #bench: Bench;
  readonly #plane: ControlPlane;
  readonly #api: ApiClient;
  readonly #watch: StatusWatch;
  readonly #reconciler: ReconcilerProcess;
  readonly #stallFile: string;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    bench: Bench,
    parts: {
      plane: ControlPlane;
      api: ApiClient;
      watch: StatusWatch;
      reconciler: ReconcilerProcess;
      stallFile: string;
    },
  ) {
    this.#bench = bench;
    this.#plane = parts.plane;
    this.#api = parts.api;
    this.#watch = parts.watch;
    this.#reconciler = parts.reconciler;
    this.#stallFile = parts.stallFile;
  }

  static async whole(bench: Bench, plane: ControlPlane): Promise<Measured> {
    const cold = Array.from({ length: bench.pace.reconcile.coldVerdicts }, (_, n) => `fleet/new-${n}`);
    const registry = await startRegistry([
      ...published(),
      ...cold.map((repository) => ({ repository, isConfigured: false })),
    ]);
    const api = createApiClient(plane, CREATORS);
    const stallFile = join(bench.scratch, 'reconcile-stalls');
    writeFileSync(stallFile, '');
    let reconciler: ReconcilerProcess | undefined;
    let watch: StatusWatch | undefined;
    try {
      await installPactoKinds(plane, api);
      const createSeconds = await createAll(api, registry.host);
      bench.say(`  the fleet, in ${createSeconds.toFixed(1)} s`);
      watch = await StatusWatch.open(plane);
      reconciler = await prepareReconciler({
        plane,
        program: ['--import', bench.starter.stallProbe(stallFile, STALL_EVERY_MS), BUNDLE],
        flags: ['--registry-allow-addresses=127.0.0.1', `--registry-insecure=${registry.host}`],
        logLevel: 'info',
      });
      const run = new Run(bench, { plane, api, watch, reconciler, stallFile });
      return await run.#measure(registry.host, cold);
    } finally {
      await reconciler?.end('SIGTERM');
      await reconciler?.stop();
      watch?.close();
      await api.close();
      await registry.close();
    }
  }

  async #measure(registry: string, cold: readonly string[]): Promise<Measured> {
    const start = await this.#start();
    const demand = await this.#demand(registry, cold);
    const changes = await this.#changes();
    await this.#quiet();
    const idle = await this.#idle();
    const storms = { pods: await this.#storm('pods'), slices: await this.#storm('slices') };
    const peakBytes = this.#bench.numbers.peakResidentBytes(this.#pid());
    return { fleet: FLEET, start, demand, changes, idle, storms, peakBytes };
  }

  #pid(): number {
    const pid = this.#reconciler.pid();
    const ending = this.#reconciler.ending();
    if (pid === undefined || ending !== undefined) throw new Error(`the reconciler ended with ${ending}`);
    return pid;
  }

  async #start(): Promise<Measured['start']> {
    const { numbers } = this.#bench;
    const startMs = performance.now();
    await this.#reconciler.start();
    const readyMs = performance.now() - startMs;
    const readyAtMs = wallMs();
    const [first = NOWHERE] = quietPactos();
    const askedMs = performance.now();
    const { status } = await this.#ask(first);
    if (status !== 200) throw new Error(`the first verdict is answered ${status}`);
    const firstVerdictMs = performance.now() - askedMs;
    await pollUntil('a verdict on each Pacto', ALL_TIMEOUT_MS, () =>
      Promise.resolve(
        this.#watch.count(({ contractStatus }) => contractStatus !== undefined) === FLEET.pactos || undefined,
      ),
    );
    const allMs = this.#watch.lastMs - startMs;
    await this.#quiet();
    const settledMs = this.#watch.lastMs - startMs;
    // The first line of the log comes after what is loaded at the start.
    const [line] = this.#reconciler.log();
    const listedMs = new Date(String(line?.['time'])).getTime();
    this.#bench.say(`  ${JSON.stringify(this.#watch.verdicts())}`);
    return {
      readyMs,
      firstVerdictMs,
      allMs,
      settledMs,
      verdicts: this.#watch.verdicts(),
      residentBytes: numbers.residentBytes(this.#pid()),
      peakBytes: numbers.peakResidentBytes(this.#pid()),
      listStall: longestStall(this.#stallFile, listedMs, readyAtMs + STALL_EVERY_MS),
      looksStall: longestStall(this.#stallFile, readyAtMs + STALL_EVERY_MS),
    };
  }

  async #quiet(): Promise<void> {
    await pollUntil('the last status', ALL_TIMEOUT_MS, () =>
      Promise.resolve(performance.now() - this.#watch.lastMs > QUIET_MS || undefined),
    );
  }

  async #demand(registry: string, cold: readonly string[]): Promise<Measured['demand']> {
    const { demands } = this.#bench.pace.reconcile;
    const places = quietPactos().slice(0, ASKED_PACTOS);
    const warmMs: number[] = [];
    const failures: Record<string, number> = {};
    for (let n = 0; n < demands; n += 1)
      await this.#timed(places[n % places.length] ?? NOWHERE, { latencies: warmMs, failures });
    const coldMs: number[] = [];
    for (const [index, repository] of cold.entries()) {
      const place = places[index % places.length] ?? NOWHERE;
      const piece = newPacto(place, registry, repository);
      const { metadata } = piece.body as { readonly metadata: Place };
      await post(this.#api, piece);
      coldMs.push(await this.#firstVerdictMs(metadata));
      await pause(BETWEEN_NEW_MS);
    }
    this.#bench.say('  verdicts on demand');
    return { warm: summarize(warmMs), failures, cold: summarize(coldMs) };
  }

  /** From now: it may not even be known yet. */
  async #firstVerdictMs(place: Place): Promise<number> {
    const startMs = performance.now();
    for (;;) {
      const { status, text } = await this.#ask(place);
      const tookMs = performance.now() - startMs;
      if (status === 200) return tookMs;
      if (status !== 404 || tookMs > NEW_TIMEOUT_MS)
        throw new Error(`a new Pacto is answered ${status} after ${tookMs} ms: ${text}`);
      await pause(ASK_AGAIN_MS);
    }
  }

  #ask({ namespace, name }: Place): ReturnType<typeof ask> {
    const { url, ca, token } = this.#reconciler.api;
    return ask(`${url}/v1/verdicts/${namespace}/${name}?fresh=0s`, {
      ca,
      agent: this.#agent,
      headers: { authorization: `Bearer ${token}` },
    });
  }

  async #timed(
    place: Place,
    { latencies, failures }: { readonly latencies: number[]; readonly failures: Record<string, number> },
  ): Promise<void> {
    const startMs = performance.now();
    const { status } = await this.#ask(place);
    if (status === 200) latencies.push(performance.now() - startMs);
    else failures[status] = (failures[status] ?? 0) + 1;
  }

  /** One after the other, each on another Pacto: from the sending of the change to its status in a watch. */
  async #changes(): Promise<Measured['changes']> {
    const { changes } = this.#bench.pace.reconcile;
    const places = quietPactos().toReversed().slice(0, changes);
    const latencies = { endpoints: [] as number[], deployments: [] as number[] };
    const stillMs = Math.max(5, 10_000 / changes);
    for (const ready of [false, true])
      for (const place of places) {
        const wanted = (status: { readonly observationWindows?: readonly unknown[] }): boolean =>
          ((status.observationWindows ?? []).length === 0) === ready;
        latencies.endpoints.push(
          await this.#change(
            place,
            { path: slicePath(place), body: { endpoints: endpointsOf(ready) } },
            wanted,
          ),
        );
        await pause(stillMs / 4);
      }
    for (const place of places) {
      const image = `registry.test/${place.name}:2.0.0`;
      const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
      const isWanted = (status: {
        readonly observedRuntime?: { readonly containerImages?: readonly string[] };
      }): boolean => status.observedRuntime?.containerImages?.[0] === image;
      latencies.deployments.push(await this.#change(place, { path: deploymentPath(place), body }, isWanted));
      await pause(stillMs / 4);
    }
    this.#bench.say('  changes');
    return { endpoints: summarize(latencies.endpoints), deployments: summarize(latencies.deployments) };
  }

  async #change(
    place: Place,
    { path, body }: Piece,
    isWanted: Parameters<StatusWatch['next']>[1],
  ): Promise<number> {
    const startMs = performance.now();
    const written = this.#watch.next(place, isWanted);
    const contentType = `application/${Array.isArray(body) ? 'json' : 'merge'}-patch+json`;
    await this.#api.demand({ method: 'PATCH', path, body, contentType });
    return (await written).atMs - startMs;
  }

  async #idle(): Promise<Measured['idle']> {
    const { numbers, pace } = this.#bench;
    const seconds = pace.reconcile.idleSeconds;
    const before = this.#writes().length;
    const cpuMs = numbers.cpuMs(this.#pid());
    const startMs = performance.now();
    await pause(seconds * 1_000);
    const tookMs = performance.now() - startMs;
    const cpuPercent = ((numbers.cpuMs(this.#pid()) - cpuMs) / tookMs) * 100;
    const writes = this.#writes().slice(before);
    const statuses = writes.filter(({ kind }) => kind === 'pactos/status');
    const perPacto = [...Map.groupBy(statuses, ({ name }) => name).values()].map(({ length }) => length);
    this.#bench.say('  idle');
    return {
      seconds,
      cpuPercent,
      writes: Object.fromEntries(
        [...Map.groupBy(writes, ({ kind }) => kind)].map(([kind, { length }]) => [kind, length]),
      ),
      mostPerPacto: Math.max(0, ...perPacto),
    };
  }

  /** Of the reconciler since the start; what it asks about callers is written nowhere. */
  #writes(): readonly { readonly kind: string; readonly name: string }[] {
    return readAuditEvents(this.#plane.auditLogFile).flatMap(({ objectRef }) => {
      const { resource = '', subresource, namespace = '', name = '' } = objectRef ?? {};
      if (resource === 'tokenreviews' || resource === 'subjectaccessreviews') return [];
      const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
      return [{ kind, name: `${namespace}/${name}` }];
    });
  }

  async #storm(kind: 'pods' | 'slices'): Promise<StormResult> {
    const patches = this.#bench.pace.reconcile.storm;
    const { numbers } = this.#bench;
    const latencies: number[] = [];
    const failures: Record<string, number> = {};
    const places = quietPactos().slice(0, ASKED_PACTOS);
    const fromMs = wallMs();
    const startMs = performance.now();
    const cpuMs = numbers.cpuMs(this.#pid());
    const progress = { isOver: false };
    const args = [STORM_FILE, kind, String(patches), this.#plane.url, this.#plane.adminKubeconfigPath];
    const storm = promisify(execFile)(process.execPath, args, { timeout: STORM_TIMEOUT_MS }).finally(() => {
      progress.isOver = true;
    });
    const asking: Promise<void>[] = [];
    for (let n = 0; !progress.isOver; n += 1) {
      // Whether or not the last one is answered.
      await pause(Math.max(0, startMs + n * ASKED_EVERY_MS - performance.now()));
      asking.push(this.#timed(places[n % places.length] ?? NOWHERE, { latencies, failures }));
    }
    const { stdout } = await storm;
    await Promise.all(asking);
    const overMs = performance.now();
    await this.#quiet();
    this.#bench.say(`  storm of ${kind}`);
    return {
      patches,
      seconds: Number(stdout) / 1_000,
      demand: summarize(latencies),
      failures,
      cpuPercent: ((numbers.cpuMs(this.#pid()) - cpuMs) / (performance.now() - startMs)) * 100,
      settledMs: Math.max(0, this.#watch.lastMs - overMs),
      stall: longestStall(this.#stallFile, fromMs),
      residentBytes: numbers.residentBytes(this.#pid()),
    };
  }
}

const NOWHERE: Place = { namespace: '', name: '' };

async function createAll(api: ApiClient, registry: string): Promise<number> {
  const startMs = performance.now();
  for (const piece of namespaces()) await post(api, piece);
  const all = pieces(registry);
  await Promise.all(
    Array.from({ length: CREATORS }, async () => {
      for (const piece of all) await post(api, piece);
    }),
  );
  return (performance.now() - startMs) / 1_000;
}

async function post(api: ApiClient, { path, body }: Piece): Promise<void> {
  await api.demand({ method: 'POST', path, body });
}

const wallMs = (): number => performance.timeOrigin + performance.now();
