import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeConformance } from './conformance.ts';

describeConformance('memory', async () => {
  const clock = new FakeClock();
  const cluster = createMemoryCluster({
    clock,
    reviewToken: (token, audiences) =>
      token === 'good' && audiences.includes('gate')
        ? { authenticated: true, user: { username: 'alice' }, audiences: ['gate'] }
        : { authenticated: false, user: {}, audiences: [] },
    reviewAccess: ({ user }) => ({
      allowed: user.groups?.includes('system:masters') === true,
      denied: false,
      reason: '',
    }),
  });
  return {
    cluster,
    prefix: 'conformance',
    token: { token: 'good', username: 'alice', audience: 'gate' },
    forgetHistory: () => cluster.compactHistory(),
    passMinute: () => clock.advance(60_000),
    endWatches: () => cluster.endWatches(),
    breakWatches: () => cluster.breakWatches(),
  };
});
