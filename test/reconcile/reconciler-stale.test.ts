/** A watch that lags behind what is written: no verdict is lost by it, and nobody is contradicted without a pause. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import type { PassResult } from '../../src/reconcile/pass.ts';
import { startReconciler } from '../../src/reconcile/reconciler.ts';
import type { EndedView } from '../../src/reconcile/sight-view.ts';
import type { PactoKey, WakeListener } from '../../src/reconcile/wake.ts';
import type { Writer } from '../../src/reconcile/writer.ts';
import type { Log } from '../../src/log.ts';
import { FakeClock } from '../support/fake-clock.ts';

const KEY = { namespace: 'shop', name: 'web' };

type Verdict = 'Compliant' | 'NonCompliant';

function pacto(version: number, contractStatus?: Verdict): KubeObject {
  return {
    apiVersion: 'pacto.trianalab.io/v1alpha1',
    kind: 'Pacto',
    metadata: { ...KEY, uid: 'u', generation: 1, resourceVersion: String(version) },
    spec: { contractRef: { inline: 'x' }, checkIntervalSeconds: 300 },
    ...(contractStatus !== undefined && { status: { contractStatus } }),
  };
}

/** An API server with one Pacto, whose watch the test moves on. */
class Lagging {
  readonly clock = new FakeClock();
  /** What is found when it is looked at. */
  finds: Verdict = 'Compliant';
  leads = true;
  looks = 0;
  stored = pacto(1);
  readonly written: string[] = [];
  #watched = this.stored;
  #wake: WakeListener = () => undefined;
  #restated: (key: PactoKey) => void = () => undefined;

  constructor() {
    const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;
    const term = new AbortController().signal;
    const reconciler = startReconciler({
      sight: {
        get: () => this.#watched,
        keys: () => [KEY][Symbol.iterator]() as Generator<PactoKey>,
        follow: () => ({ end: () => undefined }) as unknown as EndedView,
        onWake: (listener) => void (this.#wake = listener),
        onStatus: (listener) => void (this.#restated = listener),
        ready: Promise.resolve(),
      },
      readNow: () => Promise.resolve(this.stored),
      pass: { look: (read) => Promise.resolve(this.#look(read)) },
      writer: { write: (...given) => this.#write(...given) },
      leader: { leads: () => this.leads, term: () => (this.leads ? term : undefined) },
      clock: this.clock,
      random: () => 0,
      workers: 2,
      log,
    });
    onTestFinished(() => reconciler.stop());
  }

  #look(read: ReturnType<typeof readPacto>): PassResult {
    this.looks += 1;
    return {
      pacto: read,
      status: { ...read.status, contractStatus: this.finds, lastReconciledAt: '2026-01-01T00:00:00Z' },
      changed: read.status.contractStatus !== this.finds,
      revision: undefined,
      events: [],
      nextLookMs: this.clock.now() + 300_000,
      nextChangeMs: undefined,
    };
  }

  async #write(
    ...[object, result, { onWritten }]: Parameters<Writer['write']>
  ): Promise<'written' | 'unchanged'> {
    await nextTurn();
    if (!result.changed) return 'unchanged';
    if (object.metadata.resourceVersion !== this.stored.metadata.resourceVersion)
      throw new GateError('GATE_CLUSTER_CONFLICT', 'the object moved on');
    this.store(result.status.contractStatus as Verdict);
    this.written.push(result.status.contractStatus ?? '');
    onWritten?.(this.stored);
    return 'written';
  }

  store(verdict: Verdict): void {
    this.stored = pacto(Number(this.stored.metadata.resourceVersion) + 1, verdict);
  }

  /** The watch brings what is stored now. */
  catchUp(): void {
    const isOther = JSON.stringify(this.#watched['status']) !== JSON.stringify(this.stored['status']);
    this.#watched = this.stored;
    if (isOther) this.#restated(KEY);
  }

  /** Something that it reads changes. */
  change(finds: Verdict): void {
    this.finds = finds;
    this.#wake(KEY, 'EndpointSlice');
  }

  async settle(ms = 0): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    await this.clock.advance(ms);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  }
}

describe('a watch that lags behind', () => {
  it('loses no verdict that goes back to what the watch still shows', async () => {
    const server = new Lagging();
    await server.settle();
    server.catchUp();
    server.change('NonCompliant');
    await server.settle();
    // The watch still has the status of before.
    server.change('Compliant');
    await server.settle();
    expect(server.written).toEqual(['Compliant', 'NonCompliant', 'Compliant']);
  });

  it('brings our own writing back without another look', async () => {
    const server = new Lagging();
    await server.settle();
    server.catchUp();
    await server.settle(10_000);
    expect([server.looks, server.written]).toEqual([1, ['Compliant']]);
  });

  it('brings our own writing before its answer, and it is not looked at again', async () => {
    const server = new Lagging();
    const written = server.store.bind(server);
    server.store = (verdict) => {
      written(verdict);
      server.catchUp();
    };
    await server.settle(10_000);
    expect([server.looks, server.written]).toEqual([1, ['Compliant']]);
  });
});

describe('a status that somebody else wrote', () => {
  it('is set right after a pause', async () => {
    const server = new Lagging();
    await server.settle();
    server.catchUp();
    server.store('NonCompliant');
    server.catchUp();
    await server.settle(900);
    expect(server.written).toEqual(['Compliant']);
    await server.settle(200);
    expect(server.written).toEqual(['Compliant', 'Compliant']);
  });

  it('is set right where the watch shows it instead of ours', async () => {
    const server = new Lagging();
    await server.settle();
    server.store('NonCompliant');
    server.catchUp();
    await server.settle(1_100);
    expect(server.written).toEqual(['Compliant', 'Compliant']);
  });

  it('is the business of whoever leads', async () => {
    const server = new Lagging();
    await server.settle();
    server.catchUp();
    server.leads = false;
    server.store('NonCompliant');
    server.catchUp();
    await server.settle(10_000);
    expect(server.looks).toBe(1);
  });
});
