/** The conformance suite over REST, on real API servers: what memory.ts must be like is what these are like. */
import { afterAll, beforeAll } from 'vitest';

import { systemClock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { loadConnection } from '../../src/cluster/kubeconfig.ts';
import { NAMESPACE } from '../../src/cluster/kinds.ts';
import { createRestCluster } from '../../src/cluster/rest.ts';
import { describeConformance } from './conformance.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { ControlPlane } from './support/control-plane.ts';
import { startControlPlane } from './support/control-plane.ts';

const AUDIENCE = 'https://gate.example';

/** Forgets everything up to now in etcd; the API server itself does so after five minutes. */
async function compact(plane: ControlPlane, cluster: Cluster): Promise<void> {
  const { resourceVersion } = await cluster.list(NAMESPACE);
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/compaction`, {
    method: 'POST',
    body: JSON.stringify({ revision: resourceVersion, physical: true }),
  });
  if (!answer.ok) throw new Error(`etcd refused to compact: ${answer.status} ${await answer.text()}`);
}

async function restart(plane: ControlPlane): Promise<void> {
  await plane.stopApiServer('SIGKILL');
  await plane.startApiServer();
}

for (const version of ['1.36', '1.29'] as const) {
  clusterSuite(`cluster conformance on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let token: string;
    let targets = 0;

    beforeAll(async () => {
      plane = await startControlPlane({ version });
      await plane.kubectl(['create', 'serviceaccount', 'conformance']);
      token = await plane.tokenFor({ serviceAccount: 'conformance', audiences: [AUDIENCE] });
    });
    afterAll(() => plane.stop());

    describeConformance(`REST on ${version}`, async () => {
      const paths = [plane.adminKubeconfigPath];
      const connection = await loadConnection({ source: 'kubeconfig', paths, clock: systemClock });
      const cluster = createRestCluster({ connection, clock: systemClock });
      targets++;
      return {
        cluster,
        prefix: `conformance-${targets}`,
        token: { token, username: 'system:serviceaccount:default:conformance', audience: AUDIENCE },
        // The API server's own watch cache remembers as well: it goes with the process.
        forgetHistory: async () => {
          await compact(plane, cluster);
          await restart(plane);
        },
        breakWatches: () => restart(plane),
        // Bookmarks come by the server's own clock, and a minute of it is enough on one of them.
        ...(version === '1.36' && { passMinute: () => undefined }),
      };
    });
  });
}
