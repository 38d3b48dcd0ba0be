import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { CredentialSource } from '../../src/cluster/connection.ts';
import { POD } from '../../src/cluster/kinds.ts';
import { sendStatus } from '../support/fake-api-server.ts';
import { aPod, outcomeOf, useRestCluster } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';

const fixture = useRestCluster();

describe('limits and retries', () => {
  it('reads again once when the connection is reset, and not twice', async () => {
    fixture.server.put(POD, aPod('a'));
    const reset = (): boolean => true;
    let resets = 1;
    fixture.server.script((_request, response) => {
      if (resets-- <= 0) return false;
      response.socket?.resetAndDestroy();
      return reset();
    });
    expect(await fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).toBeDefined();
    expect(fixture.server.requests).toHaveLength(2);
    resets = 2;
    await expect(fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
    });
    expect(fixture.server.requests).toHaveLength(4);
  });

  it('reads a list up to the size that was asked for', async () => {
    fixture.server.put(POD, aPod('a', 'web', { spec: { note: 'x'.repeat(2_000) } }));
    expect((await fixture.cluster.list(POD, { maxBytes: 10_000 })).items).toHaveLength(1);
    await expect(fixture.cluster.list(POD, { maxBytes: 1_000 })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
      message: expect.stringContaining('more than 1000 bytes') as string,
    });
  });

  it('never repeats a write whose connection broke', async () => {
    fixture.server.script((_request, response) => {
      response.socket?.resetAndDestroy();
      return true;
    });
    await expect(fixture.cluster.create(POD, aPod('a'))).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
    });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it('waits as Retry-After says, where that ends within the call', async () => {
    fixture.server.put(POD, aPod('a'));
    fixture.server.scriptNext(
      () => true,
      (_request, response) => sendStatus(response, 429, 'TooManyRequests', 'slow', { 'retry-after': '0' }),
    );
    expect(await fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).toBeDefined();
    fixture.server.script((_request, response) =>
      sendStatus(response, 429, 'TooManyRequests', 'slow', { 'retry-after': '3600' }),
    );
    await expect(fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_THROTTLED',
      fields: { retryAfterSeconds: 3600 },
    });
    expect(fixture.server.requests).toHaveLength(3);
  });

  it('gives up on a server that sends one byte now and then', async () => {
    const slow = fixture.connect({ limits: { callTimeoutMs: 300 } });
    fixture.server.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
      return true;
    });
    await expect(slow.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
      message: expect.stringContaining('no whole answer within 300 ms'),
    });
  });

  it('stops reading a body over the limit', async () => {
    const small = fixture.connect({ limits: { objectBytes: 1000 } });
    fixture.server.put(POD, aPod('a', 'web', { blob: 'x'.repeat(5000) }));
    await expect(small.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
      message: expect.stringContaining('more than 1000 bytes'),
    });
  });

  it("rejects with the signal's own reason", async () => {
    fixture.server.script(() => true);
    const reason = new Error('the review is over');
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const asked = outcomeOf(fixture.cluster.get(POD, { namespace: 'web', name: 'a' }, options));
    await until('the server is asked', () => fixture.server.requests.length === 1);
    controller.abort(reason);
    expect(await asked).toBe(reason);
    await expect(fixture.cluster.list(POD, { signal: controller.signal })).rejects.toBe(reason);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it('breaks calls under way and refuses new ones when it is closed', async () => {
    fixture.server.script(() => true);
    const asked = outcomeOf(fixture.cluster.get(POD, { namespace: 'web', name: 'a' }));
    await until('the server is asked', () => fixture.server.requests.length === 1);
    await fixture.cluster.close();
    expect(await asked).toMatchObject({ message: 'the connection to the cluster is closed' });
    await expect(fixture.cluster.list(POD)).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
    await until('connections are closed', () => fixture.server.connections === 0);
  });

  it('takes a rotated token after a 401, and asks once more only if there is one', async () => {
    fixture.server.put(POD, aPod('a'));
    let token = 'old';
    let renewals = 0;
    const credentials: CredentialSource = {
      current: () => Promise.resolve({ authorization: `Bearer ${token}` }),
      renew: () => {
        renewals++;
        return Promise.resolve({ authorization: `Bearer ${token}` });
      },
    };
    fixture.server.script((request, response) =>
      request.headers.authorization === 'Bearer new' ? false : sendStatus(response, 401, 'Unauthorized'),
    );
    const rotating = fixture.connect({ credentials });
    await expect(rotating.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNAUTHORIZED',
      message: expect.not.stringContaining('old'),
    });
    expect([renewals, fixture.server.requests.length]).toEqual([1, 1]);
    credentials.renew = () => Promise.resolve({ authorization: `Bearer ${(token = 'new')}` });
    expect(await rotating.get(POD, { namespace: 'web', name: 'a' })).toBeDefined();
    expect(fixture.server.requests).toHaveLength(3);
  });

  it('impersonates with every header', async () => {
    fixture.server.put(POD, aPod('a'));
    const other = fixture.connect({
      impersonate: { user: 'jane', uid: 'u1', groups: ['a', 'b'], extra: { 'example.com/Key': ['x', 'y'] } },
    });
    await other.get(POD, { namespace: 'web', name: 'a' });
    expect(fixture.server.requests[0]?.headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-uid': 'u1',
      'impersonate-group': 'a, b',
      'impersonate-extra-example.com%2fkey': 'x, y',
    });
  });
});

it('loads undici with the first call only', async () => {
  const rest = new URL('../../src/cluster/rest.ts', import.meta.url).href;
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { registerHooks } from 'node:module';
     let loaded = 0;
     registerHooks({ load(url, context, next) { if (url.includes('/undici/')) loaded++; return next(url, context); } });
     const { createRestCluster } = await import(${JSON.stringify(rest)});
     const { systemClock: clock } = await import(${JSON.stringify(new URL('../clock.ts', rest).href)});
     const credentials = { current: async () => ({}), renew: async () => ({}) };
     const connection = { server: 'http://127.0.0.1:1', origin: 't', warnings: [], credentials };
     const one = createRestCluster({ connection, clock });
     const before = loaded;
     const code = await one.serverVersion().catch((error) => error.code);
     console.log(before, loaded > 0, code);
     await one.close();`,
  ]);
  let printed = '';
  child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
  await once(child, 'close');
  expect(printed.trim()).toBe('0 true GATE_CLUSTER_UNREACHABLE');
});
