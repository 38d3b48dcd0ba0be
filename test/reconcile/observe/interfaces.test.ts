import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import { observeInterfaces } from '../../../src/reconcile/observe/interfaces.ts';
import { gist, look, NAMESPACE, WINDOW_MS, type Scene } from './survey.ts';
import { service, slice } from './survey-objects.ts';

const API = { name: 'api', type: 'openapi', ref: 'api.yaml' };
const PRESENT = { type: 'openapi', present: true };
const ABSENT = { type: 'openapi', present: false };
const STREAK = 'interface/api';

function scene(objects: Scene['objects'], more: Scene = {}): Scene {
  return {
    contract: { interfaces: [API] },
    ...more,
    ...(objects !== undefined && { objects }),
    target: { interfaces: new Map([['api', 80]]), ...more.target },
  };
}

const ready = slice('web', [{ ready: true }]);
const unready = slice('web', [{ ready: false }]);

describe('a bound interface (operator.md §5.1)', () => {
  it.each<[string, Scene, unknown]>([
    ['one ready endpoint: present', scene([service(), ready]), PRESENT],
    ['Service 80, container 8080: present', scene([service(), ready]), PRESENT],
    [
      'by the name of the port',
      scene([service({ ports: [{ port: 80, name: 'http', targetPort: 8080 }] }), ready], {
        target: { interfaces: new Map([['api', 'http']]) },
      }),
      PRESENT,
    ],
    ['the Service cannot be read: Failed', scene([ready], { forbidden: [kinds.SERVICE] }), 'Failed'],
    [
      'the slices cannot be read: Failed',
      scene([service()], { forbidden: [kinds.ENDPOINT_SLICE] }),
      'Failed',
    ],
    [
      'an alias for a name: Insufficient',
      scene([service({ spec: { type: 'ExternalName' } }), ready]),
      'Insufficient',
    ],
    [
      'nothing is selected: Insufficient',
      scene([service({ spec: { selector: {} } }), ready]),
      'Insufficient',
    ],
    ['no such port: Insufficient', scene([service({ ports: [{ port: 81 }] }), ready]), 'Insufficient'],
    ['no Service named: Unsupported', scene([], { target: { service: undefined } }), 'Unsupported'],
  ])('%s', async (_what, given, expected) => {
    const { observations, streaks } = await look(observeInterfaces, given);
    expect(gist(observations)).toEqual([expected]);
    expect(streaks).toEqual({});
  });

  it('is not spoken of without its Service', async () => {
    const { observations, streaks } = await look(observeInterfaces, scene([ready]));
    expect(observations).toEqual([]);
    expect(streaks).toEqual({});
  });

  it('says of which subject, by whom and when, and why it failed', async () => {
    const { observations } = await look(
      observeInterfaces,
      scene([service()], { forbidden: [kinds.ENDPOINT_SLICE] }),
    );
    expect(observations).toEqual([
      {
        kind: 'InterfaceObserved',
        subject: { kind: 'interface', name: 'api' },
        outcome: 'Failed',
        reason: 'endpointslices may not be listed',
        provenance: { collector: 'k8s-observer', detectedAt: '2026-01-01T00:00:00.000Z' },
      },
    ]);
  });

  it.each<[string, Scene['objects']]>([
    ['no slice', [service()]],
    ['none ready', [service(), unready]],
    ['ready on another port alone', [service(), slice('web', [{ ready: true }], { ports: [{ port: 9 }] })]],
    [
      'ready in another namespace alone',
      [service(), slice('web', [{ ready: true }], { namespace: 'other' })],
    ],
  ])('%s: absent once it has lasted', async (_what, objects) => {
    const first = await look(observeInterfaces, scene(objects));
    expect(gist(first.observations)).toEqual(['Insufficient']);
    expect(first.streaks).toEqual({ [STREAK]: 0 });
    const within = await look(
      observeInterfaces,
      scene(objects, { streaks: { [STREAK]: WINDOW_MS - 1_000 } }),
    );
    expect(gist(within.observations)).toEqual(['Insufficient']);
    const over = await look(observeInterfaces, scene(objects, { streaks: { [STREAK]: WINDOW_MS } }));
    expect(gist(over.observations)).toEqual([ABSENT]);
    expect(over.streaks).toEqual({ [STREAK]: WINDOW_MS });
  });

  it.each<[string, Scene, Readonly<Record<string, number>>]>([
    ['present ends it', scene([service(), ready]), {}],
    [
      'Failed leaves it alone',
      scene([service()], { forbidden: [kinds.ENDPOINT_SLICE] }),
      { [STREAK]: 5_000 },
    ],
    ['Insufficient leaves it alone', scene([service({ ports: [] })]), { [STREAK]: 5_000 }],
    ['no Service leaves it alone', scene([]), { [STREAK]: 5_000 }],
  ])('a streak: %s', async (_what, given, left) => {
    const { streaks } = await look(observeInterfaces, { ...given, streaks: { [STREAK]: 5_000 } });
    expect(streaks).toEqual(left);
  });
});

describe('an interface without a binding (operator.md §5.1)', () => {
  const ofName = service({ ports: [{ port: 80, name: 'api', targetPort: 8080 }] });
  const target: Scene['target'] = { interfaces: new Map() };
  const nameMatch: Scene = { target, settings: { nameMatch: true } };
  it.each<[string, Scene, unknown]>([
    ['name match off: Unsupported', scene([ofName, ready], { target }), 'Unsupported'],
    ['a ready port of its name: present', scene([ofName, ready], nameMatch), PRESENT],
    ['no port of its name: Unsupported', scene([service(), ready], nameMatch), 'Unsupported'],
    ['none ready: Unsupported', scene([ofName, unready], nameMatch), 'Unsupported'],
    ['no Service: Unsupported', scene([ready], nameMatch), 'Unsupported'],
    [
      'what cannot be read: Unsupported',
      scene([ofName], { ...nameMatch, forbidden: [kinds.ENDPOINT_SLICE] }),
      'Unsupported',
    ],
  ])('%s', async (_what, given, expected) => {
    const { observations, streaks } = await look(observeInterfaces, {
      ...given,
      streaks: { [STREAK]: WINDOW_MS },
    });
    expect(gist(observations)).toEqual([expected]);
    // By its name alone nothing begins, goes on or ends.
    expect(streaks).toEqual({ [STREAK]: WINDOW_MS });
  });

  it('loses to a binding', async () => {
    const objects = [ofName, ready];
    const given = scene(objects, { ...nameMatch, target: { interfaces: new Map([['api', 81]]) } });
    expect(gist((await look(observeInterfaces, given)).observations)).toEqual(['Insufficient']);
  });
});

it('looks at each interface for itself', async () => {
  const both = {
    ...scene([service(), ready]),
    contract: { interfaces: [API, { ...API, name: 'admin', type: 'grpc' }] },
    target: {
      namespace: NAMESPACE,
      interfaces: new Map<string, number>([
        ['api', 80],
        ['admin', 90],
      ]),
    },
  };
  expect(gist((await look(observeInterfaces, both)).observations)).toEqual([PRESENT, 'Insufficient']);
});

it('throws what the signal says, and nothing else', async () => {
  const given = scene([service()], { forbidden: [kinds.ENDPOINT_SLICE] });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(look(observeInterfaces, { ...given, signal })).rejects.toThrow('enough');
  await expect(look(observeInterfaces, given)).resolves.toBeDefined();
});
