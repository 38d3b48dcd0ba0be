import { Agent } from 'node:https';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createDrain, type Drain } from '../../src/http/drain.ts';
import { createReadiness, registerProbes } from '../../src/http/probes.ts';
import { createListener, type Listener } from '../../src/http/server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/conditions.ts';
import { ask, openTls } from '../support/http-client.ts';
import { testTls, type TestTls } from '../support/tls.ts';

let tls: TestTls;
const open: Listener[] = [];

beforeAll(async () => {
  tls = await testTls();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

interface Replica {
  readonly url: string;
  readonly port: number;
  readonly drain: Drain;
  readonly listener: Listener;
}

async function replica(drainMs: number, closeGraceMs = 5_000): Promise<Replica> {
  const drain = createDrain({ clock: systemClock, drainMs });
  const listener = await createListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    drain,
    clock: systemClock,
    closeGraceMs,
    onError: () => undefined,
  });
  registerProbes(listener.app, createReadiness(drain));
  listener.app.post('/', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'answered';
  });
  listener.app.get('/never', () => new Promise(() => undefined));
  drain.add(listener);
  open.push(listener);
  return { ...(await listener.listen()), drain, listener };
}

describe('the way down', () => {
  it('loses no request of clients that follow readiness, and each answer closes its connection', async () => {
    const replicas = [await replica(400), await replica(60_000)];
    const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: tls.ca });
    let target = 0;
    const stop = new AbortController();
    let sent = 0;
    let during = 0;
    const problems: unknown[] = [];
    // A proxy that asks for readiness now and then, as an endpoint controller does.
    const follow = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const ready = await ask(`${replicas[0]!.url}/readyz`, { ca: tls.ca }).catch(() => undefined);
        if (ready?.status !== 200) target = 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const load = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const chosen = replicas[target]!;
        const draining = chosen.drain.draining;
        try {
          const answer = await ask(chosen.url, { body: '{}', agent });
          sent++;
          if (answer.text !== 'answered') problems.push(answer.text);
          if (draining) {
            during++;
            if (answer.headers.connection !== 'close') problems.push('kept alive while draining');
          }
        } catch (error) {
          problems.push(error);
        }
      }
    };
    const running = [follow(), ...Array.from({ length: 8 }, load)];
    await until('the load runs', () => sent > 100);
    await replicas[0]!.drain.begin();
    const atTheEnd = sent;
    await until('the load goes on', () => sent > atTheEnd + 100);
    stop.abort();
    await Promise.all(running);
    agent.destroy();
    expect(problems).toEqual([]);
    expect(during).toBeGreaterThan(0);
    await expect(ask(replicas[0]!.url, { ca: tls.ca })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('goes on accepting while it drains, and is not ready', async () => {
    const { url, drain } = await replica(200);
    const begun = drain.begin();
    const ready = await ask(`${url}/readyz`, { ca: tls.ca });
    expect([ready.status, ready.text]).toEqual([503, '[-]serving failed: shutting down\nnot ready\n']);
    expect((await ask(`${url}/livez`, { ca: tls.ca })).status).toBe(200);
    await begun;
  });

  it('closes idle connections at its end, and after the grace those that still work', async () => {
    const { port, drain, listener } = await replica(0, 300);
    const idle = await openTls(port, { ca: tls.ca });
    idle.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    await until('it is answered', () => idle.received().includes('answered'));
    const busy = await openTls(port, { ca: tls.ca });
    busy.socket.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('both are there', () => listener.connections() === 2);
    const beganMs = performance.now();
    await drain.begin();
    expect(performance.now() - beganMs).toBeLessThan(3_000);
    expect(await busy.closed).toBe('');
    expect(await idle.closed).toContain('answered');
    await until('both are gone', () => listener.connections() === 0);
  });

  it('does not wait for connections that never brought a request', async () => {
    const { port, drain, listener } = await replica(0, 60_000);
    const unused = await openTls(port, { ca: tls.ca });
    await until('it is there', () => listener.connections() === 1);
    const beganMs = performance.now();
    await drain.begin();
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    expect(await unused.closed).toBe('');
  });

  it('waits for the first request of a connection that was only just made', async () => {
    const { port, drain } = await replica(0, 60_000);
    const fresh = await openTls(port, { ca: tls.ca });
    const begun = drain.begin();
    fresh.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    expect(await fresh.closed).toContain('answered');
    await begun;
  });

  it('takes 5 s by default, happens once, and closes every part although one fails', async () => {
    const clock = new FakeClock();
    const drain = createDrain({ clock });
    const closed: string[] = [];
    drain.add({ close: () => Promise.reject(new Error('stuck')) });
    drain.add({
      close: () => {
        closed.push('second');
        return Promise.resolve();
      },
    });
    expect(drain.draining).toBe(false);
    const begun = drain.begin().catch((error: unknown) => error);
    void drain.begin().catch(() => undefined);
    expect(drain.draining).toBe(true);
    await clock.advance(4_999);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(await begun).toEqual(new Error('stuck'));
    expect(closed).toEqual(['second']);
  });
});
