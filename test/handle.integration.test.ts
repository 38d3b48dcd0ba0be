import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock.ts';
import { loadConfig, type Config } from '../src/config.ts';
import { createHandle, handleOnDemand, type Handle } from '../src/handle.ts';
import { createLog, silentLog, type RootLog } from '../src/log.ts';
import { until } from './support/conditions.ts';
import { startFakeApiServer, type FakeApiServer } from './support/fake-api-server.ts';
import { FakeClock } from './support/fake-clock.ts';

const OWN = readFileSync('examples/reviews/01-own-lease-renewed.json', 'utf8');
const FOREIGN = readFileSync('examples/reviews/02-foreign-lease-renewed.json', 'utf8');
const ADDRESS = 'https://function.example/validate/node-identity?timeout=10s';
const MIB = 1024 * 1024;

let directory: string;
let server: FakeApiServer;
let handle: Handle;
let settings: Readonly<Record<string, string>>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'handle-'));
  server = await startFakeApiServer();
  server.script((request, response) => {
    if (!request.path.endsWith('/tokenreviews')) return false;
    const { token } = (request.body as { spec: { token: string } }).spec;
    const user = token === 'good' ? 'kube-apiserver' : 'somebody';
    const status = { authenticated: token !== 'bad', user: { username: user } };
    response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, status }),
      );
    return true;
  });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'here',
      clusters: [{ name: 'here', cluster: { server: server.url } }],
      users: [{ name: 'gate', user: { token: 'ours' } }],
      contexts: [{ name: 'here', context: { cluster: 'here', user: 'gate' } }],
    }),
  );
  settings = {
    state: 'live',
    'cluster.kubeconfig': kubeconfig,
    'webhooks.auth': 'bearer',
    'webhooks.bearer.usernames': 'kube-apiserver',
    'identity.podLookup': 'never',
  };
  handle = await createHandle(await configOf(settings), { clock: systemClock, log: silentLog() });
});

afterEach(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function configOf(settings: Readonly<Record<string, string>>): Promise<Config> {
  const flags = Object.entries(settings).map(([path, value]) => ({ path, value, origin: path }));
  const loaded = await loadConfig({ flags, env: {}, readFile: () => Promise.reject(new Error('no file')) });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded.config;
}

function review(body: string, headers: Readonly<Record<string, string>> = {}): Request {
  return new Request(ADDRESS, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: 'Bearer good', ...headers },
  });
}

/** As an API server writes it, with some bytes more in its object. */
function padded(text: string, bytes: number): string {
  const parsed = JSON.parse(text) as { request: { object: object } };
  Object.assign(parsed.request.object, { padding: '<'.repeat(bytes) });
  return JSON.stringify(parsed);
}

async function answerOf(request: Request, by = handle): Promise<{ status: number; body: unknown }> {
  const response = await by(request);
  const text = await response.text();
  const [, code] = /\[(GATE_\w+)\]\n$/.exec(text) ?? [];
  return { status: response.status, body: code === undefined ? JSON.parse(text) : { code } };
}

describe('handle', () => {
  it('allows the own Lease', async () => {
    const { status, body } = await answerOf(review(OWN));
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'AdmissionReview', response: { allowed: true } });
  });

  it('denies a foreign Lease', async () => {
    const { status, body } = await answerOf(review(FOREIGN));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      response: {
        allowed: false,
        status: { code: 403, details: { causes: [{ reason: 'NODE_NAME_MISMATCH' }] } },
      },
    });
  });

  it.each([
    ['no token', '', 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['a token that the API server does not accept', 'Bearer bad', 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['a token of somebody else', 'Bearer other', 403, 'GATE_CALLER_FORBIDDEN'],
  ])('refuses %s before it reads the body', async (_what, authorization, status, code) => {
    const request = review(OWN, { authorization });
    expect(await answerOf(request)).toMatchObject({ status, body: { code } });
    expect(request.bodyUsed).toBe(false);
  });

  it('refuses 8 MiB and a byte of something else, whatever length was declared', async () => {
    const body = 'x'.repeat(8 * MIB + 1);
    const want = { status: 413, body: { code: 'GATE_REVIEW_TOO_LARGE' } };
    expect(await answerOf(review(body))).toMatchObject(want);
    expect(await answerOf(review(body, { 'content-length': '10' }))).toMatchObject(want);
    expect(await answerOf(review(body, { 'content-length': String(body.length) }))).toMatchObject(want);
    expect(await answerOf(review(body, { 'content-length': String(65 * MIB) }))).toMatchObject(want);
  });

  it.each([
    ['with its length', (body: string) => ({ 'content-length': String(body.length) })],
    ['without a length', () => ({})],
  ])('denies an agent a review that is too large to be read, %s', async (_what, headers) => {
    const body = padded(FOREIGN, 8 * MIB);
    expect(await answerOf(review(body, headers(body)))).toMatchObject({
      status: 200,
      body: { response: { status: { details: { causes: [{ reason: 'NODE_REVIEW_UNREADABLE' }] } } } },
    });
  });

  it('gives back what it took: a hundred large refusals leave room for the next review', async () => {
    for (let turn = 0; turn < 100; turn++) await answerOf(review('x'.repeat(MIB)));
    expect(await answerOf(review(OWN))).toMatchObject({ status: 200 });
  });

  it('refuses to be made without a caller that proves itself', async () => {
    const config = await configOf({ 'cluster.source': 'none' });
    await expect(createHandle(config, { clock: systemClock, log: silentLog() })).rejects.toMatchObject({
      code: 'GATE_CONFIG_INVALID',
    });
  });

  it('does not take another path for the one that it answers', async () => {
    for (const path of [
      '/other/../validate/node-identity',
      '//validate/node-identity',
      '/validate/%6eode-identity',
    ]) {
      const request = review(OWN);
      // As a runtime may give it that does not parse what it was sent.
      Object.defineProperty(request, 'url', { value: `https://function.example${path}`, configurable: true });
      expect(await answerOf(request)).toMatchObject({ status: 404 });
    }
  });
});

/** A body that sends its beginning and then nothing. */
class Unending {
  wanted = false;
  cancelled = false;
  readonly stream: ReadableStream;

  constructor(first: string) {
    this.stream = new ReadableStream(
      {
        start: (controller) => controller.enqueue(Buffer.from(first)),
        pull: () => {
          this.wanted = true;
        },
        cancel: () => {
          this.cancelled = true;
        },
      },
      // Nothing is asked for ahead, so what is wanted is what the handler waits for.
      { highWaterMark: 0 },
    );
  }

  /** Its beginning is read. */
  read(): Promise<void> {
    return until('the body is read', () => this.wanted);
  }
}

function streamed(body: ReadableStream, signal?: AbortSignal): Request {
  return new Request(ADDRESS, {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { 'content-type': 'application/json', authorization: 'Bearer good' },
    ...(signal !== undefined && { signal }),
  });
}

interface Watched {
  readonly handle: Handle;
  readonly clock: FakeClock;
  readonly lines: string[];
}

/** With a clock that stands still, and a log that remembers. */
async function watched(more: Readonly<Record<string, string>> = {}): Promise<Watched> {
  const clock = new FakeClock();
  const lines: string[] = [];
  return {
    handle: await createHandle(await configOf({ ...settings, ...more }), { clock, log: logTo(lines) }),
    clock,
    lines,
  };
}

function logTo(lines: string[]): RootLog {
  return createLog({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
}

describe('handle, as a listener', () => {
  it('ends a body that does not end after ten seconds, and says so in the log', async () => {
    const under = await watched();
    const body = new Unending('{');
    const answered = answerOf(streamed(body.stream), under.handle);
    await body.read();
    await under.clock.advance(10_000);
    expect(await answered).toMatchObject({ status: 408, body: { code: 'GATE_REVIEW_SLOW' } });
    expect(body.cancelled).toBe(true);
    expect(under.lines.join('')).toContain('"code":"GATE_REVIEW_SLOW"');
  });

  it('ends one that comes too slowly for its room, and gives the room back', async () => {
    const under = await watched({ 'webhooks.maxBytesInFlight': String(16 * MIB) });
    const body = new Unending('{');
    const slow = streamed(body.stream);
    slow.headers.set('content-length', String(8 * MIB));
    const answered = answerOf(slow, under.handle);
    await body.read();
    await under.clock.advance(1_000);
    expect(await answered).toMatchObject({ status: 408 });
    const large = review('x'.repeat(MIB), { 'content-length': String(MIB) });
    expect(await answerOf(large, under.handle)).toMatchObject({ status: 400 });
  });

  it('tells a caller who leaves from a fault of its own', async () => {
    const under = await watched();
    const want = { status: 408, body: { code: 'GATE_REVIEW_SLOW' } };
    const controller = new AbortController();
    const body = new Unending('{');
    const answered = answerOf(streamed(body.stream, controller.signal), under.handle);
    await body.read();
    controller.abort();
    expect(await answered).toMatchObject(want);
    const broken = new ReadableStream({ pull: (pulled) => pulled.error(new Error('broken')) });
    expect(await answerOf(streamed(broken), under.handle)).toMatchObject(want);
  });

  it('answers overload by the failure policy, after it has waited', async () => {
    const under = await watched({
      'webhooks.maxBytesInFlight': String(16 * MIB),
      'identity.failurePolicy': 'Ignore',
    });
    const body = new Unending(`{"${'x'.repeat(7 * MIB)}`);
    const holder = streamed(body.stream);
    holder.headers.set('content-length', String(8 * MIB));
    const held = answerOf(holder, under.handle);
    await body.read();
    const timers = under.clock.waiting;
    const large = padded(OWN, MIB);
    const answered = answerOf(review(large, { 'content-length': String(large.length) }), under.handle);
    await until('it waits', () => under.clock.waiting > timers);
    await under.clock.advance(4_000);
    expect(await answered).toMatchObject({
      status: 200,
      body: {
        response: {
          allowed: true,
          auditAnnotations: { 'failed-open': expect.stringContaining('GATE_OVERLOADED') as string },
        },
      },
    });
    await under.clock.advance(10_000);
    expect(await held).toMatchObject({ status: 408 });
  });
});

describe('a handle that cannot start', () => {
  const secretive = new Error('webhooks.auth is none of /etc/secret/config');

  it('answers 503 without a word of why, and logs it', async () => {
    const lines: string[] = [];
    const clock = new FakeClock();
    const broken = handleOnDemand({
      make: () => Promise.reject(secretive),
      clock,
      log: () => logTo(lines),
    });
    const response = await broken(review(OWN, { authorization: '' }));
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(
      'handle: not started: see the log of pacto-gate [GATE_CONFIG_INVALID]\n',
    );
    expect(lines.join('')).toContain('webhooks.auth is none');
  });

  it('is started again a second later, and not by each caller', async () => {
    const clock = new FakeClock();
    let starts = 0;
    const later = handleOnDemand({
      make: () => {
        starts++;
        return starts === 1 ? Promise.reject(secretive) : Promise.resolve(handle);
      },
      clock,
      log: silentLog,
    });
    for (let turn = 0; turn < 10; turn++) expect((await later(review(OWN))).status).toBe(503);
    expect(starts).toBe(1);
    await clock.advance(1_000);
    expect((await later(review(OWN))).status).toBe(200);
    expect(starts).toBe(2);
  });
});
