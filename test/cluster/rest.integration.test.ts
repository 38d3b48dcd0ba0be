import { describe, expect, it } from 'vitest';
import { LEASE, NAMESPACE, NODE, POD } from '../../src/cluster/kinds.ts';
import { sendStatus, statusBody } from '../support/fake-api-server.ts';
import { aPod, useRestCluster } from '../support/rest-cluster.ts';

const fixture = useRestCluster();

describe('reading one object', () => {
  it('answers the object, with the apiVersion and kind that were asked for', async () => {
    fixture.server.put(POD, aPod('a', 'web', { spec: { nodeName: 'n1' } }));
    const got = await fixture.cluster.get(POD, { namespace: 'web', name: 'a' });
    expect(got).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { nodeName: 'n1' },
    });
  });

  it('answers undefined for an object that the server says is absent', async () => {
    fixture.server.put(POD, aPod('a'));
    expect(await fixture.cluster.get(POD, { namespace: 'web', name: 'b' })).toBeUndefined();
  });

  it('refuses to call an object absent when the kind is not served', async () => {
    await expect(fixture.cluster.get(LEASE, { namespace: 'x', name: 'y' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_UNSUPPORTED',
      disposition: 'configuration',
    });
  });

  it.each([
    ['an empty name', { namespace: 'web', name: '' }],
    ['a parent path', { namespace: 'web', name: '..' }],
    ['a slash', { namespace: 'web', name: 'a/log' }],
    ['an escape', { namespace: 'web', name: 'a%2flog' }],
    ['half a surrogate pair', { namespace: 'web', name: '\ud800' }],
    ['a name of 254 characters', { namespace: 'web', name: 'a'.repeat(254) }],
    ['no namespace', { name: 'a' }],
    ['a namespace that is a path', { namespace: '../kube-system', name: 'a' }],
  ])('answers undefined for %s, without asking', async (_what, name) => {
    expect(await fixture.cluster.get(POD, name)).toBeUndefined();
    expect(fixture.server.requests).toHaveLength(0);
  });

  it('escapes a name that only looks like more of an address', async () => {
    fixture.server.put(POD, aPod('a'));
    expect(await fixture.cluster.get(POD, { namespace: 'web', name: 'a?watch=1#\n' })).toBeUndefined();
    expect(fixture.server.requests[0]?.path).toBe('/api/v1/namespaces/web/pods/a%3Fwatch%3D1%23%0A');
    expect(fixture.server.requests[0]?.query).toEqual({});
  });

  it('reads cluster-scoped kinds without a namespace, below a path where the API is served there', async () => {
    fixture.server.put(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    fixture.server.script((request, response) => {
      if (!request.path.startsWith('/k8s/c-1/')) return false;
      response.end(JSON.stringify({ metadata: { name: 'web', labels: { path: request.path } } }));
      return true;
    });
    expect((await fixture.cluster.get(NODE, { name: 'n1' }))?.metadata.name).toBe('n1');
    const below = fixture.connect({ server: `${fixture.server.url}/k8s/c-1/` });
    expect((await below.get(NAMESPACE, { name: 'web' }))?.metadata.labels).toEqual({
      path: '/k8s/c-1/api/v1/namespaces/web',
    });
  });

  it.each([
    ['another kind', { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a', namespace: 'web' } }],
    ['another version', { kind: 'Pod', apiVersion: 'v2', metadata: { name: 'a', namespace: 'web' } }],
    ['another name', { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'b', namespace: 'web' } }],
    ['another namespace', { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'other' } }],
  ])('refuses an answer that is %s', async (_what, object) => {
    fixture.server.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(object));
      return true;
    });
    await expect(fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
    });
  });

  it('does not take the absence of something else for that of the object', async () => {
    fixture.server.script((_request, response) => {
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(statusBody(404, 'NotFound', 'namespaces "web" not found', { name: 'web', kind: 'namespaces' }));
      return true;
    });
    await expect(fixture.cluster.get(POD, { namespace: 'web', name: 'a' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
    });
  });

  it('asks for metadata alone and still names the kind', async () => {
    fixture.server.put(POD, aPod('a', 'web', { spec: { secretive: true } }));
    const got = await fixture.cluster.get(POD, { namespace: 'web', name: 'a' }, { metadataOnly: true });
    expect(fixture.server.requests[0]?.headers.accept).toBe(
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    );
    expect(got).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: expect.objectContaining({ name: 'a' }) });
  });
});

describe('lists', () => {
  it('walks pages and gives items their kind', async () => {
    for (const name of ['a', 'b', 'c']) fixture.server.put(POD, aPod(name));
    const first = await fixture.cluster.list(POD, { limit: 2 });
    expect(first.items.map((o) => [o.kind, o.metadata.name])).toEqual([
      ['Pod', 'a'],
      ['Pod', 'b'],
    ]);
    const second = await fixture.cluster.list(POD, { limit: 2, continueToken: first.continueToken ?? '' });
    expect(second.items.map((o) => o.metadata.name)).toEqual(['c']);
    expect(second.continueToken).toBeUndefined();
    expect(second.resourceVersion).toBe(first.resourceVersion);
  });

  it('hands on selectors and namespace', async () => {
    fixture.server.put(POD, aPod('a'));
    await fixture.cluster.list(POD, {
      namespace: 'web',
      labelSelector: 'a in (b,c)',
      fieldSelector: 'metadata.name=a',
    });
    expect(fixture.server.requests[0]).toMatchObject({
      path: '/api/v1/namespaces/web/pods',
      query: { labelSelector: 'a in (b,c)', fieldSelector: 'metadata.name=a' },
    });
  });

  it('takes items that are null for none, as Go writes an empty list', async () => {
    fixture.server.script((_request, response) => {
      response.end('{"metadata":{"resourceVersion":"5"},"items":null}');
      return true;
    });
    expect(await fixture.cluster.list(POD)).toEqual({ items: [], resourceVersion: '5' });
  });

  it.each([
    ['HTML', '<html>login</html>'],
    ['a list without a version', '{"metadata":{},"items":[]}'],
    ['an item without a name', '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{}}]}'],
    ['a string', '"ok"'],
    ['nothing', ''],
  ])('refuses %s with status 200', async (_what, body) => {
    fixture.server.script((_request, response) => {
      response.end(body);
      return true;
    });
    await expect(fixture.cluster.list(POD)).rejects.toMatchObject({ code: 'GATE_CLUSTER_ANSWER' });
  });
});

describe('refusals of the server', () => {
  it.each([
    [400, 'BadRequest', 'GATE_CLUSTER_INVALID'],
    [401, 'Unauthorized', 'GATE_CLUSTER_UNAUTHORIZED'],
    [403, 'Forbidden', 'GATE_CLUSTER_FORBIDDEN'],
    [404, 'NotFound', 'GATE_CLUSTER_UNSUPPORTED'],
    [406, 'NotAcceptable', 'GATE_CLUSTER_UNSUPPORTED'],
    [409, 'AlreadyExists', 'GATE_CLUSTER_EXISTS'],
    [409, 'Conflict', 'GATE_CLUSTER_CONFLICT'],
    [410, 'Expired', 'GATE_CLUSTER_GONE'],
    [422, 'Invalid', 'GATE_CLUSTER_INVALID'],
    [429, 'TooManyRequests', 'GATE_CLUSTER_THROTTLED'],
    [500, 'InternalError', 'GATE_CLUSTER_UNREACHABLE'],
    [504, 'Timeout', 'GATE_CLUSTER_UNREACHABLE'],
    [302, 'Found', 'GATE_CLUSTER_ANSWER'],
  ])('turns %i %s into %s and keeps what the server said', async (status, reason, code) => {
    fixture.server.script((_request, response) => sendStatus(response, status, reason, 'said by the server'));
    await expect(fixture.cluster.list(POD)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('said by the server'),
      fields: { httpStatus: status, reason },
    });
  });

  it('keeps tokens and refused values out of the message, and cuts it', async () => {
    fixture.server.script((_request, response) =>
      sendStatus(
        response,
        422,
        'Invalid',
        'data: Invalid value: "hunter2 \\" hunter3": bad, Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln and eyJhbGciOi.eyJzdWIi, ' +
          'x'.repeat(10_000),
      ),
    );
    const error = await fixture.cluster.list(POD).catch((e: unknown) => e as Error);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).not.toMatch(/hunter|eyJ/);
    expect((error as Error).message.length).toBeLessThan(400);
  });

  it('says what is unreachable where nobody listens', async () => {
    const { url } = fixture.server;
    await fixture.server.stop();
    const error = await fixture
      .connect({ server: url })
      .get(POD, { namespace: 'web', name: 'a' })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 'GATE_CLUSTER_UNREACHABLE',
      message:
        'cannot read pods "web/a": no answer from the API server (found ECONNREFUSED); check its address and the network',
    });
  });
});
