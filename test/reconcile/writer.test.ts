import { describe, expect, it } from 'vitest';
import { EVENT, PACTO, PACTO_REVISION } from '../../src/cluster/kinds.ts';
import { writesOfLeader } from '../../src/cluster/leader.ts';
import { createMemoryCluster, type AdmittedWrite, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { LogFields } from '../../src/log.ts';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { EventRecorder } from '../../src/reconcile/event-recorder.ts';
import type { PassResult, PlannedEvent, RevisionPlan } from '../../src/reconcile/pass.ts';
import { planRevision } from '../../src/reconcile/revision.ts';
import { Writer } from '../../src/reconcile/writer.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto } from './running.ts';

const KEY = { namespace: 'shop', name: 'cart' };
const REVISION = 'cart-1-0-0-abcdef0';
const SHA256 = `abcdef0${'0'.repeat(57)}`;
const UNMET: PlannedEvent = { type: 'Warning', reason: 'ReadinessGateUnmet', message: 'score 0 below 50' };
const FAILED: PlannedEvent = {
  type: 'Warning',
  reason: 'ValidationFailed',
  message: 'ContractStatus: Unknown',
};

class Desk {
  readonly clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  /** In their order, as they came in. */
  readonly writes: string[] = [];
  readonly warned: LogFields[] = [];
  readonly cluster: MemoryCluster;
  readonly writer: Writer;
  leads = true;
  refuse: (write: AdmittedWrite) => void = () => undefined;

  constructor() {
    const { clock } = this;
    this.cluster = createMemoryCluster({
      clock,
      admit: (write) => {
        const { kind, operation, subresource, object } = write;
        if (kind === PACTO && operation === 'CREATE') return;
        const about = kind === EVENT ? ` ${String(object['reason'])}` : '';
        this.writes.push(`${operation} ${kind.kind}${subresource === undefined ? '' : '/status'}${about}`);
        this.refuse(write);
      },
    });
    const writes = writesOfLeader(this.cluster, () => this.leads);
    const onError = (error: unknown): void => void this.warned.push({ err: error });
    this.writer = new Writer({
      writes,
      events: new EventRecorder({ cluster: writes, clock, onError }),
      log: { warn: (_message, fields = {}) => void this.warned.push(fields) },
    });
  }

  async pacto(status?: PactoStatus): Promise<KubeObject> {
    const made = await this.cluster.create(PACTO, aPacto('cart', { contractRef: { inline: 'x' } }));
    if (status === undefined) return made;
    const written = await this.cluster.replaceStatus(PACTO, { ...made, status });
    this.writes.length = 0;
    return written;
  }

  async write(
    object: KubeObject,
    result: Partial<PassResult> = {},
    isOwed = false,
  ): Promise<'written' | 'unchanged'> {
    const full: PassResult = {
      pacto: readPacto(object),
      status: { contractStatus: 'Unknown', currentRevision: REVISION },
      changed: true,
      revision: this.plan(object),
      events: [UNMET, FAILED],
      nextLookMs: 0,
      nextChangeMs: undefined,
      ...result,
    };
    return await this.writer.write(object, full, { isOwed, signal: new AbortController().signal });
  }

  plan(object: KubeObject, existing: readonly KubeObject[] = []): RevisionPlan {
    const contract = { serviceName: 'cart', version: '1.0.0', sha256: SHA256, resolvedRef: '', digest: '' };
    return planRevision(readPacto(object), contract, existing, this.clock.now());
  }

  async status(): Promise<PactoStatus> {
    return (await this.cluster.get(PACTO, KEY))?.['status'] ?? {};
  }

  async revision(): Promise<KubeObject | undefined> {
    return await this.cluster.get(PACTO_REVISION, { namespace: 'shop', name: REVISION });
  }
}

const ALL = [
  'CREATE PactoRevision',
  'CREATE Event RevisionCreated',
  'UPDATE PactoRevision/status',
  'UPDATE Pacto/status',
  'CREATE Event ReadinessGateUnmet',
  'CREATE Event ValidationFailed',
];

describe('what is written', () => {
  it('comes in its order: the revision, the status, and then what is said of it, readiness too', async () => {
    const desk = new Desk();
    expect(await desk.write(await desk.pacto())).toBe('written');
    expect(desk.writes).toEqual(ALL);
    expect(await desk.status()).toMatchObject({ contractStatus: 'Unknown', currentRevision: REVISION });
    expect((await desk.revision())?.['status']).toMatchObject({ resolved: true, contractHash: SHA256 });
  });

  it.each([
    { of: 'nothing changed', result: { changed: false }, isOwed: false, done: 'unchanged' },
    { of: 'a heartbeat is owed', result: { changed: false }, isOwed: true, done: 'written' },
    { of: 'something changed', result: { changed: true }, isOwed: false, done: 'written' },
  ] as const)('is a status where $of: $done', async ({ result, isOwed, done }) => {
    const desk = new Desk();
    const object = await desk.pacto({ contractStatus: 'Unknown' });
    const given = { ...result, status: { contractStatus: 'Unknown' }, revision: undefined } as const;
    expect(await desk.write(object, { ...given, events: [] }, isOwed)).toBe(done);
    expect(desk.writes).toEqual(done === 'written' ? ['UPDATE Pacto/status'] : []);
  });

  it('is nothing more of a revision that is whole', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    await desk.write(object);
    const there = await desk.revision();
    desk.writes.length = 0;
    const now = (await desk.cluster.get(PACTO, KEY)) ?? object;
    const revision = desk.plan(now, there === undefined ? [] : [there]);
    expect(await desk.write(now, { revision, changed: false, events: [] })).toBe('unchanged');
    expect(desk.writes).toEqual([]);
  });

  it('is the rest of a revision that was left without its status', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    const { status: _status, ...half } = desk.plan(object).object;
    const there = await desk.cluster.create(PACTO_REVISION, half);
    desk.writes.length = 0;
    await desk.write(object, { revision: desk.plan(object, [there]) });
    expect(desk.writes).toEqual(ALL.slice(1));
  });

  it('is the status alone of a revision that somebody else was quicker to make', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    const { status: _status, ...half } = desk.plan(object).object;
    await desk.cluster.create(PACTO_REVISION, half);
    desk.writes.length = 0;
    expect(await desk.write(object)).toBe('written');
    expect(desk.writes).toEqual(ALL.slice(3));
    expect(await desk.status()).toMatchObject({ currentRevision: REVISION });
    expect(desk.warned).toEqual([]);
  });

  it('is one revision for two who want it at the same time', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    const { signal } = new AbortController();
    const one = desk.writer.ensure(readPacto(object), desk.plan(object), signal);
    const two = desk.writer.ensure(readPacto(object), desk.plan(object), signal);
    expect(await Promise.all([one, two])).toEqual([true, true]);
    expect(desk.writes).toEqual(ALL.slice(0, 3));
  });
});

describe('what cannot be written', () => {
  it.each([
    ['the revision that there was stays the current one', 'cart-0-9-0-1234567'],
    ['no revision is the current one where there was none', undefined],
  ])('is told of a revision, and %s', async (_, currentRevision) => {
    const desk = new Desk();
    const before = currentRevision === undefined ? {} : { currentRevision };
    const object = await desk.pacto({ contractStatus: 'Compliant', ...before });
    desk.refuse = ({ kind }) => {
      if (kind === PACTO_REVISION) throw new GateError('GATE_CLUSTER_FORBIDDEN', 'no');
    };
    expect(await desk.write(object)).toBe('written');
    expect(await desk.status()).toEqual({ contractStatus: 'Unknown', ...before });
    expect(desk.warned).toMatchObject([{ ...KEY, err: { code: 'GATE_CLUSTER_FORBIDDEN' } }]);
  });

  it('is no event before its status, so that a conflict repeats none (operator.md §20, T18)', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    await desk.cluster.replace(PACTO, { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } });
    desk.writes.length = 0;
    await expect(desk.write(object)).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect(desk.writes.filter((write) => /Readiness|Validation/.test(write))).toEqual([]);
  });

  it('is the event alone, where only that is refused', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    desk.refuse = ({ kind }) => {
      if (kind === EVENT) throw new GateError('GATE_CLUSTER_FORBIDDEN', 'no');
    };
    expect(await desk.write(object)).toBe('written');
    expect(await desk.status()).toMatchObject({ contractStatus: 'Unknown', currentRevision: REVISION });
    expect((await desk.revision())?.['status']).toMatchObject({ resolved: true });
  });

  it('is anything, by a process that leads no more', async () => {
    const desk = new Desk();
    const object = await desk.pacto();
    desk.leads = false;
    await expect(desk.write(object)).rejects.toMatchObject({ code: 'GATE_NOT_LEADING' });
    expect(desk.writes).toEqual([]);
  });

  it.each(ALL.slice(0, 4).map((write, at) => [write, at] as const))(
    'is whatever comes after %s where the term ends with it',
    async (last, at) => {
      const desk = new Desk();
      const object = await desk.pacto();
      desk.refuse = () => {
        if (desk.writes.at(-1) === last) desk.leads = false;
      };
      // Where the status is written already only the events are left out, which is no fault.
      await desk.write(object).catch(() => undefined);
      expect(desk.writes).toEqual(ALL.slice(0, at + 1));
    },
  );
});
