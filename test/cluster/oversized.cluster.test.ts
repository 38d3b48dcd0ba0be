/**
 * An agent chooses how large its object is, and with it how large the review: each `<` of at most 3 MiB comes to us as
 * six bytes. Under Ignore, whatever is no answer to a review lets the request pass.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubeletToken, LEASES, leaseObject } from './support/agents.ts';
import type { ApiAnswer, ApiRequest } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startSite, type Site } from './support/site.ts';

/** Fits what etcd stores (1.5 MiB), and makes a review of more than 8 MiB. */
const SIGNS = 1_450_000;
const SENTENCE =
  'admission webhook "node-identity.gate.pacto.trianalab.io" denied the request: request: the object of an agent could not be read, so nobody can tell whose it is: request body: more than 8388608 bytes: send a smaller one [NODE_REVIEW_UNREADABLE]';

function largeLease(node: string, resourceVersion?: string): object {
  const lease = leaseObject(node) as { metadata: object };
  const owner = { apiVersion: 'v1', kind: 'Node', name: '<'.repeat(SIGNS), uid: 'none' };
  return { ...lease, metadata: { ...lease.metadata, resourceVersion, ownerReferences: [owner] } };
}

clusterSuite('reviews that are too large to be read', { versions: ['1.36'] }, () => {
  let site: Site;
  let token = '';

  beforeAll(async () => {
    const flags = ['--identity-failure-policy=Ignore'];
    site = await startSite({ plane: { version: '1.36' }, serveFlags: flags, entryFlags: flags });
    token = await kubeletToken(site.api, 'node-a');
  });
  afterAll(() => site?.stop());

  const asAgent = (request: Omit<ApiRequest, 'token'>): Promise<ApiAnswer> =>
    site.api.request({ ...request, token });
  const found = async (node: string): Promise<number> =>
    (await site.api.request({ method: 'GET', path: `${LEASES}/${node}` })).status;
  const refused = { status: 403, body: { message: SENTENCE, reason: 'Forbidden' } };

  describe('of an agent, under Ignore', () => {
    it('deny creating another node’s Lease, and its own', async () => {
      for (const node of ['node-b', 'node-a']) {
        expect(await asAgent({ method: 'POST', path: LEASES, body: largeLease(node) })).toMatchObject(
          refused,
        );
        expect(await found(node)).toBe(404);
      }
    });

    it('deny creating another node’s Lease by PUT and by server-side apply', async () => {
      const path = `${LEASES}/node-b`;
      expect(await asAgent({ method: 'PUT', path, body: largeLease('node-b') })).toMatchObject(refused);
      const apply = await asAgent({
        method: 'PATCH',
        path: `${path}?fieldManager=agent`,
        contentType: 'application/apply-patch+yaml',
        body: largeLease('node-b'),
      });
      expect(apply).toMatchObject(refused);
      expect(await found('node-b')).toBe(404);
    });

    it('deny updating and patching another node’s Lease', async () => {
      const { metadata } = await site.api.demand({
        method: 'POST',
        path: LEASES,
        body: leaseObject('node-b'),
      });
      const path = `${LEASES}/node-b`;
      const body = largeLease('node-b', metadata?.resourceVersion);
      expect(await asAgent({ method: 'PUT', path, body })).toMatchObject(refused);
      const contentType = 'application/merge-patch+json';
      expect(await asAgent({ method: 'PATCH', path, contentType, body })).toMatchObject(refused);
      const after = await site.api.demand({ method: 'GET', path });
      expect(after.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
      await site.api.demand({ method: 'DELETE', path });
    });

    it('deny deleting another node’s large Lease, which somebody else may write and delete', async () => {
      const path = `${LEASES}/node-b`;
      await site.api.demand({ method: 'POST', path: LEASES, body: largeLease('node-b') });
      expect(await asAgent({ method: 'DELETE', path })).toMatchObject(refused);
      expect(await asAgent({ method: 'DELETE', path: LEASES })).toMatchObject(refused);
      expect(await found('node-b')).toBe(200);
      await site.api.demand({ method: 'DELETE', path });
    });
  });

  it('leave an ordinary Lease of the agent alone', async () => {
    expect((await asAgent({ method: 'POST', path: LEASES, body: leaseObject('node-a') })).status).toBe(201);
    expect((await asAgent({ method: 'POST', path: LEASES, body: leaseObject('node-b') })).status).toBe(403);
  });
});
