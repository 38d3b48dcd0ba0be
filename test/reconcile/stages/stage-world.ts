/** A gate keeper on a cluster in memory, with what Flux has of one service. */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';

import {
  DEPLOYMENT,
  EVENT,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  PACTO,
  STAGE,
  type Kind,
} from '../../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../../src/cluster/memory.ts';
import { silentLog } from '../../../src/log.ts';
import { EventRecorder } from '../../../src/reconcile/event-recorder.ts';
import { StageKeeper } from '../../../src/reconcile/stages/keeper.ts';
import { StageSight } from '../../../src/reconcile/stages/stage-sight.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
export const [OLD, NEW, BAD] = [digest('a'), digest('b'), digest('c')] as const;
export const MINUTE_MS = 60_000;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export type Members = Readonly<Record<string, unknown>>;

export class World {
  readonly clock = new FakeClock(Date.parse('2026-01-02T03:00:00Z'));
  readonly cluster: MemoryCluster = createMemoryCluster({ clock: this.clock });
  readonly sight: StageSight;
  readonly keeper: StageKeeper;
  leads = true;
  /** What the keeper read beside its watches. */
  readonly asked: string[] = [];

  constructor(promoter?: string) {
    const { clock, cluster } = this;
    this.sight = new StageSight({
      cluster,
      clock,
      random: () => 0.5,
      namespaces: [],
      identityNamespace: 'pacto-delivery',
      stabilizationMs: 120_000,
      sha256,
      report: () => undefined,
      isMissing: () => false,
      keeperAlive: () => this.leads,
      onWake: (key) => this.keeper.wake(key),
    });
    this.keeper = new StageKeeper({
      sight: this.sight,
      writes: cluster,
      reads: {
        get: (kind, name, options) => {
          this.asked.push(`${kind.kind} ${name.name}`);
          return cluster.get(kind, name, options);
        },
      },
      events: new EventRecorder({ cluster, clock, kind: STAGE, component: 'pacto-gate', onError: throws }),
      leads: () => this.leads,
      clock,
      random: () => 0.5,
      sha256,
      promoter,
      log: silentLog(),
    });
    this.sight.start();
    onTestFinished(async () => {
      await this.keeper.stop();
      await this.sight.stop();
      await cluster.close();
    });
  }

  /** Lets what was changed come to an end, and then so much time pass. */
  async pass(ms = 0): Promise<void> {
    for (let turn = 0; turn < 6; turn++) {
      await this.clock.advance(turn === 0 ? ms : 0);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async status(name = 'prod'): Promise<Members> {
    const found = await this.cluster.get(STAGE, { namespace: 'payments', name });
    return (found?.['status'] ?? {}) as Members;
  }

  async condition(type: string): Promise<string> {
    const conditions = ((await this.status())['conditions'] ?? []) as readonly {
      type: string;
      status: string;
      reason: string;
    }[];
    const found = conditions.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  async version(): Promise<string | undefined> {
    return (await this.cluster.get(STAGE, { namespace: 'payments', name: 'prod' }))?.metadata.resourceVersion;
  }

  async make(kind: Kind, name: string, members: Members, namespace = 'payments'): Promise<void> {
    const { metadata, status, ...rest } = members;
    const made = await this.cluster.create(kind, {
      apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { name, ...(kind.namespaced && { namespace }), ...(metadata as Members | undefined) },
      ...rest,
    });
    if (status !== undefined) await this.cluster.replaceStatus(kind, { ...made, status });
  }

  async change(kind: Kind, name: string, members: Members, namespace = 'payments'): Promise<void> {
    const found = await this.cluster.get(kind, { namespace, name });
    if (found === undefined) throw new Error(`no ${kind.kind} ${name}`);
    const { status, ...rest } = members;
    const changed =
      Object.keys(rest).length === 0 ? found : await this.cluster.replace(kind, { ...found, ...rest });
    if (status !== undefined) await this.cluster.replaceStatus(kind, { ...changed, status });
  }

  async events(): Promise<readonly string[]> {
    return (await this.cluster.list(EVENT)).items.map(
      (event) => `${String(event['type'])} ${String(event['reason'])}`,
    );
  }

  /** As Flux has it after it ran a digest. */
  async runs(of: string): Promise<void> {
    await this.change(OCI_REPOSITORY, 'payments', {
      status: fetched(of, await this.#generation(OCI_REPOSITORY)),
    });
    await this.change(KUSTOMIZATION, 'payments', {
      status: { ...fetched(of, await this.#generation(KUSTOMIZATION)), lastAppliedRevision: of },
    });
  }

  async #generation(kind: Kind): Promise<number> {
    return (
      (await this.cluster.get(kind, { namespace: 'payments', name: 'payments' }))?.metadata.generation ?? 0
    );
  }

  async verdict(contractStatus: string, findings: readonly object[] = []): Promise<void> {
    await this.change(PACTO, 'payments', {
      status: {
        contractStatus,
        observedGeneration: 1,
        lastReconciledAt: new Date(this.clock.now()).toISOString().replace('.000Z', 'Z'),
        findings,
      },
    });
  }
}

const throws = (error: unknown): never => {
  throw error as Error;
};

export const fetched = (revision: string, generation: number): Members => ({
  observedGeneration: generation,
  artifact: { revision },
  conditions: [{ type: 'Ready', status: 'True' }],
});

export const pointing = (to: Members): Members => ({
  metadata: { labels: { 'delivery.pacto.trianalab.io/stage': 'prod' } },
  spec: { url: 'oci://x', ref: to },
});

export const POINTER = {
  name: 'manifests',
  target: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', name: 'payments' },
  field: 'ociDigest',
};

/** A Stage with all that Flux has for it, before anything ran. */
export async function worldWith(spec: Members = {}, promoter?: string): Promise<World> {
  const world = new World(promoter);
  await world.make(PACTO, 'payments', { spec: { target: { serviceName: 'payments' } } });
  await world.make(DEPLOYMENT, 'payments', {
    spec: { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } },
  });
  await world.make(OCI_REPOSITORY, 'payments', pointing({ digest: OLD }));
  await world.make(KUSTOMIZATION, 'payments', {
    spec: { sourceRef: { kind: 'OCIRepository', name: 'payments' } },
  });
  await world.make(STAGE, 'prod', { spec: { pacto: { name: 'payments' }, pointers: [POINTER], ...spec } });
  await world.pass();
  return world;
}

/** It runs OLD, and that was good for long enough. */
export async function settled(spec: Members = {}): Promise<World> {
  const world = await worldWith(spec);
  await world.runs(OLD);
  await world.pass(1_000);
  await world.verdict('Compliant');
  await world.pass();
  for (let minute = 0; minute < 11; minute++) {
    await world.pass(MINUTE_MS);
    await world.verdict('Compliant');
    await world.pass();
  }
  return world;
}
