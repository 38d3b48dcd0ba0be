import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import { WINDOW_MS } from './observe/survey.ts';
import { API, API_TARGET, inline, PassWorld, saidBy, webObjects, webWorld } from './pass-world.ts';

describe('an absence', () => {
  const spec = inline(API, { target: API_TARGET });

  it('is Insufficient while its window is open, and looked at when it ends', async () => {
    const here = await webWorld(false);
    const first = await here.look({ spec });
    expect(saidBy(first)).toMatchObject({
      status: 'Unknown',
      findings: ['EVIDENCE_INSUFFICIENT interface/api'],
    });
    expect(first.status.observationWindows).toEqual([
      { kind: 'interface', subject: 'api', firstObservedNegativeAt: '2026-01-01T00:00:00Z' },
    ]);
    expect(first.nextLookMs).toBe(here.clock.now() + WINDOW_MS);
    expect(first.nextChangeMs).toBe(first.nextLookMs);
  });

  it('is a violation once it has lasted, and stays one', async () => {
    const here = await webWorld(false);
    const first = await here.look({ spec });
    await here.clock.advance(WINDOW_MS);
    const second = await here.look({ spec, status: here.stored(first) });
    expect(saidBy(second)).toEqual({
      status: 'NonCompliant',
      findings: ['INTERFACE_ABSENT interface/api'],
      conditions: ['ContractValid=True/Parsed', 'RuntimeObserved=True/Found'],
      events: ['Warning ValidationFailed'],
    });
    expect(second.status.observationWindows).toEqual(first.status.observationWindows);
    expect(second.nextLookMs).toBe(here.clock.now() + 300_000);
    expect(second.nextChangeMs).toBeUndefined();
  });

  it('ends, and is told to have ended', async () => {
    const here = await webWorld(false);
    const first = await here.look({ spec });
    await here.put(kinds.ENDPOINT_SLICE, webObjects(true).slice);
    const second = await here.look({ spec, status: here.stored(first) });
    expect(saidBy(second)).toMatchObject({ status: 'Compliant', events: ['Normal ContractRecovered'] });
    expect(second.status).not.toHaveProperty('observationWindows');
  });

  it('keeps its window through a failure of looking', async () => {
    const here = await webWorld(false);
    const first = await here.look({ spec });
    const giveBack = here.refusing.refuse(kinds.ENDPOINT_SLICE, 'GATE_CLUSTER_FORBIDDEN');
    await here.clock.advance(WINDOW_MS);
    const second = await here.look({ spec, status: here.stored(first) });
    expect(saidBy(second).status).toBe('Unknown');
    expect(second.status.observationWindows).toEqual(first.status.observationWindows);
    giveBack();
    expect(saidBy(await here.look({ spec, status: here.stored(second) })).status).toBe('NonCompliant');
  });

  it('of what is not declared any more is forgotten; the rest is in order (T12)', async () => {
    const here = await webWorld(false);
    const firstObservedNegativeAt = '2025-12-31T23:59:00Z';
    const observationWindows = [
      { kind: 'interface', subject: 'zeta', firstObservedNegativeAt },
      { kind: 'interface', subject: 'gone', firstObservedNegativeAt },
      { kind: 'dependency', subject: 'api', firstObservedNegativeAt },
      { kind: 'interface', subject: 'api', firstObservedNegativeAt },
    ];
    const two =
      'interfaces: [{name: zeta, type: grpc, ref: z.proto}, {name: api, type: openapi, ref: a.yaml}]';
    const { status } = await here.look({
      spec: inline(two, { target: API_TARGET }),
      status: { observationWindows },
    });
    expect(status.observationWindows?.map(({ kind, subject }) => `${kind}/${subject}`)).toEqual([
      'interface/api',
      'interface/zeta',
    ]);
  });

  it('is looked at after the interval where that is earlier', async () => {
    const here = await webWorld(false);
    const { nextLookMs, nextChangeMs } = await here.look({ spec: { ...spec, checkIntervalSeconds: 30 } });
    expect(nextLookMs).toBe(here.clock.now() + 30_000);
    expect(nextChangeMs).toBe(here.clock.now() + WINDOW_MS);
  });
});

describe('readiness', () => {
  const of = (expires: string): string =>
    `readiness: {expires: ${expires}, claims: [{id: a, type: document, status: partial, evidence: e, weight: 10}]}`;

  it('is assessed of a reference too, and changes by the day', async () => {
    const result = await new PassWorld().look({ spec: inline(of('2026-06-01')) });
    expect(saidBy(result)).toMatchObject({
      status: 'Reference',
      conditions: ['ContractValid=True/ReferenceOnly', 'ReadinessSatisfied=False/BelowMinScore'],
      events: ['Warning ReadinessGateUnmet'],
    });
    expect(result.status.readiness).toMatchObject({ score: 50, expires: '2026-06-01' });
    expect(result.nextChangeMs).toBe(Date.parse('2026-01-02T00:00:00Z'));
  });

  it('expires at midnight, and is looked at then', async () => {
    const here = new PassWorld();
    await here.clock.advance(86_400_000 - 60_000);
    const spec = inline(of('2026-01-01'));
    const first = await here.look({ spec });
    expect(first.nextLookMs).toBe(here.clock.now() + 60_000);
    await here.clock.advance(60_000);
    const second = await here.look({ spec, status: here.stored(first) });
    expect(second.status.readiness).toMatchObject({ expired: true });
    expect(saidBy(second)).toMatchObject({
      conditions: ['ContractValid=True/ReferenceOnly', 'ReadinessSatisfied=False/Expired'],
      events: [],
    });
    expect(second.nextChangeMs).toBeUndefined();
  });

  it('is gone with its block, condition and all (T5)', async () => {
    const here = new PassWorld();
    const first = await here.look({ spec: inline(of('2026-06-01')) });
    const second = await here.look({ spec: inline(), status: here.stored(first), generation: 2 });
    expect(saidBy(second)).toMatchObject({ conditions: ['ContractValid=True/ReferenceOnly'], events: [] });
    expect(second.status).not.toHaveProperty('readiness');
  });
});
