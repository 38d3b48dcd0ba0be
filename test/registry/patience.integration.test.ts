/** Servers that hang, drip or are too many, and the ways that a call is ended from outside. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createProxy, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Timer } from '../../src/clock.ts';
import type { RegistryOptions } from '../../src/registry/options.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  answer,
  type Answering,
  manifestAnswer,
  type ScriptedRegistry,
  sha256,
} from '../support/registry/scripted-registry.ts';
import {
  at,
  clientOfTest,
  everythingOf,
  NAME,
  registryOfTest,
  wholeOf,
} from '../support/registry/scripted-client.ts';
import { newTestTls } from '../support/tls.ts';
import { until } from '../support/until.ts';

const MANIFEST = Buffer.from('{}');
const MANIFEST_PATH = `GET /v2/${NAME}/manifests/1.0`;
const BLOB = Buffer.alloc(200_000, 7);
const BLOB_PATH = `GET /v2/${NAME}/blobs/${sha256(BLOB)}`;

/** Remembers what was waited for. */
class TellingClock extends FakeClock {
  readonly delaysMs: number[] = [];

  override setTimer(delayMs: number, run: () => void): Timer {
    this.delaysMs.push(delayMs);
    return super.setTimer(delayMs, run);
  }
}

const hangs: Answering = () => undefined;

/** What became of a call that nobody has waited for yet. */
function watched(call: Promise<unknown>): {
  readonly settled: () => boolean;
  readonly failure: Promise<unknown>;
} {
  let isSettled = false;
  const failure = call.then(
    () => undefined,
    (error: unknown) => error,
  );
  void failure.then(() => (isSettled = true));
  return { settled: () => isSettled, failure };
}

async function asked(registry: ScriptedRegistry, count: number): Promise<void> {
  await until(`the registry is asked ${String(count)} times`, () => registry.asked.length >= count);
}

describe('a registry that hangs', () => {
  it('is given up after 5 s without an answer, once and for all', async () => {
    const clock = new FakeClock();
    const registry = await registryOfTest();
    registry.on(MANIFEST_PATH, hangs);
    const call = watched(clientOfTest(registry, { clock, limits: { attempts: 4 } }).manifest(at(registry)));
    await asked(registry, 1);
    await clock.advance(4_999);
    expect(call.settled()).toBe(false);
    await clock.advance(1);
    expect(await call.failure).toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('no answer within 5000 ms'),
    });
    expect(registry.asked).toHaveLength(1);
    await until('no timer is left', () => clock.waiting === 0);
  });

  it('is given up where it sends a byte each second', async () => {
    const clock = new FakeClock();
    const registry = await registryOfTest();
    let drip: () => void = () => undefined;
    registry.on(MANIFEST_PATH, (_asked, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      drip = () => void response.write('x');
      drip();
    });
    const call = watched(clientOfTest(registry, { clock }).manifest(at(registry)));
    await asked(registry, 1);
    for (let seconds = 0; seconds < 8 && !call.settled(); seconds++) {
      await clock.advance(1_000);
      drip();
    }
    await until('the call is given up', call.settled);
    expect(await call.failure).toMatchObject({ code: 'GATE_REGISTRY_UNREACHABLE' });
  });

  it('is waited for as long as a blob comes fast enough, and not charged for a slow reader', async () => {
    const clock = new FakeClock();
    const registry = await registryOfTest();
    registry.on(BLOB_PATH, answer(200, BLOB));
    let bytes = 0;
    for await (const piece of clientOfTest(registry, { clock }).blob(at(registry), {
      digest: sha256(BLOB),
      size: BLOB.length,
    })) {
      bytes += piece.length;
      await clock.advance(60_000);
    }
    expect(bytes).toBe(BLOB.length);
  });

  it('is given up where a blob comes fast enough, and takes longer than any may', async () => {
    const clock = new FakeClock();
    const registry = await registryOfTest();
    let drip: () => void = () => undefined;
    registry.on(BLOB_PATH, (_asked, response) => {
      response.writeHead(200, { 'content-length': String(BLOB.length) });
      drip = () => void response.write(BLOB.subarray(0, 1_000));
      drip();
    });
    const limits = { idleMs: 60_000, bytesPerSecond: 1, bodyMs: 10_000 };
    const descriptor = { digest: sha256(BLOB), size: BLOB.length };
    const call = watched(wholeOf(clientOfTest(registry, { clock, limits }).blob(at(registry), descriptor)));
    await asked(registry, 1);
    for (let seconds = 0; seconds < 15 && !call.settled(); seconds++) {
      await clock.advance(1_000);
      drip();
    }
    await until('the call is given up', call.settled);
    expect(await call.failure).toMatchObject({ code: 'GATE_REGISTRY_UNREACHABLE' });
  });

  it.each([
    ['tags', `/v2/${NAME}/tags/list`, '{"tags":["a"]}'],
    ['referrers', `/v2/${NAME}/referrers/${sha256(MANIFEST)}`, '{"manifests":[]}'],
  ] as const)('is given up where the pages of %s come one by one for too long', async (list, path, page) => {
    const clock = new FakeClock();
    const registry = await registryOfTest();
    registry.on(`GET ${path}`, (one, response) => {
      const link = `<${path}?page=${String(registry.asked.length)}>; rel="next"`;
      void clock.advance(3_000).then(() => answer(200, page, { link })(one, response));
    });
    const client = clientOfTest(registry, { clock });
    await expect(client[list](at(registry, sha256(MANIFEST)))).rejects.toMatchObject({
      code: 'GATE_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('no whole answer within 60000 ms'),
    });
    expect(registry.asked).toHaveLength(20);
    expect(clock.waiting).toBe(0);
  });

  it('does not keep another registry waiting', async () => {
    const [hanging, other] = [await registryOfTest(), await registryOfTest()];
    hanging.on(MANIFEST_PATH, hangs);
    other.on(MANIFEST_PATH, manifestAnswer(MANIFEST));
    const client = clientOfTest(hanging, {
      insecure: [hanging.host, other.host],
      limits: { concurrency: 4 },
    });
    const calls = [1, 2, 3, 4, 5, 6].map(() => watched(client.manifest(at(hanging))));
    await asked(hanging, 2);
    expect((await client.manifest(at(other))).digest).toBe(sha256(MANIFEST));
    expect(hanging.asked).toHaveLength(2);
    await client.close();
    for (const { failure } of calls)
      expect(await failure).toMatchObject({ code: 'GATE_REGISTRY_UNREACHABLE' });
  });
});

describe('a call', () => {
  it('is ended by its signal, with the reason of that', async () => {
    const registry = await registryOfTest();
    registry.on(MANIFEST_PATH, hangs);
    const controller = new AbortController();
    const call = watched(clientOfTest(registry).manifest(at(registry), controller.signal));
    await asked(registry, 1);
    controller.abort(new Error('enough'));
    expect(await call.failure).toMatchObject({ message: 'enough' });
  });

  it('is tried again after what the registry says, and not at all where that is beyond its time', async () => {
    const clock = new TellingClock();
    const registry = await registryOfTest();
    registry.on(MANIFEST_PATH, answer(429, '', { 'retry-after': '7' }));
    const client = clientOfTest(registry, { clock, limits: { attempts: 2 } });
    const call = watched(client.manifest(at(registry)));
    await until('it waits', () => clock.delaysMs.includes(7_000));
    await clock.advance(6_999);
    expect(registry.asked).toHaveLength(1);
    await clock.advance(1);
    expect(await call.failure).toMatchObject({ fields: { status: 429, retryAfterSeconds: 7 } });
    expect(registry.asked).toHaveLength(2);
    registry.on(MANIFEST_PATH, answer(429, '', { 'retry-after': '3600' }));
    await expect(client.manifest(at(registry))).rejects.toMatchObject({
      fields: { retryAfterSeconds: 3600 },
    });
  });

  it('leaves no more connections open than it may have under way', async () => {
    const registry = await registryOfTest();
    let most = 0;
    let now = 0;
    registry.on(MANIFEST_PATH, (one, response) => {
      most = Math.max(most, (now += 1));
      setImmediate(() => {
        now -= 1;
        manifestAnswer(MANIFEST)(one, response);
      });
    });
    const client = clientOfTest(registry, { limits: { concurrency: 4 } });
    await Promise.all(Array.from({ length: 30 }, () => client.manifest(at(registry))));
    expect(most).toBe(2);
  });

  it('fails at a proxy that is no URL, whose password is not repeated', () => {
    const proxy = { https: 'robot:s3cret@proxy' };
    let failure: unknown;
    try {
      clientOfTest('registry.test', { proxy });
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: 'GATE_CONFIG_INVALID' });
    expect(everythingOf(failure)).not.toContain('s3cret');
  });

  it('fails at a CA that is none', () => {
    const certificateAuthorities = new Map([['registry.test', 'not PEM']]);
    expect(() => clientOfTest('registry.test', { certificateAuthorities })).toThrow(
      /registry\.test is not a PEM/,
    );
  });
});

describe('a proxy', () => {
  interface Proxy {
    readonly url: string;
    readonly tunnels: string[];
    readonly forwarded: string[];
  }

  /** Every name leads to loopback behind it. */
  async function proxy(): Promise<Proxy> {
    const tunnels: string[] = [];
    const forwarded: string[] = [];
    const sockets = new Set<Socket>();
    const server: Server = createProxy((request, response) => {
      forwarded.push(request.url ?? '');
      manifestAnswer(MANIFEST)(
        {
          method: 'GET',
          path: '',
          query: new URLSearchParams(),
          target: '',
          headers: {},
          body: Buffer.alloc(0),
        },
        response,
      );
    });
    server.on('connect', (request, client: Socket) => {
      tunnels.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? 'bare'}`);
      const behind = connect(Number((request.url ?? '').split(':')[1]), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        behind.pipe(client).pipe(behind);
      });
      for (const socket of [client, behind]) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
    });
    server.listen(0, '127.0.0.3');
    await once(server, 'listening');
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return {
      url: `http://robot:pass@127.0.0.3:${String((server.address() as AddressInfo).port)}`,
      tunnels,
      forwarded,
    };
  }

  it('is tunnelled through to a registry with TLS, whose certificate is still verified', async () => {
    const tls = await newTestTls();
    const registry = await registryOfTest({ tls: tls.pair });
    registry.on(MANIFEST_PATH, manifestAnswer(MANIFEST));
    const { url, tunnels } = await proxy();
    const options: RegistryOptions = { insecure: [], proxy: { https: url } };
    await expect(clientOfTest(registry, options).manifest(at(registry))).rejects.toMatchObject({
      message: expect.stringContaining('certificate'),
    });
    const certificateAuthorities = new Map([[registry.host, tls.ca]]);
    const client = clientOfTest(registry, { ...options, certificateAuthorities });
    expect((await client.manifest(at(registry))).digest).toBe(sha256(MANIFEST));
    expect(tunnels.at(-1)).toBe(`${registry.host} Basic ${Buffer.from('robot:pass').toString('base64')}`);
  });

  it('forwards plain http, and is passed by for the hosts that are excepted', async () => {
    const registry = await registryOfTest();
    registry.on(MANIFEST_PATH, manifestAnswer(MANIFEST));
    const { url, forwarded } = await proxy();
    await clientOfTest('far.test:5000', { proxy: { http: url } }).manifest(at('far.test:5000'));
    expect(forwarded).toEqual([`http://far.test:5000/v2/${NAME}/manifests/1.0`]);
    await clientOfTest(registry, { proxy: { http: url, except: ['127.0.0.0/8'] } }).manifest(at(registry));
    expect([forwarded.length, registry.asked.length]).toEqual([1, 1]);
  });

  it.each(['169.254.169.254', '127.0.0.2', '[::1]', 'localhost', 'metadata.google.internal'])(
    'is not asked for %s',
    async (host) => {
      const { url, forwarded, tunnels } = await proxy();
      const client = clientOfTest(host, { allowAddresses: [], proxy: { http: url, https: url } });
      const manifest = client.manifest({ registry: host, repository: NAME, tag: '1.0' });
      await expect(manifest).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
      expect([...forwarded, ...tunnels]).toEqual([]);
    },
  );
});

describe('a large blob', () => {
  const MIB = 1024 * 1024;
  const PIECE = Buffer.alloc(MIB, 3);

  /** As many MiB, sent as fast as they are read. */
  async function withLarge(
    count: number,
  ): Promise<{ readonly registry: ScriptedRegistry; readonly digest: string }> {
    const registry = await registryOfTest();
    const running = createHash('sha256');
    for (let at = 0; at < count; at++) running.update(PIECE);
    const digest = `sha256:${running.digest('hex')}`;
    registry.on(`GET /v2/${NAME}/blobs/${digest}`, (_asked, response) => {
      response.writeHead(200, { 'content-length': String(count * MIB) });
      let sent = 0;
      const more = (): void => {
        while (sent < count) {
          sent += 1;
          if (!response.write(PIECE)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    return { registry, digest };
  }

  async function mostMemory(count: number): Promise<{ readonly rss: number; readonly buffers: number }> {
    const { registry, digest } = await withLarge(count);
    const client = clientOfTest(registry, { limits: { blobBytes: count * MIB } });
    const before = process.memoryUsage().rss;
    let [rss, buffers] = [0, 0];
    for await (const piece of client.blob(at(registry), { digest, size: count * MIB })) {
      const now = process.memoryUsage();
      rss = Math.max(rss, now.rss - before);
      buffers = Math.max(buffers, now.arrayBuffers);
      expect(piece.length).toBeGreaterThan(0);
    }
    return { rss, buffers };
  }

  it('of 200 MB is never held whole, and one of 50 MB after it takes less than 40 MB more', async () => {
    // What is read is garbage at once; V8 leaves some 40 MB of that lying about before it collects it, as it does for
    // a bare read of undici's body.
    expect((await mostMemory(200)).buffers).toBeLessThan(100 * MIB);
    expect((await mostMemory(50)).rss).toBeLessThan(40 * MIB);
  });
});
