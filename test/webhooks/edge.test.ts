import { describe, expect, it } from 'vitest';

import { GateError } from '../../src/errors.ts';
import { allow, deny, type FailurePolicy, type Verdict } from '../../src/policies/verdict.ts';
import type { DecisionContext, Webhook, WebhookEntry } from '../../src/webhooks/webhook.ts';
import { aConfigMap, aLease, aReview, aUser } from '../support/builders.ts';
import { edgeOf, rawRequest } from './edge-parts.ts';

const PATH = '/validate/test';
const ENTRY = 'test.gate.example.com';
const review = aReview({ object: aLease() });
const { uid } = review.request;

function testWebhook(
  decide: WebhookEntry['decide'],
  failurePolicy: FailurePolicy = 'Fail',
): readonly Webhook[] {
  return [{ name: 'test', path: PATH, entry: () => ({ name: ENTRY, failurePolicy, decide }) }];
}

const refusing = (reason: Error) => (): Promise<never> => Promise.reject(reason);
const throwing = (error: unknown) => () => {
  throw error as Error;
};

interface Answered {
  readonly kind: string;
  readonly apiVersion: string;
  readonly response: Readonly<Record<string, unknown>> & {
    readonly warnings?: readonly string[];
    readonly auditAnnotations?: Readonly<Record<string, string>>;
  };
}
const parse = (body: string): Answered => JSON.parse(body) as Answered;

describe('verdicts', () => {
  it('allows with warnings and audit annotations, and without a status', async () => {
    const verdict = allow({ warnings: ['look out'], auditAnnotations: { proof: 'token' } });
    const { edge, decisions } = edgeOf(testWebhook(() => verdict));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(answer.status).toBe(200);
    expect(parse(answer.body)).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid, allowed: true, warnings: ['look out'], auditAnnotations: { proof: 'token' } },
    });
    expect(decisions).toEqual([
      { webhook: 'test', operation: 'CREATE', verdict: 'allowed', durationSeconds: 0 },
    ]);
  });

  it('denies with a whole status, and counts the first code', async () => {
    const verdict = deny([
      { code: 'ONE', where: 'spec.a', message: 'wrong' },
      { code: 'TWO', where: 'spec.b', message: 'wrong too' },
    ]);
    const { edge, decisions } = edgeOf(testWebhook(() => Promise.resolve(verdict)));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(parse(answer.body).response).toEqual({
      uid,
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        message: 'spec.a: wrong [ONE]; spec.b: wrong too [TWO]',
        reason: 'Forbidden',
        details: {
          causes: [
            { reason: 'ONE', message: 'wrong', field: 'spec.a' },
            { reason: 'TWO', message: 'wrong too', field: 'spec.b' },
          ],
        },
        code: 403,
      },
    });
    expect(decisions).toMatchObject([{ verdict: 'denied', code: 'ONE' }]);
  });

  it('gives a dry-run the same answer, byte for byte but the uid', async () => {
    const verdict = deny([{ code: 'ONE', where: 'spec.a', message: 'wrong' }]);
    const { edge } = edgeOf(testWebhook(() => verdict));
    const real = await edge.answer(rawRequest(PATH, review));
    const dry = await edge.answer(
      rawRequest(PATH, aReview({ object: aLease(), dryRun: true, uid: 'other' })),
    );
    expect(dry).toEqual({ ...real, body: real.body.replace(uid, 'other') });
  });

  it('hands the request, a reader and a live signal to the webhook, and forgets its timer', async () => {
    const seen: { request?: unknown; context?: DecisionContext } = {};
    const { edge, clock } = edgeOf(
      testWebhook((request, context) => {
        Object.assign(seen, { request, context });
        return allow();
      }),
    );
    await edge.answer(rawRequest(PATH, review));
    expect(seen.request).toEqual(review.request);
    expect(seen.context?.signal.aborted).toBe(false);
    expect(clock.waiting).toBe(0);
  });
});

describe('failure', () => {
  const failure = new GateError('GATE_CLUSTER_UNREACHABLE', 'cannot read Pod\na/b: connection refused');
  const cause = 'cannot read Pod a/b: connection refused [GATE_CLUSTER_UNREACHABLE]';

  it.each([
    ['throws', throwing(failure)],
    ['rejects', refusing(failure)],
  ])('denies under Fail when the decision %s, and says why', async (_how, decide) => {
    const { edge, decisions, lines, clock } = edgeOf(testWebhook(decide));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(answer.status).toBe(200);
    expect(parse(answer.body).response).toEqual({
      uid,
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        message: `${ENTRY}: no decision: ${cause}`,
        reason: 'InternalError',
        code: 500,
      },
    });
    expect(decisions).toMatchObject([{ verdict: 'failed-closed', code: 'GATE_CLUSTER_UNREACHABLE' }]);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      verdict: 'failed-closed',
      codes: ['GATE_CLUSTER_UNREACHABLE'],
      err: { type: 'GateError', code: 'GATE_CLUSTER_UNREACHABLE' },
    });
    expect(lines).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  it('allows under Ignore, with one warning, an audit annotation and a count', async () => {
    const { edge, decisions } = edgeOf(testWebhook(refusing(failure), 'Ignore'));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(parse(answer.body).response).toEqual({
      uid,
      allowed: true,
      warnings: [`${ENTRY}: not enforced on this request: ${cause}`],
      auditAnnotations: { 'failed-open': cause },
    });
    expect(decisions).toMatchObject([{ verdict: 'failed-open', code: 'GATE_CLUSTER_UNREACHABLE' }]);
  });

  it.each([
    ['an error nobody foresaw', new TypeError('hunter2 is not a function')],
    ['something that is no error', 'hunter2'],
    ['nothing', undefined],
  ])('denies and hides the details of %s from the user, not from the log', async (_name, error) => {
    const { edge, lines } = edgeOf(testWebhook(throwing(error)));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(parse(answer.body).response['status']).toMatchObject({
      message: `${ENTRY}: no decision: internal error: see the log of pacto-gate [GATE_INTERNAL]`,
      code: 500,
    });
    expect(answer.body).not.toContain('hunter2');
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', codes: ['GATE_INTERNAL'] });
    expect(lines[0]!.includes('hunter2')).toBe(error !== undefined);
  });

  it('denies when the decision is no verdict', async () => {
    const { edge } = edgeOf(testWebhook(() => undefined as unknown as Verdict));
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(parse(answer.body).response).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it('answers 500 when the entry itself cannot be told', async () => {
    const { edge, lines } = edgeOf([{ name: 'test', path: PATH, entry: throwing(new Error('hunter2')) }]);
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(answer).toMatchObject({
      status: 500,
      body: 'internal error: see the log of pacto-gate [GATE_INTERNAL]\n',
    });
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', code: 'GATE_INTERNAL' });
  });
});

describe('time', () => {
  const deaf = (): Promise<Verdict> => Promise.withResolvers<Verdict>().promise;

  it.each<[FailurePolicy, boolean]>([
    ['Fail', false],
    ['Ignore', true],
  ])(
    'answers at the deadline for a webhook that does not heed its signal, under %s',
    async (policy, allowed) => {
      const { edge, clock, decisions } = edgeOf(testWebhook(deaf, policy));
      const pending = edge.answer(rawRequest(PATH, review));
      await clock.advance(7_999);
      expect(decisions).toEqual([]);
      await clock.advance(1);
      expect(decisions).toMatchObject([{ code: 'GATE_DEADLINE_EXCEEDED', durationSeconds: 8 }]);
      const answer = await pending;
      expect(parse(answer.body).response['allowed']).toBe(allowed);
      expect(answer.body).toContain('no decision within 8 s of the 10 s that the webhook entry allows');
      expect(clock.waiting).toBe(0);
    },
  );

  it('takes what a late decision rejects with in silence', async () => {
    const late = Promise.withResolvers<Verdict>();
    const { edge, clock, lines } = edgeOf(testWebhook(() => late.promise));
    const pending = edge.answer(rawRequest(PATH, review));
    await clock.advance(8_000);
    await pending;
    late.reject(new Error('too late'));
    await clock.advance(1);
    expect(lines).toHaveLength(1);
  });

  it('asks nobody when the deadline has passed before', async () => {
    let asked = false;
    const { edge, clock } = edgeOf(
      testWebhook(() => {
        asked = true;
        return allow();
      }),
    );
    await clock.advance(9_000);
    const answer = await edge.answer(rawRequest(PATH, review));
    expect(parse(answer.body).response).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(asked).toBe(false);
  });

  it('stops waiting for a decision when the caller is gone', async () => {
    const caller = new AbortController();
    const { edge, clock, decisions } = edgeOf(testWebhook(deaf));
    const pending = edge.answer(rawRequest(PATH, review, { signal: caller.signal }));
    caller.abort(new GateError('GATE_CALLER_GONE', 'the caller closed the connection before the answer'));
    await pending;
    expect(decisions).toMatchObject([{ verdict: 'failed-closed', code: 'GATE_CALLER_GONE' }]);
    expect(clock.waiting).toBe(0);
  });
});

describe('overload', () => {
  const overload = new GateError('GATE_OVERLOADED', 'pacto-gate is overloaded: send again in a second');
  const undecided = (): Verdict => {
    throw new Error('a decision was made under overload');
  };

  it.each<[FailurePolicy, boolean]>([
    ['Fail', false],
    ['Ignore', true],
  ])('answers at once under %s, without a decision', async (policy, allowed) => {
    const { edge, decisions } = edgeOf(testWebhook(undecided, policy));
    const answer = await edge.answer(rawRequest(PATH, review, { overload }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed });
    expect(answer.body).toContain('pacto-gate is overloaded: send again in a second [GATE_OVERLOADED]');
    expect(decisions).toMatchObject([{ code: 'GATE_OVERLOADED' }]);
  });

  it('answers without reading what follows the uid', async () => {
    const { edge } = edgeOf(testWebhook(undecided));
    const head = Buffer.from(JSON.stringify(review)).subarray(0, 200);
    const answer = await edge.answer(rawRequest(PATH, head, { overload }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed: false });
  });

  it('reads all of a review in another order, and refuses what is none', async () => {
    const { edge } = edgeOf(testWebhook(undecided));
    const { kind, apiVersion, request } = review;
    const answer = await edge.answer(rawRequest(PATH, { request, apiVersion, kind }, { overload }));
    expect(parse(answer.body).response).toMatchObject({ uid, allowed: false });
    expect(answer.body).toContain('GATE_OVERLOADED');
    expect(await edge.answer(rawRequest(PATH, {}, { overload }))).toMatchObject({ status: 400 });
  });
});

describe('paths', () => {
  const policies: readonly Webhook[] = [
    {
      name: 'policies',
      path: '/validate/policies/{policy}',
      entry: ({ policy = '' }) =>
        ['a', 'a b', '../x', 'a/b'].includes(policy)
          ? { name: policy, failurePolicy: 'Fail', decide: () => allow({ warnings: [policy] }) }
          : undefined,
    },
    ...testWebhook(() => allow({ warnings: ['fixed'] })),
    {
      name: 'fixed',
      path: '/validate/policies/fixed',
      entry: () => ({ name: 'fixed', failurePolicy: 'Fail', decide: () => allow({ warnings: ['fixed'] }) }),
    },
  ];

  it.each([
    ['/validate/policies/a', 'a'],
    ['/validate/policies/a%20b', 'a b'],
    ['/validate/policies/%2e%2e%2fx', '../x'],
    ['/validate/policies/a%2Fb', 'a/b'],
    ['/validate/policies/fixed', 'fixed'],
  ])('finds %s, decoded once', async (path, found) => {
    const { edge } = edgeOf(policies);
    const answer = await edge.answer(rawRequest(path, review));
    expect(parse(answer.body).response.warnings).toEqual([found]);
  });

  it.each(['/validate/policies/b', '/validate/policies/a%252Fb', '/validate/policies/__proto__'])(
    'answers 503 for %s: a policy it does not know',
    async (path) => {
      const { edge, lines } = edgeOf(policies);
      expect(await edge.answer(rawRequest(path, review))).toMatchObject({
        status: 503,
        body: `"${path}": not known to this server: load what the webhook entry asks for, or remove the entry [GATE_WEBHOOK_UNKNOWN]\n`,
      });
      expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', webhook: 'policies' });
    },
  );

  it.each([
    '/validate/policies/',
    '/validate/policies/a/',
    '/validate/policies/../policies/a',
    '/validate//policies/a',
    '/validate/policies/%zz',
    '/validate/policies/%ff',
    '/validate/Policies/a',
    '',
    '/',
  ])('answers 404 for %j', async (path) => {
    const { edge } = edgeOf(policies);
    expect(await edge.answer(rawRequest(path, review))).toMatchObject({ status: 404 });
  });
});

describe('bounds', () => {
  it('keeps all warnings while they fit, and cuts each where they do not', async () => {
    const long = 'ü'.repeat(2_000);
    const few = edgeOf(testWebhook(() => allow({ warnings: [long, long] })));
    const answerFew = await few.edge.answer(rawRequest(PATH, review));
    expect(parse(answerFew.body).response.warnings).toEqual([long, long]);
    const many = edgeOf(
      testWebhook(() => allow({ warnings: ['short', ...Array<string>(40).fill(`😀${long}`)] })),
    );
    const warnings = parse((await many.edge.answer(rawRequest(PATH, review))).body).response.warnings ?? [];
    expect(warnings[0]).toBe('short');
    expect(warnings[1]).toBe(`😀${'ü'.repeat(254)}…`);
    expect(warnings).toHaveLength(17);
  });

  it('cuts audit values at 10,240 bytes and a message at 16,384, at whole characters', async () => {
    const audit = edgeOf(testWebhook(() => allow({ auditAnnotations: { a: `x${'ü'.repeat(6_000)}` } })));
    const annotations = parse((await audit.edge.answer(rawRequest(PATH, review))).body).response
      .auditAnnotations;
    expect(annotations).toEqual({ a: `x${'ü'.repeat(5_119)}` });
    const verdict = deny([{ code: 'ONE', where: 'a', message: '😀'.repeat(10_000) }]);
    const denial = edgeOf(testWebhook(() => verdict));
    const answer = await denial.edge.answer(rawRequest(PATH, review));
    const { message } = parse(answer.body).response['status'] as { message: string };
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(16_384);
    expect(message).toMatch(/^a: (😀)+…$/u);
  });
});

describe('the log', () => {
  it('has one line for a decision, of identities alone', async () => {
    const { edge, lines, clock } = edgeOf(
      testWebhook(() => deny([{ code: 'ONE', where: 'a', message: 'b' }])),
    );
    await clock.advance(2.5);
    await edge.answer(rawRequest(PATH, aReview({ object: aLease(), dryRun: true })));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      webhook: 'test',
      entry: ENTRY,
      uid,
      operation: 'CREATE',
      kind: 'Lease',
      namespace: 'pacto-node-agent',
      name: 'node-a',
      user: 'alice',
      dryRun: true,
      verdict: 'denied',
      codes: ['ONE'],
      durationMs: 2.5,
      message: 'admission decision',
    });
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['read', {}],
    ['unreadable', { operation: 'PATCH' }],
  ])('holds no poison of a review that was %s', async (_name, fields) => {
    const poison = 'hunter2-poison';
    const { edge, lines } = edgeOf(testWebhook(refusing(new GateError('GATE_UNSYNCED', 'no cache yet'))));
    const poisoned = aReview({
      object: aConfigMap({ data: { password: poison }, annotations: { token: poison } }),
      oldObject: aConfigMap({ data: { password: poison } }),
      user: aUser({ groups: [poison], uid: poison, extra: { [poison]: [poison] } }),
      options: { token: poison },
      with: fields,
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${poison}` };
    await edge.answer(rawRequest(PATH, poisoned, { headers, query: 'timeout=10s&token=hunter2-poison' }));
    expect(lines).toHaveLength(1);
    expect(lines.join('')).not.toContain('poison');
  });
});
