import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import {
  allEndpoints,
  findPort,
  hasSelector,
  isExternalName,
  readyEndpoints,
} from '../../../src/reconcile/observe/endpoints.ts';
import { service, slice } from './survey-objects.ts';

const named = [
  { port: 80, name: 'http', targetPort: 8080 },
  { port: 90, name: '80', targetPort: 'web' },
  { port: 53, name: 'dns-udp', protocol: 'UDP' },
  { port: 53, name: 'dns', protocol: 'TCP' },
];

describe('the port that a binding means', () => {
  it.each<[string, string | number, unknown, string | undefined]>([
    ['a number is a port', 80, named, 'http'],
    ['a text is a name', 'http', named, 'http'],
    ['a text of digits is a name, too', '80', named, '80'],
    ['a number is no name', 8080, named, undefined],
    ['an unknown name is none', 'grpc', named, undefined],
    ['TCP comes first where a number is two ports', 53, named, 'dns'],
    ['another protocol where it is alone', 'dns-udp', named, 'dns-udp'],
    ['the empty text is an unnamed port', '', [{ port: 80 }], ''],
    ['no ports', 80, null, undefined],
    ['ports that are none', 80, 'x', undefined],
    ['entries that are none', 80, [null, 'x', { port: '80' }], undefined],
  ])('%s', (_what, binding, ports, name) => {
    expect(findPort(service({ ports }), binding)?.name).toBe(name);
  });
});

describe('endpoints that are ready', () => {
  const at8080 = { port: 80, name: '', protocol: 'TCP', targetPort: 8080 };
  const byName = { port: 80, name: 'http', protocol: 'TCP', targetPort: 'web' };
  const ready = [{ ready: true }];
  it.each<[string, unknown, Parameters<typeof readyEndpoints>[1], number]>([
    ['on the target port of 80, which is 8080', [{ name: '', port: 8080 }], at8080, 1],
    ['not on another number', [{ name: '', port: 9999 }], at8080, 0],
    ['by number, whatever the slice calls it', [{ name: 'x', port: 8080 }], at8080, 1],
    ['by name where the target port is one', [{ name: 'http', port: 8080 }], byName, 1],
    ['not by another name', [{ name: 'admin', port: 8080 }], byName, 0],
    ['by name where the slice says no number', [{ name: '' }], at8080, 1],
    ['not over another protocol', [{ name: '', port: 8080, protocol: 'UDP' }], at8080, 0],
    ['among several ports', [{ port: 1 }, { port: 8080 }], at8080, 1],
    ['on any port', [{ port: 1 }], undefined, 1],
    ['on any port of a slice without one', null, undefined, 1],
    ['on ports that are none', 'x', at8080, 0],
    ['on entries that are none', [null, 1], at8080, 0],
  ])('%s', (_what, ports, port, count) => {
    expect(readyEndpoints([slice('web', ready, { ports })], port)).toHaveLength(count);
  });

  it.each<[string, boolean | undefined, number]>([
    ['one that is', true, 1],
    ['one that is not', false, 0],
    ['one that does not say counts as ready', undefined, 1],
  ])('%s', (_what, isReady, count) => {
    expect(readyEndpoints([slice('web', [{ ready: isReady }])], at8080)).toHaveLength(count);
  });

  it('carries the port that traffic reaches, its Pod and its node', () => {
    const one = slice('web', [{ ready: true, pod: 'n1/p1', address: '10.0.0.7' }]);
    expect(readyEndpoints([one], at8080)).toEqual([
      { port: 8080, addresses: ['10.0.0.7'], nodeName: 'n1', podUid: 'p1' },
    ]);
  });

  it('takes every slice together', () => {
    const slices = [slice('web', [{ ready: false }]), slice('web', [{ ready: true }], { name: 'web-2' })];
    expect(readyEndpoints(slices, at8080)).toHaveLength(1);
    expect(allEndpoints(slices)).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['no list', 'x'],
    ['null', null],
    ['entries that are none', [null, 'x', 7]],
    ['fields that are none', [{ addresses: 'x', conditions: 'y', nodeName: 1, targetRef: [] }]],
  ])('never throws: %s', (_what, endpoints) => {
    const hostile = { ...slice('web', []), endpoints } as KubeObject;
    for (const { addresses, nodeName, podUid } of readyEndpoints([hostile], at8080))
      expect([addresses, nodeName, podUid]).toEqual([[], undefined, undefined]);
  });

  it('names the Pod only where it is one', () => {
    const other = {
      ...slice('web', []),
      endpoints: [{ addresses: ['10.0.0.1'], targetRef: { kind: 'Node', uid: 'u' } }],
    } as KubeObject;
    expect(readyEndpoints([other], at8080).map(({ podUid }) => podUid)).toEqual([undefined]);
  });
});

describe('what a Service is', () => {
  it.each<[string, unknown, boolean]>([
    ['a selector', { app: 'web' }, true],
    ['an empty one', {}, false],
    ['none', undefined, false],
    ['one that is none', 'app', false],
  ])('%s', (_what, selector, selects) => {
    expect(hasSelector(service({ spec: { selector } }))).toBe(selects);
  });

  it('is an alias for a name only where its type says so', () => {
    expect(isExternalName(service({ spec: { type: 'ExternalName' } }))).toBe(true);
    expect(isExternalName(service())).toBe(false);
    expect(isExternalName({ ...service(), spec: null })).toBe(false);
  });
});
