/** A REST cluster on a fake API server, both gone after each test. */
import { afterEach, beforeEach } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { fixedCredentials, type Connection } from '../../src/cluster/connection.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { createRestCluster, type RestLimits } from '../../src/cluster/rest.ts';
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';

interface Changes extends Partial<Connection> {
  readonly limits?: Partial<RestLimits>;
  readonly random?: () => number;
}

export interface RestFixture {
  server: FakeApiServer;
  cluster: Cluster;
  /** Another client of the same server. */
  connect(changes?: Changes): Cluster;
}

export function useRestCluster(): RestFixture {
  const opened: Cluster[] = [];
  const fixture = {
    connect({ limits, random, ...connection }: Changes = {}): Cluster {
      const made = createRestCluster({
        connection: {
          server: fixture.server.url,
          origin: 'the test',
          credentials: fixedCredentials({}),
          warnings: [],
          ...connection,
        },
        clock: systemClock,
        ...(limits !== undefined && { limits }),
        ...(random !== undefined && { random }),
      });
      opened.push(made);
      return made;
    },
  } as RestFixture;
  beforeEach(async () => {
    fixture.server = await startFakeApiServer();
    fixture.cluster = fixture.connect();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await fixture.server.stop();
  });
  return fixture;
}

export function aPod(name: string, namespace = 'web', rest: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid: `uid-${name}` }, ...rest };
}

/** What a promise came to, handled at once, so that it may be looked at later. */
export function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}
