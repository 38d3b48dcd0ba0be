/** Our client behind a proxy at the border: everything goes through it but what is excepted (platform.md §1.2). */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RegistryClient } from '../../src/registry/client.ts';
import type { ProxyOptions } from '../../src/registry/proxies.ts';
import { HELLO, REPOSITORY, pushArtifacts, type Artifacts } from '../support/registry/artifacts.ts';
import { startForwardProxy, type ForwardProxy } from '../support/registry/forward-proxy.ts';
import { BASIC, failureOf, gateClient, whole } from '../support/registry/gate-client.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import {
  DOORS,
  openRegistryWorld,
  type DoorName,
  type RegistryWorld,
} from '../support/registry/registry-world.ts';

const PROXY_USER = { username: 'border', password: 'pass-of-the-border' } as const;

registrySuite('our client behind a proxy', () => {
  let world: RegistryWorld;
  let stored: Artifacts;
  let open: ForwardProxy;
  let guarded: ForwardProxy;
  const clients: RegistryClient[] = [];

  beforeAll(async () => {
    world = await openRegistryWorld();
    stored = await pushArtifacts(world);
    open = await startForwardProxy();
    guarded = await startForwardProxy(PROXY_USER);
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  afterAll(async () => {
    await Promise.all([open?.close(), guarded?.close()]);
    await world?.close();
  });

  function clientBehind(name: DoorName, proxy: ProxyOptions): RegistryClient {
    const door = world.door(name);
    const client = gateClient(door, world.tls.ca, door.user && BASIC, { proxy, limits: { attempts: 1 } });
    clients.push(client);
    return client;
  }

  const at = (name: DoorName): { registry: string; repository: string; tag: string } => ({
    registry: world.door(name).host,
    repository: REPOSITORY,
    tag: '1.0.0',
  });

  it.each(DOORS)('goes through it to registry and token server: %s', async (name) => {
    const { host, tokens } = world.door(name);
    const before = open.passed.length;
    const client = clientBehind(name, { http: open.url, https: open.url });
    expect((await client.manifest(at(name))).digest).toBe(stored.image.digest);
    expect(await whole(client.blob(at(name), stored.image.content.layers![0]!))).toEqual(HELLO);
    const hosts = new Set(open.passed.slice(before).map((line) => line.split(' ')[1]));
    expect(hosts).toEqual(new Set([host, ...(tokens ? [new URL(tokens.realm).host] : [])]));
  });

  it.each(['basic', 'token over TLS'] as const)('passes a proxy that wants a password: %s', async (name) => {
    const { url } = guarded;
    const client = clientBehind(name, { http: url, https: url });
    expect((await client.manifest(at(name))).digest).toBe(stored.image.digest);
    expect(guarded.denied).toBe(0);
    expect(guarded.passed.length).toBeGreaterThan(0);
  });

  it('is denied by a proxy that does not know it, and tells no password', async () => {
    const url = guarded.url.replace(PROXY_USER.password, 'not-that-one');
    for (const name of ['anonymous', 'anonymous over TLS'] as const) {
      const before = guarded.denied;
      const { code, message } = await failureOf(
        clientBehind(name, { http: url, https: url }).manifest(at(name)),
      );
      expect(code).toMatch(/^GATE_REGISTRY_(?:UNREACHABLE|REFUSED)$/);
      expect(message).not.toContain('not-that-one');
      expect(guarded.denied).toBeGreaterThan(before);
    }
  });

  it('goes past it to what is excepted, by name, port or network', async () => {
    const before = open.passed.length;
    const { host } = world.door('anonymous');
    for (const entry of ['127.0.0.1', host, '127.0.0.0/8', '*']) {
      const client = clientBehind('anonymous', { http: open.url, https: open.url, except: [entry] });
      expect(await client.resolveTag(at('anonymous'))).toBe(stored.image.digest);
    }
    expect(open.passed.length).toBe(before);
  });

  it('does not go through it to addresses of this machine unless it is told to', async () => {
    const client = gateClient(world.door('anonymous'), world.tls.ca, undefined, {
      proxy: { http: open.url },
      allowAddresses: [],
    });
    clients.push(client);
    const before = open.passed.length;
    expect((await failureOf(client.manifest(at('anonymous')))).code).toBe('GATE_REGISTRY_REFUSED');
    expect(open.passed.length).toBe(before);
  });
});
