import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { WireProtocol } from '../../../src/policies/observation.ts';
import type { ProbeTarget } from '../../../src/reconcile/observe/prober.ts';
import { observeProtocols } from '../../../src/reconcile/observe/protocol.ts';
import { gist, look, type Scene } from './survey.ts';
import { service } from './survey-objects.ts';

interface Asked extends Scene {
  readonly type?: string;
  readonly spoken?: readonly WireProtocol[];
}

/** @returns the observations in short, and which ports were asked. */
async function protocols({ type = 'openapi', spoken = ['http'], ...scene }: Asked): Promise<unknown> {
  const asked: ProbeTarget[] = [];
  const { observations, streaks } = await look(observeProtocols, {
    objects: [service()],
    ...scene,
    contract: { interfaces: [{ name: 'api', type, ref: 'api.yaml' }] },
    target: { interfaces: new Map([['api', 80]]), ...scene.target },
    settings: { probing: true, ...scene.settings },
    streaks: { 'interface/api': 1_000 },
    prober: {
      protocols: (target) => {
        asked.push(target);
        return Promise.resolve(spoken);
      },
    },
  });
  // A mismatch counts at once: no streak has to do with it.
  expect(streaks).toEqual({ 'interface/api': 1_000 });
  return [...gist(observations), asked.length];
}

describe('what the port of an interface speaks (operator.md §5.2)', () => {
  it.each<[string, Asked, unknown]>([
    ['openapi over HTTP', { spoken: ['http'] }, { protocol: 'http' }],
    ['grpc over gRPC', { type: 'grpc', spoken: ['grpc'] }, { protocol: 'grpc' }],
    ['openapi, and it speaks gRPC', { spoken: ['grpc'] }, { protocol: 'grpc' }],
    ['grpc, and it speaks HTTP', { type: 'grpc', spoken: ['http'] }, { protocol: 'http' }],
    ['openapi, and it speaks another', { spoken: ['other'] }, { protocol: 'other' }],
    ['openapi, and it speaks both', { spoken: ['grpc', 'http'] }, { protocol: 'http' }],
    ['grpc, and it speaks both', { type: 'grpc', spoken: ['http', 'grpc'] }, { protocol: 'grpc' }],
  ])('%s', async (_what, asked, expected) => {
    expect(await protocols(asked)).toEqual([expected, 1]);
  });

  it('is not known where the port says nothing for certain: TLS, silence, a refusal', async () => {
    expect(await protocols({ spoken: [] })).toEqual([1]);
  });

  it.each<[string, Asked]>([
    ['probing is off', { settings: { probing: false } }],
    ['asyncapi names no wire protocol', { type: 'asyncapi' }],
    ['nor does what nobody knows', { type: 'graphql' }],
    ['it is not bound', { target: { interfaces: new Map() } }],
    ['the target has no Service', { target: { service: undefined } }],
    ['the Service is not there', { objects: [] }],
    ['the Service cannot be read', { forbidden: [kinds.SERVICE] }],
    ['the Service is an alias for a name', { objects: [service({ spec: { type: 'ExternalName' } })] }],
    ['there is no such port', { objects: [service({ ports: [{ port: 81 }] })] }],
    ['the port is not TCP', { objects: [service({ ports: [{ port: 80, protocol: 'UDP' }] })] }],
  ])('nobody is asked where %s', async (_what, asked) => {
    expect(await protocols(asked)).toEqual([0]);
  });

  it('asks the port of the Service, and nothing that the contract says', async () => {
    const asked: ProbeTarget[] = [];
    await look(observeProtocols, {
      objects: [service()],
      contract: { interfaces: [{ name: 'evil.test:1', type: 'openapi', ref: 'http://evil.test/' }] },
      target: { interfaces: new Map([['evil.test:1', 80]]) },
      settings: { probing: true },
      prober: {
        protocols: (target) => {
          asked.push(target);
          return Promise.resolve([]);
        },
      },
    });
    expect(asked).toEqual([{ service: 'web', namespace: 'shop', port: 80 }]);
  });
});
