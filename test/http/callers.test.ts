import { describe, expect, it } from 'vitest';
import type { AccessQuestion, TokenReviewResult } from '../../src/cluster/cluster.ts';
import { createCallers, metricsGuard, usernamesGuard, type Callers } from '../../src/http/callers.ts';
import { createReviewCap, type ReviewCapOptions } from '../../src/http/review-cap.ts';
import { FakeClock } from '../support/fake-clock.ts';

interface Api {
  readonly clock: FakeClock;
  readonly callers: Callers;
  readonly tokens: string[];
  readonly questions: AccessQuestion[];
  answer: (token: string, signal: AbortSignal | undefined) => Promise<TokenReviewResult>;
  allowed: boolean;
}

function good(username = 'system:apiserver', audiences = ['pacto-gate']): TokenReviewResult {
  return { authenticated: true, user: { username }, audiences };
}

function api(cap: Partial<ReviewCapOptions> = {}, audiences = ['pacto-gate']): Api {
  const clock = new FakeClock();
  const tokens: string[] = [];
  const questions: AccessQuestion[] = [];
  const made: Api = {
    clock,
    tokens,
    questions,
    answer: () => Promise.resolve(good()),
    allowed: true,
    callers: createCallers({
      clock,
      audiences,
      cap: createReviewCap({ clock, ...cap }),
      cluster: {
        reviewToken(token, _audiences, options) {
          tokens.push(token);
          return made.answer(token, options?.signal);
        },
        reviewAccess(question) {
          questions.push(question);
          return Promise.resolve({ allowed: made.allowed, denied: false, reason: '' });
        },
      },
    }),
  };
  return made;
}

describe('authentication', () => {
  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Bearer a b',
    'Bearer a\u0000b',
    'token',
  ])('denies the header field %j without asking the API server', async (authorization) => {
    const { callers, tokens } = api();
    await expect(callers.authenticate(authorization)).rejects.toMatchObject({
      code: 'GATE_CALLER_UNAUTHENTICATED',
      message:
        'caller: no bearer token in the header field Authorization: send one for the audience "pacto-gate"',
    });
    expect(tokens).toEqual([]);
  });

  it.each([
    ['a token that is not accepted', { authenticated: false, user: {}, audiences: [] }],
    ['a token for another audience', good('someone', ['https://kubernetes.default.svc'])],
    ['an answer without audiences', good('someone', [])],
  ])('denies %s', async (_what, result) => {
    const made = api();
    made.answer = () => Promise.resolve(result);
    await expect(made.callers.authenticate('Bearer secret-token')).rejects.toMatchObject({
      code: 'GATE_CALLER_UNAUTHENTICATED',
      message:
        'caller: the API server does not accept the token: send a valid one for the audience "pacto-gate"',
    });
  });

  it('allows an accepted token of any audience where none is asked for', async () => {
    const made = api({}, []);
    made.answer = () => Promise.resolve(good('someone', ['https://kubernetes.default.svc']));
    expect(await made.callers.authenticate('bearer abc.def-_~+/==')).toEqual({ username: 'someone' });
  });

  it('asks once in 10 s for a good token, and again after that', async () => {
    const { callers, tokens, clock } = api();
    await callers.authenticate('Bearer a');
    await clock.advance(9_999);
    await callers.authenticate('Bearer a');
    expect(tokens).toHaveLength(1);
    await clock.advance(1);
    await callers.authenticate('Bearer a');
    expect(tokens).toHaveLength(2);
  });

  it('asks once a second for a bad token', async () => {
    const made = api();
    made.answer = () => Promise.resolve({ authenticated: false, user: {}, audiences: [] });
    const deny = (): Promise<void> =>
      expect(made.callers.authenticate('Bearer a')).rejects.toMatchObject({
        code: 'GATE_CALLER_UNAUTHENTICATED',
      });
    await deny();
    await made.clock.advance(999);
    await deny();
    expect(made.tokens).toHaveLength(1);
    await made.clock.advance(1);
    await deny();
    expect(made.tokens).toHaveLength(2);
  });

  it('asks once for callers that come together with the same token', async () => {
    const { callers, tokens } = api();
    await Promise.all(Array.from({ length: 50 }, () => callers.authenticate('Bearer a')));
    expect(tokens).toHaveLength(1);
  });

  it('denies with 503 what the API server does not answer, remembers nothing, and says no token', async () => {
    const made = api();
    made.answer = (_token, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const asked = made.callers.authenticate('Bearer secret-token').catch((error: unknown) => error);
    await made.clock.advance(5_000);
    expect(await asked).toMatchObject({
      code: 'GATE_CALLER_UNVERIFIED',
      disposition: 'retry',
      message: 'caller: the API server cannot be asked who this is: see the log of pacto-gate',
      fields: { cause: 'no answer within 5000 ms' },
    });
    made.answer = () => Promise.resolve(good());
    expect(await made.callers.authenticate('Bearer secret-token')).toEqual({ username: 'system:apiserver' });
    expect(made.clock.waiting).toBe(0);
  });
});

describe('the ceiling on reviews', () => {
  it('denies strangers beyond it while a caller known before is still recognised', async () => {
    const made = api({ burst: 3, ratePerSecond: 1 });
    await made.callers.authenticate('Bearer known');
    await made.clock.advance(10_000);
    made.answer = (token) =>
      Promise.resolve(token === 'known' ? good() : { authenticated: false, user: {}, audiences: [] });
    const codes: string[] = [];
    for (let index = 0; index < 10; index++) {
      await made.callers.authenticate(`Bearer made-up-${String(index)}`).catch((error: { code: string }) => {
        codes.push(error.code);
      });
    }
    expect(codes.filter((code) => code === 'GATE_CALLER_UNAUTHENTICATED')).toHaveLength(3);
    expect(codes.filter((code) => code === 'GATE_OVERLOADED')).toHaveLength(7);
    expect(await made.callers.authenticate('Bearer known')).toEqual({ username: 'system:apiserver' });
    // One more for each second that passes.
    await made.clock.advance(1_000);
    await expect(made.callers.authenticate('Bearer other')).rejects.toMatchObject({
      code: 'GATE_CALLER_UNAUTHENTICATED',
    });
  });

  it('bounds how many are asked at once', async () => {
    const made = api({ maxConcurrent: 2 });
    const answers: (() => void)[] = [];
    made.answer = () => new Promise((resolve) => answers.push(() => resolve(good())));
    const asked = [1, 2].map((n) => made.callers.authenticate(`Bearer ${String(n)}`));
    await expect(made.callers.authenticate('Bearer 3')).rejects.toMatchObject({ code: 'GATE_OVERLOADED' });
    for (const answer of answers) answer();
    await Promise.all(asked);
    made.answer = () => Promise.resolve(good());
    await made.callers.authenticate('Bearer 3');
  });
});

describe('authorization', () => {
  it('allows metrics to who may get the path, and denies others with 403', async () => {
    const made = api();
    const guard = metricsGuard(made.callers);
    await guard('Bearer a');
    expect(made.questions).toEqual([
      { user: { username: 'system:apiserver' }, nonResource: { verb: 'get', path: '/metrics' } },
    ]);
    made.allowed = false;
    await made.clock.advance(10_000);
    await expect(guard('Bearer a')).rejects.toMatchObject({
      code: 'GATE_CALLER_FORBIDDEN',
      message: 'caller: "system:apiserver" may not get /metrics: grant it by RBAC',
    });
  });

  const aVerdict = (name: string, verb = 'get'): Parameters<Callers['authorize']>[1] => ({
    resource: { verb, group: 'g.test', version: 'v1', resource: 'pactos', namespace: 'shop', name },
  });
  const mayGet = ({ callers }: Api, name: string): Promise<string> =>
    callers.authorize({ username: 'a' }, aVerdict(name)).then(
      () => 'allowed',
      (error: { code: string }) => error.code,
    );

  it('asks once in 10 s for a right that is there, and denies it 10 s after it was taken away', async () => {
    const made = api();
    expect(await mayGet(made, 'web')).toBe('allowed');
    made.allowed = false;
    await made.clock.advance(9_999);
    expect(await mayGet(made, 'web')).toBe('allowed');
    expect(made.questions).toHaveLength(1);
    await made.clock.advance(1);
    expect(await mayGet(made, 'web')).toBe('GATE_CALLER_FORBIDDEN');
  });

  it('asks once a second for a right that is missing, and allows it a second after it was given', async () => {
    const made = api();
    made.allowed = false;
    expect(await mayGet(made, 'web')).toBe('GATE_CALLER_FORBIDDEN');
    made.allowed = true;
    await made.clock.advance(999);
    expect(await mayGet(made, 'web')).toBe('GATE_CALLER_FORBIDDEN');
    expect(made.questions).toHaveLength(1);
    await made.clock.advance(1);
    expect(await mayGet(made, 'web')).toBe('allowed');
  });

  it('takes the right of one for that of nobody else, and for no other object or verb', async () => {
    const made = api();
    for (const [user, question] of [
      [{ username: 'a' }, aVerdict('web')],
      [{ username: 'b' }, aVerdict('web')],
      [{ username: 'a', uid: '1' }, aVerdict('web')],
      [{ username: 'a', groups: ['g'] }, aVerdict('web')],
      [{ username: 'a', extra: { scope: ['x'] } }, aVerdict('web')],
      [{ username: 'a' }, aVerdict('cart')],
      [{ username: 'a' }, aVerdict('web', 'update')],
    ] as const)
      await made.callers.authorize(user, question);
    expect(made.questions).toHaveLength(7);
  });

  it('asks once for the same right of those who come together, beyond the ceiling on reviews', async () => {
    const made = api({ burst: 1, ratePerSecond: 1 });
    const asked = await Promise.all(Array.from({ length: 200 }, () => mayGet(made, 'web')));
    expect(new Set(asked)).toEqual(new Set(['allowed']));
    expect(made.questions).toHaveLength(1);
    expect(await mayGet(made, 'cart')).toBe('GATE_OVERLOADED');
  });

  it('keeps what others may while somebody is denied one thing after the other', async () => {
    const made = api({ burst: 5_000 });
    expect(await mayGet(made, 'web')).toBe('allowed');
    made.allowed = false;
    for (let index = 0; index < 1_500; index++) await mayGet(made, `none-${String(index)}`);
    expect(await mayGet(made, 'web')).toBe('allowed');
  });

  it('allows the named users to call webhooks and denies others, quoting what they chose', async () => {
    const made = api();
    const guard = usernamesGuard(made.callers, ['system:apiserver']);
    await guard('Bearer a');
    made.answer = () => Promise.resolve(good('evil\nuser'));
    await expect(guard('Bearer b')).rejects.toMatchObject({
      code: 'GATE_CALLER_FORBIDDEN',
      message: String.raw`caller: "evil\nuser" may not call webhooks: add it to the allowed callers if it is an API server`,
    });
  });
});

describe('a stranger with made-up tokens', () => {
  const refused: TokenReviewResult = { authenticated: false, user: {}, audiences: [] };

  function besieged(): Api {
    const made = api();
    made.answer = (token) => Promise.resolve(token.startsWith('good') ? good() : refused);
    return made;
  }

  async function attack({ callers }: Api, from: (index: number) => string | undefined): Promise<number> {
    let overloaded = 0;
    for (let index = 0; index < 200; index++) {
      const code = await callers.authenticate(`Bearer bad${String(index)}`, from(index)).then(
        () => 'none',
        (error: { code: string }) => error.code,
      );
      if (code === 'GATE_OVERLOADED') overloaded++;
    }
    return overloaded;
  }

  it('is denied more than his share, and allows a caller from elsewhere to be recognised', async () => {
    const made = besieged();
    expect(await attack(made, () => '10.0.0.66')).toBe(190);
    await expect(made.callers.authenticate('Bearer good', '10.0.0.1')).resolves.toMatchObject({
      username: 'system:apiserver',
    });
    expect(made.tokens).toHaveLength(11);
  });

  it.each([
    ['addresses of IPv6', (index: number) => `2001:db8::${(index + 1).toString(16)}`],
    ['addresses of IPv6 written out', (index: number) => `2001:db8:0:0:1:2:3:${index.toString(16)}`],
    ['spellings of an address', (index: number) => (index % 2 === 0 ? '10.0.0.66' : '::ffff:10.0.0.66')],
  ])('is denied more than his share by many %s', async (_name, from) => {
    expect(await attack(besieged(), from)).toBe(190);
  });

  it('from many addresses allows a caller who was here before to come back with a new token', async () => {
    const made = besieged();
    await made.callers.authenticate('Bearer good1', '10.0.0.1');
    expect(await attack(made, (index) => `10.0.1.${String(index)}`)).toBeGreaterThan(100);
    await expect(made.callers.authenticate('Bearer good2', '10.0.0.1')).resolves.toBeDefined();
    // Nobody from elsewhere gets in meanwhile.
    await expect(made.callers.authenticate('Bearer good3', '10.0.0.2')).rejects.toMatchObject({
      code: 'GATE_OVERLOADED',
    });
  });

  it('is denied the place of those who come back once an hour has passed', async () => {
    const made = besieged();
    await made.callers.authenticate('Bearer good1', '10.0.0.1');
    await made.clock.advance(3_600_000);
    await attack(made, (index) => `10.0.1.${String(index)}`);
    await expect(made.callers.authenticate('Bearer good2', '10.0.0.1')).rejects.toMatchObject({
      code: 'GATE_OVERLOADED',
    });
  });
});
