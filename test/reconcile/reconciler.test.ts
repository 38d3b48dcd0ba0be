import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writesOfLeader } from '../../src/cluster/leader.ts';
import { PACTO } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import type { PassResult } from '../../src/reconcile/pass.ts';
import { startReconciler, type Reconciler } from '../../src/reconcile/reconciler.ts';
import type { EndedView } from '../../src/reconcile/sight-view.ts';
import { keyText, type PactoKey, type WakeListener } from '../../src/reconcile/wake.ts';
import { Writer } from '../../src/reconcile/writer.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto } from './running.ts';

const CART = { namespace: 'shop', name: 'cart' };
const TILL = { namespace: 'shop', name: 'till' };

/** A leader by hand, Pactos that are watched without delay, and looks that the test ends. */
class Bench {
  readonly clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  readonly cluster = createMemoryCluster({ clock: this.clock });
  readonly looks: string[] = [];
  readonly failures: string[] = [];
  readonly reconciler: Reconciler;
  /** Where a look waits. */
  slow: string | undefined;
  aborted: unknown;
  verdict: 'Compliant' | 'NonCompliant' = 'Compliant';
  nextLookMs = 300_000;
  /** Called in the middle of a look. */
  meanwhile: () => Promise<void> = () => Promise.resolve();
  readonly #watched = new Map<string, KubeObject>();
  readonly #synced = Promise.withResolvers<void>();
  #term: AbortController | undefined;
  #wake: WakeListener = () => undefined;

  constructor() {
    const log = {
      debug() {},
      info() {},
      warn: (message: string, { err }: { readonly err?: unknown }) =>
        this.failures.push(`${message}: ${err instanceof GateError ? err.code : String(err)}`),
    } as unknown as Log;
    const leader = { leads: () => this.#term !== undefined, term: () => this.#term?.signal };
    const writes = writesOfLeader(this.cluster, leader.leads);
    this.reconciler = startReconciler({
      sight: {
        get: (key) => this.#watched.get(keyText(key)),
        keys: () => this.#keys(),
        follow: () => ({ end: () => undefined }) as unknown as EndedView,
        onWake: (listener) => void (this.#wake = listener),
        onStatus: () => undefined,
        ready: this.#synced.promise,
      },
      readNow: (key) => this.cluster.get(PACTO, key),
      pass: { look: (pacto, { signal }) => this.#look(pacto, signal) },
      writer: new Writer({ writes, events: { say: () => Promise.resolve() }, log }),
      leader,
      clock: this.clock,
      random: () => 0,
      workers: 2,
      log,
    });
    onTestFinished(() => this.reconciler.stop());
  }

  *#keys(): Generator<PactoKey> {
    for (const object of this.#watched.values()) yield readPacto(object);
  }

  async #look(pacto: ReturnType<typeof readPacto>, signal: AbortSignal): Promise<PassResult> {
    this.looks.push(pacto.name);
    await this.meanwhile();
    if (pacto.name === this.slow)
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          this.aborted = signal.reason;
          reject(signal.reason as Error);
        });
      });
    const nowMs = this.clock.now();
    const lastReconciledAt = new Date(nowMs).toISOString();
    return {
      pacto,
      status: { ...pacto.status, contractStatus: this.verdict, lastReconciledAt },
      changed: pacto.status.contractStatus !== this.verdict,
      revision: undefined,
      events: [],
      nextLookMs: nowMs + this.nextLookMs,
      nextChangeMs: undefined,
    };
  }

  async add(...keys: readonly PactoKey[]): Promise<void> {
    for (const { name } of keys)
      await this.cluster.create(PACTO, aPacto(name, { contractRef: { inline: 'x' } }));
    await this.watch(...keys);
  }

  /** The watch brings what there is. */
  async watch(...keys: readonly PactoKey[]): Promise<void> {
    for (const key of keys) {
      const object = await this.cluster.get(PACTO, key);
      if (object === undefined) this.#watched.delete(keyText(key));
      else this.#watched.set(keyText(key), object);
    }
  }

  async sync(): Promise<void> {
    this.#synced.resolve();
    await this.settle();
  }

  async lead(leads = true): Promise<void> {
    if (leads) this.#term = new AbortController();
    else {
      this.#term?.abort(new GateError('GATE_NOT_LEADING', 'the term is over'));
      this.#term = undefined;
    }
    this.reconciler.turn(leads);
    await this.settle();
  }

  async change(key: PactoKey): Promise<void> {
    this.#wake(key, 'EndpointSlice');
    await this.settle();
  }

  async settle(ms = 0): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    await this.clock.advance(ms);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  }

  async verdictOf(key: PactoKey): Promise<string | undefined> {
    const { status } = ((await this.cluster.get(PACTO, key)) ?? {}) as {
      readonly status?: { readonly contractStatus?: string };
    };
    return status?.contractStatus;
  }
}

describe('a process that does not lead', () => {
  it('looks at nothing and writes nothing, whatever changes', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    await bench.change(CART);
    await bench.settle(600_000);
    expect(bench.looks).toEqual([]);
    expect(bench.cluster.calls('replaceStatus', PACTO)).toBe(0);
  });

  it('looks at every Pacto once it leads and everything is read, and not before', async () => {
    const bench = new Bench();
    await bench.add(CART, TILL);
    await bench.lead();
    await bench.change(CART);
    expect(bench.looks).toEqual([]);
    await bench.sync();
    expect(bench.looks).toEqual(['cart', 'till']);
  });
});

describe('a term that ends in the middle of a look', () => {
  it('aborts it: nothing is written, nothing failed, and the next term looks again', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    bench.slow = 'cart';
    await bench.lead();
    await bench.lead(false);
    expect(bench.aborted).toMatchObject({ code: 'GATE_NOT_LEADING' });
    await bench.settle(600_000);
    expect(bench.looks).toEqual(['cart']);
    expect(bench.failures).toEqual([]);
    expect(await bench.verdictOf(CART)).toBeUndefined();
    bench.slow = undefined;
    await bench.lead();
    expect(await bench.verdictOf(CART)).toBe('Compliant');
  });
});

describe('a look', () => {
  it('that takes long holds up no other', async () => {
    const bench = new Bench();
    await bench.add(CART, TILL);
    await bench.sync();
    bench.slow = 'cart';
    await bench.lead();
    expect(await bench.verdictOf(TILL)).toBe('Compliant');
    await bench.watch(TILL);
    bench.verdict = 'NonCompliant';
    await bench.change(TILL);
    expect(await bench.verdictOf(TILL)).toBe('NonCompliant');
    expect(await bench.verdictOf(CART)).toBeUndefined();
  });

  it('is due when the last one said, and never before', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    bench.nextLookMs = 45_000;
    await bench.lead();
    await bench.watch(CART);
    await bench.settle(45_000);
    expect(bench.looks).toEqual(['cart']);
    await bench.settle(1);
    expect(bench.looks).toEqual(['cart', 'cart']);
  });

  it('that somebody else wrote before is taken again, on what they wrote', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    bench.meanwhile = async () => {
      bench.meanwhile = () => Promise.resolve();
      const now = await bench.cluster.get(PACTO, CART);
      if (now !== undefined)
        await bench.cluster.replace(PACTO, { ...now, metadata: { ...now.metadata, labels: { a: 'b' } } });
    };
    await bench.lead();
    expect(await bench.verdictOf(CART)).toBeUndefined();
    // The watch is still behind.
    await bench.settle(50);
    expect(await bench.verdictOf(CART)).toBe('Compliant');
    expect((await bench.cluster.get(PACTO, CART))?.metadata.labels).toEqual({ a: 'b' });
    expect(bench.failures).toEqual([]);
  });

  it('of which nothing can be written is told and taken again, ever later', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    const allow = bench.cluster.refuseCalls(new GateError('GATE_CLUSTER_FORBIDDEN', 'no'), ['replaceStatus']);
    await bench.lead();
    await bench.settle(60_000);
    expect(new Set(bench.failures)).toEqual(new Set(['reconcile failed: GATE_CLUSTER_FORBIDDEN']));
    expect(bench.failures.length).toBeLessThan(15);
    allow();
    await bench.settle(60_000);
    expect(await bench.verdictOf(CART)).toBe('Compliant');
  });
});

describe('a Pacto that is gone', () => {
  it('is looked at no more', async () => {
    const bench = new Bench();
    await bench.add(CART);
    await bench.sync();
    await bench.lead();
    await bench.cluster.delete(PACTO, CART);
    await bench.watch(CART);
    await bench.change(CART);
    await bench.settle(600_000);
    expect(bench.looks).toEqual(['cart']);
    expect(bench.reconciler.facts()).toMatchObject({ waiting: 0, running: 0, delayed: 0 });
  });
});
