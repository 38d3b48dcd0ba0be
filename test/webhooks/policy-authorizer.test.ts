/** Questions to the authorizer: their share of the deadline, how often they go out, and what comes of a failure. */
import { describe, expect, it } from 'vitest';
import { createAccessReviews, type ReviewAccess } from '../../src/cluster/access-reviews.ts';
import type { AccessAnswer, AccessQuestion, CallOptions } from '../../src/cluster/cluster.ts';
import { GateError } from '../../src/errors.ts';
import type { LiveCallFacts } from '../../src/metrics.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { readerOver } from './decide-by.ts';
import { edgeOf, rawRequest, type EdgeUnderTest } from './edge-parts.ts';
import {
  aBinding,
  aPolicy,
  aReview,
  responseIn,
  shop,
  webhookOf,
  type PolicyResponse,
} from './policy-webhook.ts';

const YES: AccessAnswer = { allowed: true, denied: false, reason: '' };
const NO: AccessAnswer = { allowed: false, denied: false, reason: '' };
const MAY = "authorizer.group('').resource('pods').namespace('shop').check('get')";
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Asked {
  readonly question: AccessQuestion;
  readonly signal: AbortSignal | undefined;
  answer(answer: AccessAnswer): void;
  fail(error: unknown): void;
}

/** An authorizer that the test answers by hand; it does not heed its signal, as the worst would not. */
function heldAuthorizer(): { asked: Asked[]; reviewAccess: ReviewAccess } {
  const asked: Asked[] = [];
  return {
    asked,
    reviewAccess: (question, { signal }: CallOptions) =>
      new Promise((answer, fail) => asked.push({ question, signal, answer, fail })),
  };
}

function asking(
  expression: string,
  reviewAccess: ReviewAccess,
  failurePolicy = 'Fail',
): EdgeUnderTest & { ask: (query?: string) => Promise<PolicyResponse> } {
  const objects = [aPolicy('p', { failurePolicy, validations: [{ expression }] }), aBinding('p')];
  const under = edgeOf([webhookOf({ objects, reviewAccess })], readerOver([shop]));
  return {
    ...under,
    async ask(query = 'timeout=10s') {
      const raw = rawRequest('/validate/policies/p', aReview(), {
        query,
        receivedMs: under.clock.monotonic(),
      });
      return responseIn((await under.edge.answer(raw)).body);
    },
  };
}

describe('a question to the authorizer', () => {
  it.each<[string, string, number]>([
    ['2 s of 8', 'timeout=10s', 2_000],
    ['half of what is left where that is less', 'timeout=2s', 800],
  ])('has its share of the deadline: %s', async (_what, query, shareMs) => {
    const { asked, reviewAccess } = heldAuthorizer();
    const { clock, ask } = asking(`${MAY}.allowed()`, reviewAccess);
    let response: PolicyResponse | undefined;
    void ask(query).then((found) => (response = found));
    await turn();
    expect(asked).toHaveLength(1);
    await clock.advance(shareMs - 1);
    await turn();
    expect([response, asked[0]?.signal?.aborted]).toEqual([undefined, false]);
    await clock.advance(1);
    await turn();
    expect(asked[0]?.signal?.aborted).toBe(true);
    expect(response).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
    expect(response?.status?.message).toContain(
      `the API server did not say within ${String(shareMs / 1000)} s whether the user may do what an expression asks`,
    );
    expect(response?.status?.message).toContain('[GATE_DEADLINE_EXCEEDED]');
  });

  it('leaves its share to the next when it is answered, and no timer behind', async () => {
    const { asked, reviewAccess } = heldAuthorizer();
    const { clock, ask } = asking(
      `${MAY}.allowed() && ${MAY.replace('get', 'list')}.allowed()`,
      reviewAccess,
    );
    const response = ask();
    await turn();
    await clock.advance(1_900);
    asked[0]?.answer(YES);
    await turn();
    await clock.advance(1_900);
    asked[1]?.answer(YES);
    expect(await response).toMatchObject({ allowed: true });
    expect(clock.waiting).toBe(0);
  });

  it('is asked once in a request, however often its expressions ask', async () => {
    const { asked, reviewAccess } = heldAuthorizer();
    const expression = `${MAY}.allowed() && ${MAY}.reason() == 'because'`;
    const { ask } = asking(expression, reviewAccess);
    const response = ask();
    await turn();
    asked[0]?.answer({ ...YES, reason: 'because' });
    expect(await response).toEqual({ uid: 'u-1', allowed: true });
    expect(asked).toHaveLength(1);
    void ask();
    await turn();
    expect(asked, 'the next request asks for itself').toHaveLength(2);
  });

  it('allows nothing that comes after the end', async () => {
    const { asked, reviewAccess } = heldAuthorizer();
    const { clock, ask, lines, decisions } = asking(`${MAY}.allowed()`, reviewAccess);
    const response = ask();
    await turn();
    await clock.advance(2_000);
    expect(await response).toMatchObject({ allowed: false });
    asked[0]?.answer(YES);
    await turn();
    expect(lines).toHaveLength(1);
    expect(decisions).toMatchObject([{ verdict: 'failed-closed', code: 'GATE_DEADLINE_EXCEEDED' }]);
  });
});

const refused = new GateError(
  'GATE_CLUSTER_UNREACHABLE',
  'cannot review an access: no answer from the API server',
);

describe('an authorizer that fails', () => {
  const failures: [string, ReviewAccess, string][] = [
    ['refuses us', () => Promise.reject(refused), 'GATE_CLUSTER_UNREACHABLE'],
    ['breaks in a way that nobody foresaw', () => Promise.reject(new Error('secret')), 'GATE_INTERNAL'],
  ];
  // What is absorbed natively is an error of CEL; that we could not ask is none, and must not pass for an answer.
  const expressions = [
    `${MAY}.allowed()`,
    `!${MAY}.allowed()`,
    `${MAY}.allowed() || object.metadata.name == 'b'`,
    `${MAY}.allowed() || true`,
    `[1].exists(n, ${MAY}.errored())`,
  ];
  for (const [what, reviewAccess, code] of failures) {
    it.each(expressions)(
      `and ${what} fails closed under Fail, aloud open under Ignore: %s`,
      async (expression) => {
        const closed = asking(expression, reviewAccess);
        const denied = await closed.ask();
        expect(denied).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
        expect(denied.status?.message).toContain(`[${code}]`);
        expect(denied.status?.message).not.toContain('secret');
        expect(closed.decisions).toMatchObject([{ verdict: 'failed-closed', code }]);
        const open = asking(expression, reviewAccess, 'Ignore');
        const allowed = await open.ask();
        expect(allowed.allowed).toBe(true);
        expect(allowed.warnings?.join()).toContain(`[${code}]`);
        expect(allowed.auditAnnotations?.['failed-open']).toContain(`[${code}]`);
        expect(open.decisions).toMatchObject([{ verdict: 'failed-open', code }]);
      },
    );
  }

  it('for our own cap fails closed under Fail, aloud open under Ignore', async () => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const reviews = createAccessReviews({
        cluster: { reviewAccess: () => Promise.resolve(YES) },
        clock: new FakeClock(),
        limits: { burst: 1 },
      });
      const { ask, decisions } = asking(`${MAY}.allowed()`, reviews, failurePolicy);
      expect(await ask()).toEqual({ uid: 'u-1', allowed: true });
      const { allowed, status, warnings, auditAnnotations } = await ask();
      expect(allowed).toBe(failurePolicy === 'Ignore');
      expect(status?.message ?? warnings?.join()).toContain('[GATE_OVERLOADED]');
      expect(auditAnnotations !== undefined).toBe(allowed);
      expect(decisions[1]).toMatchObject({ code: 'GATE_OVERLOADED' });
    }
  });

  it('is not asked where the expression does not need it', async () => {
    const { ask, decisions } = asking(`true || ${MAY}.allowed()`, () => Promise.reject(refused));
    expect(await ask()).toMatchObject({ allowed: true });
    expect(decisions).toMatchObject([{ verdict: 'allowed' }]);
  });

  it.each<[string, boolean]>([
    [`${MAY}.allowed()`, false],
    [`!${MAY}.allowed()`, true],
    [`${MAY}.errored()`, true],
    [`${MAY}.error() == 'webhook authorizer: timeout'`, true],
    [`${MAY}.allowed() || object.metadata.name == 'a'`, true],
  ])('and says so in its answer is an answer, as natively: %s is %s', async (expression, allowed) => {
    const answer = { ...NO, evaluationError: 'webhook authorizer: timeout' };
    const { ask, decisions } = asking(expression, () => Promise.resolve(answer));
    expect(await ask()).toMatchObject({ allowed });
    expect(decisions).toMatchObject([{ verdict: allowed ? 'allowed' : 'denied' }]);
  });
});

describe('access reviews', () => {
  const question = (username: string): AccessQuestion => ({
    user: { username },
    nonResource: { verb: 'get', path: '/x' },
  });

  function shared(limits: object = {}): {
    asked: Asked[];
    told: LiveCallFacts[];
    review: (username: string, signal?: AbortSignal) => Promise<unknown>;
  } {
    const { asked, reviewAccess } = heldAuthorizer();
    const told: LiveCallFacts[] = [];
    const reviews = createAccessReviews({
      cluster: { reviewAccess: (asking_, options = {}) => reviewAccess(asking_, options) },
      clock: new FakeClock(),
      limits,
      report: (facts) => void told.push(facts),
    });
    const review = (username: string, signal?: AbortSignal): Promise<unknown> =>
      reviews(question(username), signal === undefined ? {} : { signal }).catch((error: unknown) => error);
    return { asked, told, review };
  }

  it('are one for the same question at the same time, and another for another user', async () => {
    const { asked, told, review } = shared();
    const answers = [review('a'), review('a'), review('b')];
    await turn();
    expect(asked.map(({ question: { user } }) => user.username)).toEqual(['a', 'b']);
    asked[0]?.answer(YES);
    asked[1]?.answer(NO);
    expect(await Promise.all(answers)).toEqual([YES, YES, NO]);
    void review('a');
    await turn();
    expect(asked).toHaveLength(3);
    expect(told.map(({ call, outcome }) => [call, outcome])).toEqual([
      ['access', 'answered'],
      ['access', 'answered'],
    ]);
  });

  it('are so many in the whole process, and more are refused', async () => {
    const { asked, told, review } = shared({ burst: 2, perSecond: 1 });
    void review('a');
    void review('b');
    expect(await review('c')).toMatchObject({
      code: 'GATE_OVERLOADED',
      message: 'cannot review an access: too many access reviews (at most 1 a second and 32 at once); retry',
    });
    await turn();
    expect(asked).toHaveLength(2);
    expect(told).toEqual([{ call: 'access', outcome: 'refused', durationSeconds: 0 }]);
  });
});
