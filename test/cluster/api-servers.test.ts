import { describe, expect, it } from 'vitest';
import { createApiServers, ENDPOINT_SLICE, serversOf } from '../../src/cluster/api-servers.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { FakeClock } from '../support/fake-clock.ts';

function slice(name: string, fields: Readonly<Record<string, unknown>>): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    ...fields,
  };
}

describe('API servers', () => {
  it.each([
    [
      'of both families',
      { ports: [{ port: 6443 }], endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['fd00::1'] }] },
      ['https://10.0.0.1:6443', 'https://[fd00::1]:6443'],
    ],
    [
      'that are ready alone',
      {
        ports: [{ name: 'https', port: 443 }],
        endpoints: [
          { addresses: ['10.0.0.1'], conditions: { ready: false } },
          { addresses: ['10.0.0.2'], conditions: { ready: true } },
        ],
      },
      ['https://10.0.0.2:443'],
    ],
    ['of which none is named', { ports: [], endpoints: [{ addresses: ['10.0.0.1'] }] }, []],
    ['without any endpoint', { ports: [{ port: 6443 }], endpoints: null }, []],
  ])('are read from slices: those %s', (_what, fields, expected) => {
    expect(serversOf(slice('one', fields))).toEqual(expected);
  });

  it('are one outside a Pod: the address that is given', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const servers = createApiServers({ source: 'kubeconfig', paths: [] }, cluster, clock);
    expect(await servers.all()).toEqual([{ name: 'the API server', cluster }]);
    await servers.close();
  });

  it('are not guessed in a Pod where nothing names them', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const servers = createApiServers({ source: 'in-cluster', host: '10.0.0.1', port: '443' }, cluster, clock);
    await expect(servers.all()).rejects.toMatchObject({ code: 'GATE_CLUSTER_ANSWER' });
    cluster.load(ENDPOINT_SLICE, {
      ...slice('other', { ports: [{ port: 1 }], endpoints: [{ addresses: ['10.0.0.9'] }] }),
      metadata: { name: 'other', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    });
    await expect(servers.all()).rejects.toMatchObject({ code: 'GATE_CLUSTER_ANSWER' });
  });

  it('are asked one by one in a Pod, over ways that are kept while they are there', async () => {
    const clock = new FakeClock();
    const cluster = createMemoryCluster({ clock });
    const put = (...addresses: string[]): void => {
      const endpoints = addresses.map((address) => ({ addresses: [address] }));
      cluster.load(ENDPOINT_SLICE, slice('kubernetes', { ports: [{ port: 6443 }], endpoints }));
    };
    const opened: string[] = [];
    const closed: string[] = [];
    const connect = (server: string): Pick<Cluster, 'create' | 'close'> => {
      opened.push(server);
      return {
        create: () => Promise.reject(new Error(server)),
        close: () => {
          closed.push(server);
          return Promise.resolve();
        },
      };
    };
    const source = { source: 'in-cluster', host: '10.96.0.1', port: '443' } as const;
    const servers = createApiServers(source, cluster, clock, () => Promise.resolve(connect));
    put('10.0.0.1', '10.0.0.2');
    const names = async (): Promise<string[]> => (await servers.all()).map(({ name }) => name);
    expect(await names()).toEqual(['https://10.0.0.1:6443', 'https://10.0.0.2:6443']);
    put('10.0.0.2', '10.0.0.3');
    expect(await names()).toEqual(['https://10.0.0.2:6443', 'https://10.0.0.3:6443']);
    expect(opened).toEqual(['https://10.0.0.1:6443', 'https://10.0.0.2:6443', 'https://10.0.0.3:6443']);
    expect(closed).toEqual(['https://10.0.0.1:6443']);
    await servers.close();
    expect(closed).toHaveLength(3);
  });
});
