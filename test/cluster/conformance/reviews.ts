import { expect, it } from 'vitest';

import type { AccessQuestion } from '../../../src/cluster/cluster.ts';
import { LEASE } from '../../../src/cluster/kinds.ts';
import type { Fixture } from './fixture.ts';

/** Must be allowed by what the target authorizes with: an API server allows this group everything. */
export const ALLOWED_QUESTION: AccessQuestion = {
  user: { username: 'conformance', groups: ['system:masters'], extra: { 'example.com/why': ['test'] } },
  resource: {
    verb: 'get',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    namespace: 'any',
    name: 'any',
  },
};

/** Must not be allowed: no role that an API server comes with allows it. */
export const REFUSED_QUESTION: AccessQuestion = {
  user: { username: 'nobody-in-particular', groups: ['system:authenticated'] },
  nonResource: { verb: 'get', path: '/metrics' },
};

export function reviewTests(fixture: Fixture): void {
  it('does not know a token that nobody issued', async () => {
    const result = await fixture.cluster.reviewToken('not.a.token', []);
    expect(result).toMatchObject({ authenticated: false, audiences: [] });
    expect(result.user.username ?? '').toBe('');
  });

  it('knows whose a token is, for the audience it was issued for', async (context) => {
    const token = fixture.target.token ?? context.skip('this target was given no token');
    const result = await fixture.cluster.reviewToken(token.token, [token.audience, 'somebody-else']);
    expect(result).toMatchObject({
      authenticated: true,
      user: { username: token.username },
      audiences: [token.audience],
    });
    const other = await fixture.cluster.reviewToken(token.token, ['somebody-else']);
    expect(other.authenticated).toBe(false);
  });

  it('answers who may do what, to resources and to paths', async () => {
    expect(await fixture.cluster.reviewAccess(ALLOWED_QUESTION)).toMatchObject({
      allowed: true,
      denied: false,
    });
    expect(await fixture.cluster.reviewAccess(REFUSED_QUESTION)).toMatchObject({ allowed: false });
    const path = { user: ALLOWED_QUESTION.user, nonResource: { verb: 'get', path: '/metrics' } };
    expect(await fixture.cluster.reviewAccess(path)).toMatchObject({ allowed: true });
  });

  it('knows which resources are served', async () => {
    // A memory cluster knows the kinds that it was asked for.
    await fixture.cluster.list(LEASE, { limit: 1 });
    const { resources, unknown } = await fixture.cluster.resources();
    const leases = resources.find(({ group, resource }) => group === LEASE.group && resource === 'leases');
    expect(leases).toMatchObject({ version: 'v1', kind: 'Lease', namespaced: true });
    expect(leases?.verbs).toEqual(expect.arrayContaining(['get', 'list', 'patch', 'update', 'watch']));
    expect(unknown).toEqual([]);
  });

  it('knows its version', async () => {
    const version = await fixture.cluster.serverVersion();
    expect(version.major).toBe(1);
    expect(version.minor).toBeGreaterThanOrEqual(20);
    expect(version.gitVersion).toMatch(new RegExp(`^v1\\.${version.minor}\\.\\d+`));
  });
}

export function closeTests(fixture: Fixture): void {
  it('ends watches that are open, and answers no more', async () => {
    const { cluster } = await fixture.makeTarget();
    const { resourceVersion } = await cluster.list(LEASE);
    const events = cluster.watch(LEASE, { resourceVersion })[Symbol.asyncIterator]();
    const over = events.next().then(
      ({ done }) => done,
      (error: unknown) => (error as { code?: string }).code,
    );
    await cluster.close();
    // In peace or as a lost connection: either tells watch.ts that it is over.
    expect([true, 'GATE_CLUSTER_UNREACHABLE']).toContain(await over);
    await expect(cluster.list(LEASE)).rejects.toMatchObject({ code: 'GATE_CLUSTER_UNREACHABLE' });
    await cluster.close();
  });
}
