import { Agent } from 'node:https';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { limitBodies, type LimitBodiesOptions } from '../../src/http/limit-bodies.ts';
import { createLimits, type LimitOptions, type Limits } from '../../src/http/limits.ts';
import { createListener, type Listener, type ListenerOptions } from '../../src/http/server.ts';
import { until } from '../support/conditions.ts';
import { ask, openTls, type Answered } from '../support/http-client.ts';
import { testTls, type TestTls } from '../support/tls.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

let tls: TestTls;
const open: Listener[] = [];

beforeAll(async () => {
  tls = await testTls();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

interface Served {
  readonly url: string;
  readonly port: number;
  readonly limits: Limits;
  /** Lets every handler at the gate go on. */
  release(): void;
  /** How many handlers run. */
  inside(): number;
}

/** `/` answers at once, `/held` when it is released. */
async function serve(
  numbers: LimitOptions,
  options: Partial<LimitBodiesOptions> & Pick<ListenerOptions, 'keepsHead'> = {},
): Promise<Served> {
  const { keepsHead, ...limiting } = options;
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    clock: systemClock,
    closeGraceMs: 100,
    ...(keepsHead !== undefined && { keepsHead }),
    onError: (error) => {
      throw error;
    },
  });
  const limits = createLimits(numbers);
  limitBodies(listener.app, limits, { clock: systemClock, ...limiting });
  const held: (() => void)[] = [];
  let inside = 0;
  const answer = ({ body, overload, unread }: FastifyRequest): object => ({
    bytes: (body as Buffer | undefined)?.byteLength ?? 0,
    overload: overload?.code ?? null,
    ...(unread !== null && { unread: unread.code }),
  });
  listener.app.post('/', (request) => answer(request));
  const hold = async (request: FastifyRequest): Promise<object> => {
    inside++;
    await new Promise<void>((resolve) => held.push(resolve));
    inside--;
    return answer(request);
  };
  listener.app.post('/held', (request) => hold(request));
  open.push(listener);
  return {
    ...(await listener.listen()),
    limits,
    release: () => {
      for (const go of held.splice(0)) go();
    },
    inside: () => inside,
  };
}

const EMPTY = { running: 0, bytesInFlight: 0, queued: 0 };

function send(served: Served, path: string, bytes: number, chunked = false): Promise<Answered> {
  return ask(`${served.url}${path}`, { body: Buffer.alloc(bytes, 'x'), chunked, ca: tls.ca });
}

describe('limits of a listener', () => {
  it('reserve the declared length before the body has come, and give it back when the caller leaves', async () => {
    const served = await serve({});
    const wire = await openTls(served.port, { ca: tls.ca });
    wire.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(5 * MIB)}\r\n\r\n{`);
    await until('it is reserved', () => served.limits.stats().bytesInFlight === 5 * MIB);
    expect(served.limits.stats().running).toBe(0);
    wire.socket.destroy();
    await until('it is given back', () => served.limits.stats().bytesInFlight === 0);
  });

  it('grow with a chunked body, for which they hold less than twice of it, and give all of it back once', async () => {
    const served = await serve({});
    const asked = send(served, '/held', 3 * MIB, true);
    await until('the handler runs', () => served.inside() === 1);
    expect(served.limits.stats()).toMatchObject({ bytesInFlight: 4 * MIB, running: 1 });
    served.release();
    expect((await asked).json()).toEqual({ bytes: 3 * MIB, overload: null });
    await until('it is given back', () => served.limits.stats().bytesInFlight === 0);
    expect(served.limits.stats()).toMatchObject(EMPTY);
  });

  it('keep the place of a handler that still runs after its caller has left', async () => {
    const served = await serve({ maxConcurrent: 1 });
    const controller = new AbortController();
    const asked = ask(`${served.url}/held`, { body: 'x', ca: tls.ca, signal: controller.signal }).catch(
      () => 'left',
    );
    await until('the handler runs', () => served.inside() === 1);
    controller.abort();
    expect(await asked).toBe('left');
    const next = send(served, '/', 1);
    await until('the next one waits', () => served.limits.stats().queued === 1);
    expect(served.limits.stats()).toMatchObject({ running: 1, bytesInFlight: 2 });
    served.release();
    expect((await next).json()).toEqual({ bytes: 1, overload: null });
    await until('all is given back', () => served.limits.stats().running === 0);
    expect(served.limits.stats()).toMatchObject(EMPTY);
  });

  it('deny a large body at once with 429 when the queue is full, with and without a length', async () => {
    const served = await serve({ maxBytesInFlight: 16 * MIB, maxQueued: 0 });
    const first = send(served, '/held', 8 * MIB);
    await until('the room is taken', () => served.inside() === 1);
    for (const chunked of [false, true]) {
      const beganMs = performance.now();
      const refused = await send(served, '/', 6 * MIB, chunked);
      expect([refused.status, refused.headers['retry-after'], refused.headers.connection]).toEqual([
        429,
        '1',
        'close',
      ]);
      expect(refused.refusal()).toMatchObject({
        code: 'GATE_OVERLOADED',
        message: expect.stringMatching(/^pacto-gate is overloaded: .*: send again in a second$/) as string,
      });
      expect(performance.now() - beganMs).toBeLessThan(2_000);
    }
    served.release();
    expect((await first).status).toBe(200);
  });

  it('hand a small body to its handler with the overload marked, so that it can answer in its own words', async () => {
    const served = await serve({ maxConcurrent: 1, maxQueued: 0 });
    const first = send(served, '/held', 1);
    await until('the turn is taken', () => served.inside() === 1);
    expect((await send(served, '/', 4 * KIB)).json()).toEqual({
      bytes: 4 * KIB,
      overload: 'GATE_OVERLOADED',
    });
    served.release();
    expect((await first).json()).toEqual({ bytes: 1, overload: null });
    await until('all is given back', () => served.limits.stats().running === 0);
    expect(served.limits.stats()).toMatchObject(EMPTY);
  });

  it('mark a small body for which there is no room, without counting it', async () => {
    const served = await serve({ maxBytesInFlight: 128 * KIB, smallShareBytes: 32 * KIB, maxQueued: 0 });
    const first = [64 * KIB, 64 * KIB].map((bytes) => send(served, '/held', bytes));
    await until('the room is taken', () => served.inside() === 2);
    expect((await send(served, '/', 64 * KIB)).json()).toEqual({
      bytes: 64 * KIB,
      overload: 'GATE_OVERLOADED',
    });
    served.release();
    await Promise.all(first);
  });

  it('forget a caller who leaves while it waits for room', async () => {
    const served = await serve({ maxBytesInFlight: 16 * MIB });
    const first = send(served, '/held', 8 * MIB);
    await until('the room is taken', () => served.inside() === 1);
    const wire = await openTls(served.port, { ca: tls.ca });
    wire.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(6 * MIB)}\r\n\r\n{`);
    await until('it waits', () => served.limits.stats().queued === 1);
    wire.socket.destroy();
    await until('it is forgotten', () => served.limits.stats().queued === 0);
    served.release();
    expect((await first).status).toBe(200);
    await until('all is given back', () => served.limits.stats().running === 0);
    expect(served.limits.stats()).toMatchObject(EMPTY);
  });

  it('end a wait after its time', async () => {
    const served = await serve({ maxConcurrent: 1 }, { waitMs: () => 50 });
    const first = send(served, '/held', 1);
    await until('the turn is taken', () => served.inside() === 1);
    expect((await send(served, '/', 1)).json()).toEqual({ bytes: 1, overload: 'GATE_OVERLOADED' });
    served.release();
    await first;
  });

  it('answer small requests beside large ones that fill all room, and then the large ones', async () => {
    const served = await serve({ maxBytesInFlight: 32 * MIB });
    const held = [1, 2, 3].map(() => send(served, '/held', 8 * MIB));
    await until('the room is taken', () => served.inside() === 3);
    const large = [1, 2, 3, 4].map(() => send(served, '/', 6 * MIB));
    await until('large ones wait', () => served.limits.stats().queued === 4);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const small = await Promise.all(
      Array.from({ length: 100 }, () => ask(served.url, { body: 'x'.repeat(4 * KIB), ca: tls.ca, agent })),
    );
    expect(small.every((answer) => answer.status === 200)).toBe(true);
    expect(served.limits.stats().queued).toBe(4);
    served.release();
    expect((await Promise.all([...held, ...large])).map((answer) => answer.status)).toEqual(
      Array.from({ length: 7 }, () => 200),
    );
    agent.destroy();
    await until('all is given back', () => served.limits.stats().bytesInFlight === 0);
    expect(served.limits.stats()).toMatchObject(EMPTY);
  });
});

describe('a listener that keeps heads', () => {
  const keepsHead = (head: Uint8Array): boolean => head[0] === 0x78;
  const HEAD = { bytes: 64 * KIB, overload: null, unread: 'GATE_REVIEW_TOO_LARGE' };

  it.each([
    ['with a length', false],
    ['without a length', true],
  ])(
    'hands over the beginning of a body that is too large, %s, and holds no more',
    async (_what, chunked) => {
      const served = await serve({}, { keepsHead });
      const asked = send(served, '/held', 20 * MIB, chunked);
      await until('the handler runs', () => served.inside() === 1);
      expect(served.limits.stats().bytesInFlight).toBe(64 * KIB);
      served.release();
      expect((await asked).json()).toEqual(HEAD);
      await until('it is given back', () => served.limits.stats().bytesInFlight === 0);
    },
  );

  it('answers the next request on the same connection', async () => {
    const served = await serve({}, { keepsHead });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = Buffer.alloc(9 * MIB, 'x');
    expect((await ask(served.url, { body, ca: tls.ca, agent })).json()).toEqual(HEAD);
    expect((await ask(served.url, { body: 'x', ca: tls.ca, agent })).json()).toMatchObject({ bytes: 1 });
    agent.destroy();
  });

  it('denies with 413 what does not begin as wanted, and what is far too large', async () => {
    const served = await serve({}, { keepsHead });
    const foreign = await ask(served.url, { body: Buffer.alloc(9 * MIB, '!'), ca: tls.ca });
    expect([foreign.status, foreign.refusal().code]).toEqual([413, 'GATE_REVIEW_TOO_LARGE']);
    const huge = await send(served, '/', 64 * MIB + 1);
    expect([huge.status, huge.refusal().code]).toEqual([413, 'GATE_REVIEW_TOO_LARGE']);
  });

  it.each([
    ['with a length', false],
    ['without a length', true],
  ])('hands over the beginning of a large body without room, %s', async (_what, chunked) => {
    const served = await serve({ maxBytesInFlight: 16 * MIB, maxQueued: 0 }, { keepsHead });
    const first = send(served, '/held', 8 * MIB);
    await until('the room is taken', () => served.inside() === 1);
    expect((await send(served, '/', 6 * MIB, chunked)).json()).toEqual({
      bytes: 64 * KIB,
      overload: 'GATE_OVERLOADED',
      unread: 'GATE_OVERLOADED',
    });
    served.release();
    expect((await first).status).toBe(200);
  });
});

describe('a body that comes too slowly for its room', () => {
  it.each([
    ['with a length', `Content-Length: ${String(8 * MIB)}\r\n\r\n{`],
    [
      'without a length',
      `Transfer-Encoding: chunked\r\n\r\n${(130 * KIB).toString(16)}\r\n${'x'.repeat(130 * KIB)}\r\n`,
    ],
  ])('loses it, %s, while others wait', async (_what, rest) => {
    const served = await serve({ maxBytesInFlight: 16 * MIB }, { waitMs: () => 10_000 });
    const wire = await openTls(served.port, { ca: tls.ca });
    wire.socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`);
    await until('its room is taken', () => served.limits.stats().bytesInFlight > 64 * KIB);
    const next = send(served, '/', 8 * MIB);
    expect(await wire.closed).toContain('[GATE_REVIEW_SLOW]');
    expect((await next).json()).toEqual({ bytes: 8 * MIB, overload: null });
    await until('all is given back', () => served.limits.stats().bytesInFlight === 0);
  });
});
