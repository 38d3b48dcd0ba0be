import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createServerProbe } from '../../src/install/server-probe.ts';
import type { ValidatingEntry } from '../../src/policies/entry.ts';
import { newTestTls, testTls, type TestTls } from '../support/tls.ts';
import { entryFor } from './support/pretended.ts';

interface Answer {
  readonly status: number;
  readonly body?: object | string;
}

const ALLOWED = { kind: 'AdmissionReview', response: { uid: 'x', allowed: true } };

describe('the probe of a server', () => {
  let tls: TestTls;
  let server: Server | undefined;

  beforeAll(async () => {
    tls = await testTls();
  });
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    server = undefined;
  });

  async function serve(
    answer: (path: string, review: { request: Record<string, unknown> }) => Answer,
    options: ServerOptions = {},
  ): Promise<number> {
    const { certPem, keyPem } = tls.pair;
    const started = createServer({ cert: certPem, key: keyPem, ...options }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { request: Record<string, unknown> };
        const { status, body = '' } = answer(request.url ?? '', review);
        response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return (started.address() as AddressInfo).port;
  }
  const entryAt = (port: number, ca = tls.ca): ValidatingEntry => ({
    ...entryFor('a'),
    clientConfig: {
      url: `https://127.0.0.1:${port}/validate/policies/a`,
      ...(ca !== '' && { caBundle: btoa(ca) }),
    },
  });
  const probe = (entry: ValidatingEntry): Promise<string | undefined> =>
    createServerProbe(systemClock)(entry, undefined);

  it('is content with a verdict, whichever it is, on a dry run about nothing that exists', async () => {
    const asked: unknown[] = [];
    const port = await serve((path, { request }) => {
      asked.push(path, request['dryRun'], request['operation']);
      return { status: 200, body: { ...ALLOWED, response: { uid: 'x', allowed: false } } };
    });
    expect(await probe(entryAt(port))).toBeUndefined();
    expect(asked).toEqual(['/validate/policies/a', true, 'CREATE']);
  });

  it.each([
    ['a path that is not known yet', { status: 503 }, 'does not know this path yet'],
    ['a failure', { status: 500 }, 'answered 500'],
    ['another program', { status: 200, body: '<html>' }, 'not that of an admission webhook'],
    [
      'an answer without a verdict',
      { status: 200, body: { kind: 'AdmissionReview' } },
      'not that of an admission webhook',
    ],
  ])('is not content with %s', async (_what, answer, why) => {
    const port = await serve(() => answer);
    expect(await probe(entryAt(port))).toContain(why);
  });

  it.each([401, 403])('takes %i for an answer: only an API server gets further', async (status) => {
    const port = await serve(() => ({ status }));
    expect(await probe(entryAt(port))).toBeUndefined();
  });

  it('takes the demand for a client certificate for an answer, after the own certificate was right', async () => {
    const options = { ca: tls.ca, requestCert: true, rejectUnauthorized: true };
    const port = await serve(() => ({ status: 200, body: ALLOWED }), options);
    expect(await probe(entryAt(port))).toBeUndefined();
    const other = await newTestTls();
    expect(await probe(entryAt(port, other.ca))).toContain('no answer from it');
  });

  it('trusts what the entry publishes and nothing else', async () => {
    const port = await serve(() => ({ status: 200, body: ALLOWED }));
    const other = await newTestTls();
    expect(await probe(entryAt(port, other.ca))).toContain('no answer from it');
    expect(await probe(entryAt(port, ''))).toContain('no answer from it');
    // Both of a rotation.
    expect(await probe(entryAt(port, `${other.ca}${tls.ca}`))).toBeUndefined();
  });

  it('says that nobody listens', async () => {
    const port = await serve(() => ({ status: 200 }));
    await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    expect(await probe(entryAt(port))).toBe('no answer from it: ECONNREFUSED');
  });

  it('ends with its round', async () => {
    const hangs = await serve(() => ({ status: 200, body: ALLOWED }));
    const gone = AbortSignal.abort(new Error('another installer leads'));
    await expect(createServerProbe(systemClock)(entryAt(hangs), gone)).rejects.toThrow(
      'another installer leads',
    );
  });
});
