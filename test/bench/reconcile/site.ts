/** What is measured: a reconciler that is the built program, on a real API server with the whole fleet. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiClient, type ApiClient } from '../../cluster/support/api-client.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { pollUntil } from '../../cluster/support/polling.ts';
import { installPactoKinds } from '../../cluster/support/reconcile-objects.ts';
import { prepareReconciler, type ReconcilerProcess } from '../../cluster/support/reconcile-process.ts';
import { ask } from '../../support/http-client.ts';
import type { ScriptedRegistry } from '../../support/registry/scripted-registry.ts';
import type { Bench } from '../bench.ts';
import type { Stall } from '../result.ts';
import { longestStall } from '../stalls.ts';
import { namespaces, pieces, published, type Piece, type Place } from './fleet.ts';
import { startRegistry } from './registry.ts';
import { StatusWatch } from './status-watch.ts';

const BUNDLE = fileURLToPath(new URL('../../../dist/pacto-gate.js', import.meta.url));
const CREATORS = 32;
/** Nothing written for so long: what came of it is done. */
const QUIET_MS = 2_000;
const QUIET_TIMEOUT_MS = 120_000;
const STALL_EVERY_MS = 100;

/** Options of Node with which docs/verdicts.md has the reconciler run; a test compares. */
export const AS_DEPLOYED = ['--max-semi-space-size=8'] as const;

export interface Site {
  readonly bench: Bench;
  readonly plane: ControlPlane;
  readonly api: ApiClient;
  readonly watch: StatusWatch;
  readonly registry: ScriptedRegistry;
  /** Contracts that no Pacto is about yet. */
  readonly unused: readonly string[];
}

/** Runs `use` with the fleet on an API server. */
export async function withFleet<T>(
  bench: Bench,
  plane: ControlPlane,
  use: (site: Site) => Promise<T>,
): Promise<T> {
  const unused = Array.from({ length: bench.pace.reconcile.coldVerdicts }, (_, n) => `fleet/new-${n}`);
  const registry = await startRegistry([
    ...published(),
    ...unused.map((repository) => ({ repository, isConfigured: false })),
  ]);
  const api = createApiClient(plane, CREATORS);
  let watch: StatusWatch | undefined;
  try {
    await installPactoKinds(plane, api);
    const startMs = performance.now();
    await createAll(api, registry.host);
    bench.say(`  the fleet, in ${((performance.now() - startMs) / 1_000).toFixed(1)} s`);
    watch = await StatusWatch.open(plane);
    return await use({ bench, plane, api, watch, registry, unused });
  } finally {
    watch?.close();
    await api.close();
    await registry.close();
  }
}

async function createAll(api: ApiClient, registry: string): Promise<void> {
  for (const piece of namespaces()) await post(api, piece);
  const all = pieces(registry);
  await Promise.all(
    Array.from({ length: CREATORS }, async () => {
      for (const piece of all) await post(api, piece);
    }),
  );
}

export async function post(api: ApiClient, { path, body }: Piece): Promise<void> {
  await api.demand({ method: 'POST', path, body });
}

/** Resolves when no status was written for a while. */
export async function quiet({ watch }: Pick<Site, 'watch'>): Promise<void> {
  await pollUntil('the last status', QUIET_TIMEOUT_MS, () =>
    Promise.resolve(performance.now() - watch.lastMs > QUIET_MS || undefined),
  );
}

/** Our process, with what is to be known of it. */
export class Measured {
  readonly process: ReconcilerProcess;
  readonly #bench: Bench;
  readonly #stallFile: string;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(process: ReconcilerProcess, bench: Bench, stallFile: string) {
    this.process = process;
    this.#bench = bench;
    this.#stallFile = stallFile;
  }

  /** Starts nothing yet. @param name of its file of stalls. */
  static async prepare(
    { bench, plane, registry }: Site,
    { name, nodeFlags }: { readonly name: string; readonly nodeFlags: readonly string[] },
  ): Promise<Measured> {
    const stallFile = join(bench.scratch, `${name}-stalls`);
    writeFileSync(stallFile, '');
    const process = await prepareReconciler({
      plane,
      program: ['--import', bench.starter.stallProbe(stallFile, STALL_EVERY_MS), ...nodeFlags, BUNDLE],
      flags: ['--registry-allow-addresses=127.0.0.1', `--registry-insecure=${registry.host}`],
      logLevel: 'info',
    });
    return new Measured(process, bench, stallFile);
  }

  /** @throws Error where it ended. */
  pid(): number {
    const pid = this.process.pid();
    const ending = this.process.ending();
    if (pid === undefined || ending !== undefined) throw new Error(`the reconciler ended with ${ending}`);
    return pid;
  }

  residentBytes(): number {
    return this.#bench.numbers.residentBytes(this.pid());
  }

  peakBytes(): number {
    return this.#bench.numbers.peakResidentBytes(this.pid());
  }

  cpuMs(): number {
    return this.#bench.numbers.cpuMs(this.pid());
  }

  /** The longest stall between two times of the wall clock, the default being now. */
  stall(fromMs: number, toMs?: number): Stall {
    return longestStall(this.#stallFile, fromMs, toMs === undefined ? undefined : toMs + STALL_EVERY_MS);
  }

  /** Milliseconds since 1970 of its first word, which follows on all that is loaded. */
  firstWordMs(): number {
    const [line] = this.process.log();
    return new Date(String(line?.['time'])).getTime();
  }

  /** Stops the looking for stalls, or goes on with it. */
  toggleProbe(): void {
    this.process.signal('SIGUSR2');
  }

  /** A verdict of now, as one caller asks who keeps his connection. */
  ask({ namespace, name }: Place): ReturnType<typeof ask> {
    const { url, ca, token } = this.process.api;
    return ask(`${url}/v1/verdicts/${namespace}/${name}?fresh=0s`, {
      ca,
      agent: this.#agent,
      headers: { authorization: `Bearer ${token}` },
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.process.end('SIGTERM');
    await this.process.stop();
  }
}

/** How long answers took, and how many were none. */
export class Answers {
  readonly latencies: number[] = [];
  failed = 0;

  async take(measured: Measured, place: Place): Promise<void> {
    const startMs = performance.now();
    const { status } = await measured.ask(place);
    if (status === 200) this.latencies.push(performance.now() - startMs);
    else this.failed += 1;
  }
}

export const NOWHERE: Place = { namespace: '', name: '' };

export const wallMs = (): number => performance.timeOrigin + performance.now();
