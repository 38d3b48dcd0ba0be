import { describe, expect, it } from 'vitest';
import { CONFIG_MAP, POD } from '../../src/cluster/kinds.ts';
import { startFakeApiServer, statusBody } from '../support/fake-api-server.ts';
import { aPod, useRestCluster } from '../support/rest-cluster.ts';

const fixture = useRestCluster();

describe('writes', () => {
  it.each([
    [
      'create',
      () => fixture.cluster.create(POD, aPod('a'), { dryRun: true, fieldManager: 'gate' }),
      'POST',
      '/api/v1/namespaces/web/pods',
      { dryRun: 'All', fieldManager: 'gate' },
    ],
    ['replace', () => fixture.cluster.replace(POD, aPod('a')), 'PUT', '/api/v1/namespaces/web/pods/a', {}],
    [
      'status',
      () => fixture.cluster.replaceStatus(POD, aPod('a')),
      'PUT',
      '/api/v1/namespaces/web/pods/a/status',
      {},
    ],
  ])('sends %s as the API wants it', async (_what, write, method, path, query) => {
    fixture.server.script((request, response) => {
      response.writeHead(method === 'POST' ? 201 : 200).end(JSON.stringify(request.body));
      return true;
    });
    expect(await write()).toEqual(aPod('a'));
    expect(fixture.server.requests).toMatchObject([{ method, path, query, body: aPod('a') }]);
  });

  it('deletes with the uid as a precondition', async () => {
    fixture.server.script((_request, response) => {
      response.end('{"kind":"Status","status":"Success"}');
      return true;
    });
    await fixture.cluster.delete(CONFIG_MAP, { namespace: 'web', name: 'a' }, { uid: 'u', dryRun: true });
    expect(fixture.server.requests).toMatchObject([
      {
        method: 'DELETE',
        path: '/api/v1/namespaces/web/configmaps/a',
        body: { preconditions: { uid: 'u' }, dryRun: ['All'] },
      },
    ]);
  });

  it('refuses to write where no object can be, without asking', async () => {
    await expect((async () => fixture.cluster.replace(POD, aPod('')))()).rejects.toMatchObject({
      code: 'GATE_CLUSTER_INVALID',
    });
    await expect(fixture.cluster.delete(POD, { namespace: 'web', name: '../nodes' })).rejects.toMatchObject({
      code: 'GATE_CLUSTER_INVALID',
    });
    expect(fixture.server.requests).toHaveLength(0);
  });

  it('says that the namespace of a new object is not there', async () => {
    fixture.server.script((_request, response) => {
      response.writeHead(404).end(statusBody(404, 'NotFound', 'namespaces "web" not found', { name: 'web' }));
      return true;
    });
    await expect(fixture.cluster.create(POD, aPod('a'))).rejects.toMatchObject({
      code: 'GATE_CLUSTER_NOT_FOUND',
    });
  });
});

describe('reviews and version', () => {
  const answerWith = (body: unknown): void => {
    fixture.server.script((_request, response) => {
      response.writeHead(201).end(JSON.stringify(body));
      return true;
    });
  };

  it('reviews a token and hands on who it is', async () => {
    answerWith({ status: { authenticated: true, user: { username: 'u', groups: ['g'] }, audiences: ['x'] } });
    expect(await fixture.cluster.reviewToken('secret', ['x'])).toEqual({
      authenticated: true,
      user: { username: 'u', groups: ['g'] },
      audiences: ['x'],
    });
    expect(fixture.server.requests[0]).toMatchObject({
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { spec: { token: 'secret', audiences: ['x'] } },
    });
  });

  it('reports a refused token without repeating it', async () => {
    answerWith({ status: { user: {}, error: 'cannot parse secret' } });
    expect(await fixture.cluster.reviewToken('secret', [])).toEqual({
      authenticated: false,
      user: {},
      audiences: [],
      error: 'cannot parse …',
    });
  });

  it('refuses an authenticated token without a user name', async () => {
    answerWith({ status: { authenticated: true, user: {} } });
    await expect(fixture.cluster.reviewToken('secret', [])).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
    });
  });

  it('reviews an access', async () => {
    answerWith({ status: { allowed: true, reason: 'RBAC' } });
    const question = {
      user: { username: 'u', extra: { k: ['v'] } },
      nonResource: { verb: 'get', path: '/metrics' },
    };
    expect(await fixture.cluster.reviewAccess(question)).toEqual({
      allowed: true,
      denied: false,
      reason: 'RBAC',
    });
    expect(fixture.server.requests[0]).toMatchObject({
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: { user: 'u', extra: { k: ['v'] }, nonResourceAttributes: { verb: 'get', path: '/metrics' } },
      },
    });
  });

  it('denies an access that is allowed and denied at once, and refuses an answer that says neither', async () => {
    const user = { username: 'u' };
    const resource = { verb: 'get', group: '', resource: 'pods' };
    answerWith({ status: { allowed: true, denied: true } });
    expect(await fixture.cluster.reviewAccess({ user, resource })).toMatchObject({
      allowed: false,
      denied: true,
    });
    const other = await startFakeApiServer();
    other.script((_request, response) => {
      response.end('{"status":{}}');
      return true;
    });
    await expect(
      fixture.connect({ server: other.url }).reviewAccess({ user, resource }),
    ).rejects.toMatchObject({
      code: 'GATE_CLUSTER_ANSWER',
    });
    await other.stop();
  });

  it('reads a version with a plus', async () => {
    answerWith({ major: '1', minor: '29+', gitVersion: 'v1.29.6-gke.1' });
    expect(await fixture.cluster.serverVersion()).toEqual({
      major: 1,
      minor: 29,
      gitVersion: 'v1.29.6-gke.1',
    });
  });
});
