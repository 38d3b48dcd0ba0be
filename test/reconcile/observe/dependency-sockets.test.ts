import { describe, expect, it } from 'vitest';
import { socketsOf, socketText } from '../../../src/reconcile/observe/dependency-sockets.ts';
import { service, slice } from './survey-objects.ts';

describe('where connections to a provider end', () => {
  const provider = service({
    ports: [
      { port: 80, targetPort: 8080 },
      { port: 53, protocol: 'UDP' },
    ],
    spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', 'fd00:96::9'] },
  });

  it('is the port of the Service at its addresses, and the target port at each endpoint', () => {
    const slices = [
      slice('web', [
        { ready: true, address: '10.0.0.1' },
        { ready: false, address: '10.0.0.2' },
      ]),
    ];
    expect([...socketsOf(provider, slices)].sort()).toEqual([
      '10.0.0.1 8080',
      '10.0.0.2 8080',
      '10.96.0.9 80',
      'fd00:96::9 80',
    ]);
  });

  it.each<[string, unknown]>([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['not given yet', { clusterIP: '' }],
    ['of another type', { clusterIP: 7, clusterIPs: 'x' }],
  ])('has no address of its own that is %s', (_what, spec) => {
    expect(socketsOf(service({ spec: spec as object as Record<string, unknown> }), [])).toEqual(new Set());
  });

  it('leaves out ports that are not TCP or not said', () => {
    const slices = [
      slice('web', [{ ready: true }], { ports: [{ port: 53, protocol: 'UDP' }, { name: '' }] }),
    ];
    expect(socketsOf(service({ spec: {} }), slices)).toEqual(new Set());
  });

  it('reads one address in either form as the same', () => {
    expect(socketText('::ffff:10.0.0.1', 80)).toBe(socketText('10.0.0.1', 80));
    expect(socketText('pay.test', 80)).toBeUndefined();
  });
});
