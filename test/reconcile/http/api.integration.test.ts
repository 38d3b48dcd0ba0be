/** The API of a reconciler over real HTTPS: who may ask what, and what events come to. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi, type ApiListener } from '../../../src/app/api-listener.ts';
import { systemClock } from '../../../src/clock.ts';
import type { AccessQuestion } from '../../../src/cluster/cluster.ts';
import { ENDPOINT_SLICE, PACTO, SERVICE } from '../../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../../src/cluster/memory.ts';
import { createCallers } from '../../../src/http/callers.ts';
import { createDrain } from '../../../src/http/drain.ts';
import { createReviewCap } from '../../../src/http/review-cap.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ask, type Answered } from '../../support/http-client.ts';
import { testTls } from '../../support/tls.ts';
import { aPacto, aService, aSlice, BOUND, configWith, run, withInterface, type Running } from '../running.ts';

const FLUX_KEY = 'key-of-flux';
const REGISTRY_TOKEN = 'token-of-the-registry';

/** Token → what it may. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  reader: ['get'],
  forcer: ['get', 'update'],
  stranger: [],
};

let cluster: MemoryCluster;
let clock: FakeClock;
let running: Running;
let api: ApiListener | undefined;
let url: string;
let ca: string;
let directory: string;
const questions: AccessQuestion[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-api-'));
  await writeFile(join(directory, 'flux'), `${FLUX_KEY}\n`);
  await writeFile(join(directory, 'registry'), REGISTRY_TOKEN);
  const tls = await testTls();
  ca = tls.ca;
  clock = new FakeClock(Date.parse('2026-12-01T10:00:00Z'));
  cluster = createMemoryCluster({
    clock,
    reviewToken: (token, audiences) => ({
      authenticated: Object.hasOwn(RIGHTS, token) || token === 'sender',
      user: { username: token },
      // A token of the one audience is none of the other.
      audiences: token === 'sender' ? audiences.filter((one) => one === 'pacto-gate-events') : [],
    }),
    reviewAccess(question) {
      questions.push(question);
      const { verb = '' } = question.resource ?? {};
      const allowed = RIGHTS[question.user.username ?? '']?.includes(verb) === true;
      return { allowed, denied: false, reason: '' };
    },
  });
  await cluster.create(SERVICE, aService('cart'));
  await cluster.create(ENDPOINT_SLICE, aSlice('cart', true));
  await cluster.create(
    PACTO,
    aPacto('cart', { contractRef: { inline: withInterface('cart') }, target: BOUND }),
  );
  await cluster.create(
    PACTO,
    aPacto('orders', { contractRef: { oci: 'oci://127.0.0.1:1/shop/orders:1.0.0' } }),
  );
  const config = await configWith({
    'api.port': '0',
    'api.fluxKeyFile': join(directory, 'flux'),
    'api.registryTokenFile': join(directory, 'registry'),
  });
  running = run(cluster, clock, config);
  await running.settle();
  const parts = { clock: systemClock, log: silent() };
  api = await openApi(
    { config, parts, drain: createDrain({ clock: systemClock, drainMs: 0 }) },
    {
      reconciler: running.part,
      cluster,
      callers: createCallers({
        cluster,
        clock: systemClock,
        cap: createReviewCap({ clock: systemClock }),
        audiences: [],
      }),
      tls: tls.source,
    },
  );
  url = (await api?.listener.listen())?.url ?? '';
});

afterAll(async () => {
  await api?.listener.close();
  api?.close();
  await running.stop();
  await rm(directory, { recursive: true });
});

function silent(): Parameters<typeof openApi>[0]['parts']['log'] {
  const nothing = (): void => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log };
  return { ...log, flush: () => Promise.resolve(), lost: () => 0 };
}

function get(path: string, token?: string): Promise<Answered> {
  return ask(`${url}${path}`, {
    ca,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
  return ask(`${url}${path}`, {
    ca,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

describe('GET /v1/verdicts', () => {
  it('answers what the status says to whoever may get it', async () => {
    const answer = await get('/v1/verdicts/shop/cart', 'reader');
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toMatchObject({
      apiVersion: 'gate.pacto.trianalab.io/v1',
      kind: 'Verdict',
      metadata: { namespace: 'shop', name: 'cart' },
      contractStatus: 'Compliant',
      source: 'status',
      evaluatedAt: '2026-12-01T10:00:00Z',
      findings: [],
    });
    expect(questions.at(-1)?.resource).toEqual({
      verb: 'get',
      group: 'pacto.trianalab.io',
      version: 'v1alpha1',
      resource: 'pactos',
      subresource: 'verdict',
      namespace: 'shop',
      name: 'cart',
    });
  });

  it('computes one for whoever may update it, and only where the known one is too old', async () => {
    const known = (await get('/v1/verdicts/shop/cart?fresh=1h', 'forcer')).json();
    expect(known).toMatchObject({ source: 'status' });
    await clock.advance(30_000);
    const computed = (await get('/v1/verdicts/shop/cart?fresh=10s', 'forcer')).json();
    expect(computed).toMatchObject({
      source: 'computed',
      evaluatedAt: '2026-12-01T10:00:30Z',
      contractStatus: 'Compliant',
    });
  });

  it('says when time alone may change it', async () => {
    const slice = await cluster.get(ENDPOINT_SLICE, { namespace: 'shop', name: 'cart-1' });
    await cluster.replace(ENDPOINT_SLICE, { ...aSlice('cart', false), metadata: slice?.metadata ?? {} });
    await clock.advance(0);
    await running.settle();
    const { contractStatus, nextChange } = (
      await get('/v1/verdicts/shop/cart?fresh=0', 'forcer')
    ).json() as Record<string, string>;
    expect([contractStatus, nextChange]).toEqual(['Unknown', '2026-12-01T10:02:30Z']);
  });

  it.each([
    ['nobody', '/v1/verdicts/shop/cart', undefined, 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['a token that is none', '/v1/verdicts/shop/cart', 'forged', 401, 'GATE_CALLER_UNAUTHENTICATED'],
    ['who may not get it', '/v1/verdicts/shop/cart', 'stranger', 403, 'GATE_CALLER_FORBIDDEN'],
    [
      'who may only read, and has one computed',
      '/v1/verdicts/shop/cart?fresh=10s',
      'reader',
      403,
      'GATE_CALLER_FORBIDDEN',
    ],
    ['a duration that is none', '/v1/verdicts/shop/cart?fresh=soon', 'forcer', 400, 'GATE_HTTP_MALFORMED'],
    ['a duration without end', '/v1/verdicts/shop/cart?fresh=2h', 'forcer', 400, 'GATE_HTTP_MALFORMED'],
    ['two durations', '/v1/verdicts/shop/cart?fresh=1s&fresh=2s', 'forcer', 400, 'GATE_HTTP_MALFORMED'],
  ])('refuses %s', async (_who, path, token, status, code) => {
    const answer = await get(path, token);
    expect(answer.status).toBe(status);
    expect(answer.refusal().code).toBe(code);
  });

  it('knows no Pacto that there is not', async () => {
    expect((await get('/v1/verdicts/shop/nothing', 'reader')).status).toBe(404);
    expect((await get('/v1/verdicts/shop/nothing?fresh=0', 'forcer')).status).toBe(404);
  });
});

const FLUX_EVENT = JSON.stringify({
  involvedObject: {
    kind: 'Kustomization',
    namespace: 'shop',
    name: 'cart',
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  },
  severity: 'info',
  reason: 'ReconciliationSucceeded',
  message: 'Reconciliation finished',
  metadata: null,
});

const signature = (body: string, key = FLUX_KEY): Record<string, string> => ({
  'x-signature': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
});

describe('POST /v1/events', () => {
  it('wakes the Pacto that an event of Flux is about, once in five seconds', async () => {
    await clock.advance(10_000);
    const first = await post('/v1/events/flux', FLUX_EVENT, signature(FLUX_EVENT));
    expect([first.status, first.json()]).toEqual([202, { woken: 1 }]);
    const again = await post('/v1/events/flux', FLUX_EVENT, signature(FLUX_EVENT));
    expect([again.status, again.json()]).toEqual([202, { woken: 0 }]);
  });

  it.each([
    [
      'of the CNCF registry',
      {
        events: [
          {
            action: 'push',
            target: { repository: 'shop/orders', tag: '1.0.0' },
            request: { host: '127.0.0.1:1' },
          },
        ],
      },
    ],
    [
      'of Harbor',
      {
        type: 'PUSH_ARTIFACT',
        event_data: { resources: [{ resource_url: '127.0.0.1:1/shop/orders:1.0.0' }] },
      },
    ],
  ])('wakes the Pactos of a repository that something was pushed to: an event %s', async (_of, event) => {
    await clock.advance(10_000);
    const answer = await post('/v1/events/registry', JSON.stringify(event), {
      authorization: `Bearer ${REGISTRY_TOKEN}`,
    });
    expect([answer.status, answer.json()]).toEqual([202, { woken: 1 }]);
  });

  it.each([
    [
      'in its body',
      { 'content-type': 'application/cloudevents+json' },
      JSON.stringify({ specversion: '1.0', id: '1', source: 's', type: 't', subject: 'shop/cart' }),
    ],
    [
      'in its header',
      { 'ce-id': '1', 'ce-source': 's', 'ce-type': 't', 'ce-subject': 'pactos/shop/cart' },
      '{}',
    ],
  ])(
    'takes a CloudEvent with its attributes %s, from whoever has a token for events',
    async (_where, headers, body) => {
      await clock.advance(10_000);
      const answer = await post('/v1/events/cloudevents', body, {
        authorization: 'Bearer sender',
        ...headers,
      });
      expect([answer.status, answer.json()]).toEqual([202, { woken: 1 }]);
    },
  );

  it.each([
    [
      'of somebody who is not there',
      'flux',
      JSON.stringify({ involvedObject: { kind: 'Kustomization', namespace: 'x', name: 'y' } }),
    ],
    ['that says nothing', 'flux', '{}'],
    ['that is no object', 'flux', '[1]'],
  ])('takes an event %s, and wakes nobody', async (_what, path, body) => {
    const answer = await post(`/v1/events/${path}`, body, signature(body));
    expect([answer.status, answer.json()]).toEqual([202, { woken: 0 }]);
  });

  it.each<[string, string, string, Record<string, string>, number]>([
    ['Flux without a signature', 'flux', FLUX_EVENT, {}, 401],
    ['Flux with another key', 'flux', FLUX_EVENT, signature(FLUX_EVENT, 'other'), 401],
    ['Flux with the signature of another body', 'flux', FLUX_EVENT, signature('{}'), 401],
    ['Flux with a token where none is configured', 'flux', FLUX_EVENT, { authorization: 'Bearer ' }, 401],
    ['a registry without its token', 'registry', '{}', {}, 401],
    ['a registry with another token', 'registry', '{}', { authorization: `Bearer ${FLUX_KEY}` }, 401],
    [
      'CloudEvents with a token for the API server',
      'cloudevents',
      '{}',
      { authorization: 'Bearer reader', 'ce-id': '1' },
      401,
    ],
    ['CloudEvents that are none', 'cloudevents', '{}', { authorization: 'Bearer sender' }, 400],
    ['what is no JSON', 'registry', 'push!', { authorization: `Bearer ${REGISTRY_TOKEN}` }, 400],
    [
      'what is nested without end',
      'registry',
      `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
      { authorization: `Bearer ${REGISTRY_TOKEN}` },
      400,
    ],
  ])('refuses %s', async (_what, path, body, headers, status) => {
    const answer = await post(`/v1/events/${path}`, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain(FLUX_KEY);
    expect(answer.text).not.toContain(REGISTRY_TOKEN);
  });

  it('reads no more than a mebibyte', async () => {
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(
      (await post('/v1/events/registry', body, { authorization: `Bearer ${REGISTRY_TOKEN}` })).status,
    ).toBe(413);
  });
});
