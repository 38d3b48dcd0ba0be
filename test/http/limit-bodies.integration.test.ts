import { Agent } from 'node:https';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { limitBodies, type LimitBodiesOptions } from '../../src/http/limit-bodies.ts';
import { createLimits, type LimitOptions, type Limits } from '../../src/http/limits.ts';
import { createListener, type Listener } from '../../src/http/server.ts';
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
async function serve(numbers: LimitOptions, options: Partial<LimitBodiesOptions> = {}): Promise<Served> {
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    clock: systemClock,
    closeGraceMs: 100,
    onError: (error) => {
      throw error;
    },
  });
  const limits = createLimits(numbers);
  limitBodies(listener.app, limits, { clock: systemClock, ...options });
  const held: (() => void)[] = [];
  let inside = 0;
  const answer = (bytes: unknown, overload: unknown): object => ({
    bytes: (bytes as Buffer | undefined)?.byteLength ?? 0,
    overload: (overload as { code: string } | null)?.code ?? null,
  });
  listener.app.post('/', (request) => answer(request.body, request.overload));
  const hold = async (request: FastifyRequest): Promise<object> => {
    inside++;
    await new Promise<void>((resolve) => held.push(resolve));
    inside--;
    return answer(request.body, request.overload);
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

  it('grow with a chunked body and give all of it back once', async () => {
    const served = await serve({});
    const asked = send(served, '/held', 3 * MIB, true);
    await until('the handler runs', () => served.inside() === 1);
    expect(served.limits.stats()).toMatchObject({ bytesInFlight: 3 * MIB, running: 1 });
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
