/** The gate API over real HTTPS: three views of one decision, and who may ask (delivery.md §4.0). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { AccessQuestion } from '../../../src/cluster/cluster.ts';
import { createMemoryCluster } from '../../../src/cluster/memory.ts';
import { createCallers, type Callers } from '../../../src/http/callers.ts';
import { createReviewCap } from '../../../src/http/review-cap.ts';
import { createDrain } from '../../../src/http/drain.ts';
import { createListener, type Listener } from '../../../src/http/server.ts';
import type { GateAnswer } from '../../../src/policies/delivery/decision.ts';
import { registerGate } from '../../../src/reconcile/http/gate.ts';
import type { GateEvaluation, StageGates } from '../../../src/reconcile/stages/gates.ts';
import { anInput } from '../../policies/delivery/inputs.ts';
import { aStage } from '../../policies/delivery/objects.ts';
import { ask, type Answered } from '../../support/http-client.ts';
import { testTls } from '../../support/tls.ts';

const AT_MS = Date.parse('2026-01-02T03:04:05Z');
const DIGEST = `sha256:${'c'.repeat(64)}`;

/** What the gate says just now. */
const now: { decision: GateAnswer; unsynced?: string; isAlive: boolean } = {
  decision: 'Allow',
  isAlive: true,
};

const gates: StageGates = {
  read: () => undefined,
  evaluate: ({ name }, digest = DIGEST): GateEvaluation | undefined =>
    name === 'nowhere'
      ? undefined
      : {
          stage: aStage({ name }),
          decision: {
            decision: now.decision,
            reasonCode:
              now.decision === 'Allow' ? 'ALLOWED' : now.decision === 'Wait' ? 'STABILIZING' : 'NONCOMPLIANT',
            message: 'because',
            nextChangeMs: now.decision === 'Wait' ? AT_MS + 42_000 : undefined,
            warnings: [],
            wouldBe: undefined,
            cell: 'T1',
            cells: ['T1'],
          },
          input: anInput(),
          digest,
          evaluatedAtMs: AT_MS,
        },
  unsynced: () => now.unsynced,
  keeperAlive: () => now.isAlive,
};

let listener: Listener;
let url = '';
let ca = '';
const questions: AccessQuestion[] = [];

beforeAll(async () => {
  const cluster = createMemoryCluster({
    clock: systemClock,
    reviewToken: (token, audiences) => ({
      authenticated: token !== 'nobody',
      user: { username: token },
      audiences: token === 'gate-only' ? audiences.filter((one) => one === 'pacto-delivery-gate') : [],
    }),
    reviewAccess(question) {
      questions.push(question);
      return { allowed: question.user.username !== 'stranger', denied: false, reason: '' };
    },
  });
  const callersFor = (audiences: readonly string[]): Callers =>
    createCallers({ cluster, clock: systemClock, cap: createReviewCap({ clock: systemClock }), audiences });
  const tls = await testTls();
  ca = tls.ca;
  listener = await createListener({
    name: 'api',
    section: 'api',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    drain: createDrain({ clock: systemClock, drainMs: 0 }),
    clock: systemClock,
    onError: (error) => {
      throw error as Error;
    },
    onRefusal: () => undefined,
  });
  registerGate(listener.app, { gates, callers: [callersFor([]), callersFor(['pacto-delivery-gate'])] });
  ({ url } = await listener.listen());
});
afterAll(() => listener.close());

function gate(query = '', token = 'reader', name = 'prod', method = 'GET'): Promise<Answered> {
  return ask(`${url}/v1/stages/payments/${name}/gate${query}`, {
    ca,
    method,
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
  });
}

describe('a decision', () => {
  it.each<[GateAnswer, number, number, string]>([
    ['Allow', 200, 200, 'success'],
    ['Wait', 200, 403, 'pending'],
    ['Deny', 200, 403, 'failure'],
  ])('%s has three views', async (decision, json, status, phase) => {
    now.decision = decision;
    const [asJson, asStatus, asPhase] = await Promise.all(
      ['', '?view=status', '?view=phase'].map((query) => gate(query)),
    );
    expect([asJson?.status, asStatus?.status, asPhase?.status]).toEqual([json, status, 200]);
    expect(JSON.parse(asPhase?.text ?? '')).toEqual({ phase });
    expect(JSON.parse(asJson?.text ?? '')).toMatchObject({
      apiVersion: 'gate.delivery.pacto.trianalab.io/v1',
      stage: 'payments/prod',
      digest: DIGEST,
      decision,
      allowed: decision === 'Allow',
      conclusive: decision !== 'Wait',
      evaluatedAt: '2026-01-02T03:04:05Z',
    });
    expect(asJson?.headers['cache-control']).toBe('no-store');
    expect(asStatus?.headers['retry-after']).toBe(decision === 'Wait' ? '42' : undefined);
  });

  it('is about the digest that is asked for, by GET and by POST', async () => {
    now.decision = 'Allow';
    for (const method of ['GET', 'POST']) {
      const { text } = await gate('?digest=sha256:11', 'reader', 'prod', method);
      expect(JSON.parse(text)).toMatchObject({ digest: 'sha256:11' });
    }
  });

  it.each([
    ['is not read yet', { unsynced: 'stages are not read yet', isAlive: true }],
    ['is kept by nobody', { unsynced: undefined, isAlive: false }],
  ])('is waited for where the Stage %s', async (_what, state) => {
    Object.assign(now, { decision: 'Allow', ...state });
    const { status, text } = await gate('?view=json');
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { decision: 'Wait', reasonCode: 'GATE_UNAVAILABLE' },
    ]);
    expect((await gate('?view=status')).status).toBe(403);
    Object.assign(now, { unsynced: undefined, isAlive: true });
  });
});

describe('a question', () => {
  it.each([
    ['without a token', '', 'prod', '', 401],
    ['with a token of nobody', 'nobody', 'prod', '', 401],
    ['by somebody without the right', 'stranger', 'prod', '', 403],
    ['with a token for the gate alone', 'gate-only', 'prod', '', 200],
    ['about no Stage', 'reader', 'nowhere', '', 404],
    ['of an unknown view', 'reader', 'prod', '?view=xml', 400],
    ['about no digest', 'reader', 'prod', '?digest=%0a', 400],
  ])('%s', async (_what, token, name, query, status) => {
    expect((await gate(query, token, name)).status).toBe(status);
  });

  it('needs the right to get stages/gate', async () => {
    questions.length = 0;
    await gate('', 'another');
    expect(questions[0]?.resource).toEqual({
      verb: 'get',
      group: 'delivery.pacto.trianalab.io',
      version: 'v1alpha1',
      resource: 'stages',
      subresource: 'gate',
      namespace: 'payments',
      name: 'prod',
    });
  });
});
