import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { GateError } from '../../src/errors.ts';
import { guardRequests } from '../../src/http/callers.ts';
import { certificateCheck, createReadiness, registerMetrics, registerProbes } from '../../src/http/probes.ts';
import { createListener, type Listener, type ListenerOptions } from '../../src/http/server.ts';
import { ask } from '../support/http-client.ts';
import { testTls, type TestTls } from '../support/tls.ts';

let tls: TestTls;
const open: Listener[] = [];

beforeAll(async () => {
  tls = await testTls();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

async function listener(options: Partial<ListenerOptions> = {}): Promise<Listener> {
  const made = await createListener({
    name: 'metrics',
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    closeGraceMs: 100,
    onError: () => undefined,
    ...options,
  });
  open.push(made);
  return made;
}

const guard = (authorization: string | undefined): Promise<void> =>
  authorization === 'Bearer right'
    ? Promise.resolve()
    : Promise.reject(
        authorization === undefined
          ? new GateError('GATE_CALLER_UNAUTHENTICATED', 'caller: no token')
          : new GateError('GATE_CALLER_FORBIDDEN', 'caller: may not'),
      );

describe('probes', () => {
  it('are ready when every check is well, and name each one when asked', async () => {
    const made = await listener();
    const readiness = createReadiness();
    const certificate: { reason?: string } = {};
    readiness.add({ name: 'certificate', run: () => certificate.reason });
    readiness.add({ name: 'caches', run: () => Promise.resolve(undefined) });
    registerProbes(made.app, readiness);
    const { url } = await made.listen();
    const get = async (path: string): Promise<[number, string]> => {
      const answer = await ask(`${url}${path}`);
      return [answer.status, answer.text];
    };
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
    expect(await get('/readyz?verbose')).toEqual([200, '[+]certificate ok\n[+]caches ok\nok\n']);
    certificate.reason = 'expired';
    expect(await get('/readyz')).toEqual([503, '[-]certificate failed: expired\n[+]caches ok\nnot ready\n']);
    expect(await get('/livez')).toEqual([200, 'ok\n']);
    readiness.add({
      name: 'thrown',
      run: () => {
        throw new Error('no answer');
      },
    });
    expect((await get('/readyz'))[1]).toContain('[-]thrown failed: no answer\n');
  });
});

describe('the certificate check', () => {
  it('is well for a source in health, and gives the reason of one that is not', () => {
    expect(certificateCheck(tls.source).run()).toBe(undefined);
    const sick = { ...tls.source, health: () => ({ ok: false, reason: 'expired' }) as const };
    expect(certificateCheck(sick)).toMatchObject({ name: 'certificate' });
    expect(certificateCheck(sick).run()).toBe('expired');
  });
});

describe('metrics', () => {
  const provide = (): Promise<string> => Promise.resolve('up 1\n');
  const mediaType = 'text/plain; version=0.0.4';

  it('are served plain and to everybody on loopback alone', async () => {
    const made = await listener();
    registerMetrics(made, provide, { mediaType });
    const { url } = await made.listen();
    const answer = await ask(`${url}/metrics`);
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, 'up 1\n', mediaType]);
  });

  it.each([
    ['plain', false, true],
    ['open to everybody', true, false],
  ])('are denied beyond loopback when they are %s', async (_what, secure, guarded) => {
    const made = await listener({ host: '0.0.0.0', ...(secure ? { tls: tls.source } : {}) });
    expect(() => registerMetrics(made, provide, { mediaType, ...(guarded ? { guard } : {}) })).toThrow(
      'listener metrics: metrics on 0.0.0.0 need TLS and callers who prove themselves: set both, or listen on 127.0.0.1',
    );
  });

  it('are served to callers who prove themselves, and denied with 401 and 403 to others', async () => {
    const made = await listener({ tls: tls.source });
    registerMetrics(made, provide, { mediaType, guard });
    const { url } = await made.listen();
    const get = (headers: Record<string, string>): ReturnType<typeof ask> =>
      ask(`${url}/metrics`, { ca: tls.ca, headers });
    expect((await get({ authorization: 'Bearer right' })).status).toBe(200);
    const nobody = await get({});
    expect([nobody.status, nobody.headers['www-authenticate'], nobody.refusal()]).toEqual([
      401,
      'Bearer',
      { code: 'GATE_CALLER_UNAUTHENTICATED', message: 'caller: no token' },
    ]);
    const other = await get({ authorization: 'Bearer other' });
    expect([other.status, other.refusal()]).toEqual([
      403,
      { code: 'GATE_CALLER_FORBIDDEN', message: 'caller: may not' },
    ]);
  });
});

describe('guarded requests', () => {
  it('are denied before their body is read', async () => {
    const made = await listener({ tls: tls.source });
    guardRequests(made.app, guard);
    made.app.post('/', () => 'answered');
    const { url } = await made.listen();
    const body = Buffer.alloc(6 * 1024 * 1024);
    const refused = await ask(url, { body, ca: tls.ca });
    expect([refused.status, refused.headers.connection]).toEqual([401, 'close']);
    const allowed = await ask(url, { body, ca: tls.ca, headers: { authorization: 'Bearer right' } });
    expect([allowed.status, allowed.text]).toEqual([200, 'answered']);
  });
});
