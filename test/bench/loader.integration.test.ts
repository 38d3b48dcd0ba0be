import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { TlsPair } from '../../src/http/certificate.ts';
import { issueAuthority, issueLeaf } from '../../src/http/issue.ts';
import { createProcessGuard } from '../cluster/support/processes.ts';
import { LoadClient } from './load-client.ts';
import type { StreamJob, StreamResult } from './load-job.ts';
import { SecretMount } from './secret-mount.ts';
import { ServerStarter } from './servers.ts';

interface Review {
  readonly request: { readonly uid: string };
}
type Handler = (review: Review, response: ServerResponse, request: IncomingMessage) => void;

const STREAM: StreamJob = {
  name: 'test',
  body: 'lease-update-own',
  paths: ['/validate'],
  expectAllowed: true,
  arrivals: { ratePerSecond: 200, seconds: 0.25 },
  connections: 4,
};

let authority: TlsPair;
let leaf: TlsPair;
let loader: LoadClient;
let server: Server | undefined;

beforeAll(async () => {
  const nowMs = Date.now();
  authority = await issueAuthority({ nowMs });
  leaf = await issueLeaf(authority, { nowMs, dnsNames: ['localhost'], ipAddresses: [] });
  loader = await LoadClient.start(undefined);
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

afterAll(async () => {
  await loader.close();
});

function answer(response: ServerResponse, uid: string, allowed = true, status = 200): void {
  const body = JSON.stringify({ kind: 'AdmissionReview', response: { uid, allowed } });
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function load(handler: Handler, changes: Partial<StreamJob> = {}): Promise<StreamResult> {
  server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      handler(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review, response, request),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint = {
    host: '127.0.0.1',
    port,
    serverName: 'localhost',
    ca: [authority.certPem],
  };
  const [result] = await loader.run({ endpoint, streams: [{ ...STREAM, ...changes }] });
  return result!;
}

describe('the load generator', () => {
  test('sends each request once, with a uid of its own, over the connections it may keep', async () => {
    const uids = new Set<string>();
    const urls = new Set<string | undefined>();
    const result = await load((review, response, request) => {
      uids.add(review.request.uid);
      urls.add(request.url);
      answer(response, review.request.uid);
    });
    expect(result).toMatchObject({ requests: 50, succeeded: 50, failed: 0, failures: {}, handshakes: 4 });
    expect(result.latency.count).toBe(50);
    expect(uids.size).toBe(50);
    expect([...urls]).toEqual(['/validate?timeout=10s']);
  });

  test('spreads requests over its paths in turn, and keeps what was answered where it is asked to', async () => {
    const urls: (string | undefined)[] = [];
    const result = await load(
      (review, response, request) => {
        urls.push(request.url);
        const isFirst = request.url?.startsWith('/a') === true;
        const body = JSON.stringify({
          kind: 'AdmissionReview',
          response: {
            uid: review.request.uid,
            allowed: isFirst,
            ...(!isFirst && { status: { message: 'no' } }),
            auditAnnotations: { version: 'v1' },
          },
        });
        response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body);
      },
      { paths: ['/a', '/b'], expectAllowed: undefined, keepsAnswers: true, connections: 1 },
    );
    expect(result).toMatchObject({ requests: 50, succeeded: 50, failed: 0 });
    expect(urls).toEqual(
      Array.from({ length: 50 }, (_, index) => `/${index % 2 === 0 ? 'a' : 'b'}?timeout=10s`),
    );
    expect(result.answers).toHaveLength(50);
    expect(result.answers.slice(0, 2)).toMatchObject([
      { path: 0, allowed: true, message: '', annotations: ['v1'] },
      { path: 1, allowed: false, message: 'no', annotations: ['v1'] },
    ]);
    for (const { sentMs, answeredMs } of result.answers) {
      expect(answeredMs).toBeGreaterThan(sentMs);
      expect(Math.abs(answeredMs - Date.now())).toBeLessThan(60_000);
    }
  });

  test('opens a connection for each request where it is asked to', async () => {
    const result = await load((review, response) => answer(response, review.request.uid), {
      connections: 'each',
    });
    expect(result).toMatchObject({ succeeded: 50, failed: 0, handshakes: 50 });
  });

  test('does not measure the warm-up but still verifies it', async () => {
    let count = 0;
    const result = await load(
      (review, response) => {
        count += 1;
        answer(response, review.request.uid, count !== 1);
      },
      { arrivals: { ratePerSecond: 200, seconds: 0.1, warmupSeconds: 0.1 } },
    );
    expect(result).toMatchObject({ requests: 40, failed: 1, failures: { 'allowed is false': 1 } });
    expect(result.latency.count).toBe(20);
  });

  test.each<[string, Handler]>([
    ['status 503', (review, response) => answer(response, review.request.uid, true, 503)],
    ['answer to another uid', (_, response) => answer(response, '00000000-0000-4000-8000-ffffffffffff')],
    ['allowed is false', (review, response) => answer(response, review.request.uid, false)],
    ['not JSON', (_, response) => response.writeHead(200, { 'content-length': 2 }).end('no')],
    ['not an AdmissionReview', (_, response) => response.writeHead(200, { 'content-length': 2 }).end('{}')],
    ['closed by the server', (_, response) => response.socket?.end()],
    [
      'answer that is not HTTP/1.1 with a length',
      (_, response) => response.socket?.write('nonsense\r\n\r\n'),
    ],
  ])('counts "%s" as a failure of every request', async (reason, handler) => {
    const result = await load(handler);
    expect(result).toMatchObject({ requests: 50, succeeded: 0, failed: 50, failures: { [reason]: 50 } });
  });

  test('reopens after an answer with Connection: close and loses nothing', async () => {
    const result = await load((review, response) => {
      response.setHeader('connection', 'close');
      answer(response, review.request.uid);
    });
    expect(result).toMatchObject({ succeeded: 50, failed: 0 });
    expect(result.handshakes).toBeGreaterThanOrEqual(50);
  });

  test('charges a server that stalls for all requests that came due meanwhile', async () => {
    let isFirst = true;
    const result = await load(
      (review, response) => {
        const respond = (): void => answer(response, review.request.uid);
        if (isFirst) setTimeout(respond, 200);
        else respond();
        isFirst = false;
      },
      { connections: 1 },
    );
    expect(result).toMatchObject({ requests: 50, succeeded: 50 });
    // Requests came due every 5 ms of the 200: a client that waits for answers would have seen one slow one.
    expect(result.latency.p50Ms).toBeGreaterThan(50);
  });

  test('does not take the word of a server whose certificate it cannot verify', async () => {
    const stranger = await issueAuthority({ nowMs: Date.now() });
    const good = authority;
    authority = stranger;
    try {
      const result = await load((review, response) => answer(response, review.request.uid));
      expect(result).toMatchObject({ succeeded: 0, failed: 50, handshakes: 0 });
    } finally {
      authority = good;
    }
  });

  test('ends when it is told to, long before its time', async () => {
    let seen = 0;
    const result = await load(
      (review, response) => {
        seen += 1;
        if (seen === 10) loader.stop();
        answer(response, review.request.uid);
      },
      { arrivals: { ratePerSecond: 200, seconds: 60 } },
    );
    expect(result.succeeded).toBe(result.requests);
    expect(result.requests).toBeGreaterThanOrEqual(10);
    expect(result.requests).toBeLessThan(2_000);
  });

  test('refuses a load without bounds and stays alive', async () => {
    await expect(load(() => undefined, { arrivals: { ratePerSecond: 1e6, seconds: 60 } })).rejects.toThrow(
      'need a whole number from 1 to',
    );
  });
});

test('the baseline starts as a process, answers every body rightly and ends', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-bench-test-'));
  const guard = await createProcessGuard(directory);
  try {
    const mount = new SecretMount(join(directory, 'tls'), leaf);
    const starter = new ServerStarter(guard, directory);
    const bare = await starter.start({
      side: 'bare',
      certFile: mount.certFile,
      keyFile: mount.keyFile,
      ca: [authority.certPem],
      core: undefined,
    });
    const streamOf = (body: StreamJob['body']): StreamJob => ({ ...STREAM, body, arrivals: { burst: 3 } });
    const streams = [
      streamOf('pod-create-4k'),
      streamOf('lease-update-foreign'),
      streamOf('configmap-update-1m'),
    ];
    const results = await loader.run({ endpoint: bare.endpoint, streams });
    expect(results.map((result) => result.succeeded)).toEqual([3, 3, 3]);
    await bare.process.end('SIGTERM');
    expect(bare.process.ending()).toBe('signal SIGTERM');
  } finally {
    await guard.close();
  }
});
