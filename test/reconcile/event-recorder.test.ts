import { describe, expect, it } from 'vitest';
import { EVENT } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { GateError } from '../../src/errors.ts';
import { EventRecorder } from '../../src/reconcile/event-recorder.ts';
import type { PlannedEvent } from '../../src/reconcile/pass.ts';
import { FakeClock } from '../support/fake-clock.ts';

const PACTO = { namespace: 'shop', name: 'cart', uid: 'u-1', resourceVersion: '7' };
const FAILED: PlannedEvent = {
  type: 'Warning',
  reason: 'ValidationFailed',
  message: 'ContractStatus: Unknown',
};

function recorder() {
  const clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  const cluster = createMemoryCluster({ clock });
  const errors: unknown[] = [];
  const events = new EventRecorder({ cluster, clock, onError: (error) => errors.push(error) });
  const written = async () => (await cluster.list(EVENT)).items;
  return { clock, cluster, events, errors, written };
}

describe('an event', () => {
  it('is about its Pacto, by the component that dashboards know', async () => {
    const { events, written } = recorder();
    await events.say(PACTO, FAILED);
    expect(await written()).toMatchObject([
      {
        metadata: { namespace: 'shop' },
        involvedObject: {
          apiVersion: 'pacto.trianalab.io/v1alpha1',
          kind: 'Pacto',
          namespace: 'shop',
          name: 'cart',
          uid: 'u-1',
          resourceVersion: '7',
        },
        type: 'Warning',
        reason: 'ValidationFailed',
        message: 'ContractStatus: Unknown',
        source: { component: 'pacto-controller' },
        firstTimestamp: '2026-12-01T10:00:00Z',
        lastTimestamp: '2026-12-01T10:00:00Z',
        count: 1,
      },
    ]);
  });

  it('counts on where it comes again, and is another one where it differs or comes much later', async () => {
    const { events, written, clock } = recorder();
    await events.say(PACTO, FAILED);
    await clock.advance(60_000);
    await events.say(PACTO, FAILED);
    await events.say(PACTO, { ...FAILED, message: 'ContractStatus: NonCompliant' });
    await events.say({ ...PACTO, uid: 'u-2' }, FAILED);
    await clock.advance(3_600_000);
    await events.say(PACTO, FAILED);
    const seen = (await written()).map(
      (event) => `${String(event['count'])} ${String(event['lastTimestamp'])}`,
    );
    expect(new Set(seen)).toEqual(
      new Set(['1 2026-12-01T10:01:00Z', '1 2026-12-01T11:01:00Z', '2 2026-12-01T10:01:00Z']),
    );
    expect(seen).toHaveLength(4);
  });

  it('is cut where the API server would refuse its length', async () => {
    const { events, written } = recorder();
    await events.say(PACTO, { ...FAILED, message: 'x'.repeat(10_000) });
    expect(String((await written())[0]?.['message'])).toHaveLength(1_024);
  });

  it('is one of a few at a time of one Pacto, and then one in five minutes', async () => {
    const { events, written, clock } = recorder();
    for (let n = 0; n < 100; n++) await events.say(PACTO, { ...FAILED, message: `flap ${String(n)}` });
    expect(await written()).toHaveLength(25);
    await events.say({ ...PACTO, uid: 'other' }, FAILED);
    expect(await written()).toHaveLength(26);
    await clock.advance(5 * 60_000);
    await events.say(PACTO, { ...FAILED, message: 'again' });
    await events.say(PACTO, { ...FAILED, message: 'and again' });
    expect(await written()).toHaveLength(27);
  });

  it('that cannot be written is told, and nothing else', async () => {
    const { cluster, events, errors, written } = recorder();
    const refusal = new GateError('GATE_CLUSTER_FORBIDDEN', 'no');
    const allow = cluster.refuseCalls(refusal, ['apply']);
    await events.say(PACTO, FAILED);
    allow();
    expect(errors).toEqual([refusal]);
    expect(await written()).toEqual([]);
  });
});
