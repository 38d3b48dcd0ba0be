/**
 * What our client makes of a registry that is broken, overloaded or malicious: a fault proxy in front of a real one
 * (platform.md §§1.2, 1.3). Each fault is told from the same call that succeeds without it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RegistryClient } from '../../src/registry/client.ts';
import type { Credential } from '../../src/registry/credential.ts';
import type { RegistryOptions } from '../../src/registry/options.ts';
import {
  HELLO,
  REPOSITORY,
  SIGNATURE_TYPE,
  pushArtifacts,
  type Artifacts,
} from '../support/registry/artifacts.ts';
import { USER } from '../support/registry/docker-registry.ts';
import { startFaultProxy, type FaultProxy } from '../support/registry/fault-proxy.ts';
import * as faults from '../support/registry/faults.ts';
import { BASIC, failureOf, gateClient, whole } from '../support/registry/gate-client.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import { openRegistryWorld, type DoorName, type RegistryWorld } from '../support/registry/registry-world.ts';

/** Short, so that a test of a server that never answers does not take as long as a user would wait. */
const IDLE_MS = 400;

registrySuite('our client at a faulty registry', () => {
  let world: RegistryWorld;
  let stored: Artifacts;
  /** In front of the doors of the same names. */
  let anonymous: FaultProxy;
  let basic: FaultProxy;
  let token: FaultProxy;
  let secure: FaultProxy;
  /** A server beside, which has the same blobs and no say. */
  let other: FaultProxy;
  const clients: RegistryClient[] = [];

  const proxyTo = (name: DoorName): Promise<FaultProxy> => {
    const door = world.door(name);
    return startFaultProxy({
      upstream: door.origin,
      ...(door.secure ? { ca: world.tls.ca, tls: world.tls.pair } : {}),
    });
  };

  beforeAll(async () => {
    world = await openRegistryWorld();
    stored = await pushArtifacts(world);
    [anonymous, basic, token, secure, other] = await Promise.all([
      proxyTo('anonymous'),
      proxyTo('basic'),
      proxyTo('token'),
      proxyTo('basic over TLS'),
      proxyTo('anonymous'),
    ]);
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    for (const proxy of [anonymous, basic, token, secure, other]) proxy.use(undefined);
  });

  afterAll(async () => {
    await Promise.all([anonymous, basic, token, secure, other].map((proxy) => proxy?.close()));
    await world?.close();
  });

  function clientOf(
    proxy: FaultProxy,
    credential?: Credential,
    overrides: RegistryOptions = {},
  ): RegistryClient {
    const target = { host: proxy.host, secure: proxy === secure };
    const client = gateClient(target, world.tls.ca, credential, {
      limits: { idleMs: IDLE_MS, attempts: 3, totalMs: 20_000 },
      random: () => 0,
      ...overrides,
    });
    clients.push(client);
    return client;
  }

  const at = (proxy: FaultProxy, tag = '1.0.0'): { registry: string; repository: string; tag: string } => ({
    registry: proxy.host,
    repository: REPOSITORY,
    tag,
  });
  const exactly = (proxy: FaultProxy): { registry: string; repository: string; digest: string } => ({
    registry: proxy.host,
    repository: REPOSITORY,
    digest: stored.image.digest,
  });
  const hello = (client: RegistryClient, proxy: FaultProxy): Promise<Buffer> =>
    whole(client.blob(exactly(proxy), stored.image.content.layers![0]!));

  describe('tags', () => {
    it('come page by page, by whatever the Link says', async () => {
      anonymous.use(faults.paginateTags(2));
      const tags = await clientOf(anonymous).tags(at(anonymous));
      expect(tags.filter((tag) => !tag.startsWith('sha256-')).toSorted()).toEqual(stored.tags.toSorted());
      expect(anonymous.requests.length).toBe(3);
    });

    it('are refused where the Link leads to another server', async () => {
      basic.use(faults.tagsLink(`${other.origin}/v2/${REPOSITORY}/tags/list?n=2`));
      const { code } = await failureOf(clientOf(basic, BASIC).tags(at(basic)));
      expect(code).toMatch(/^GATE_REGISTRY_(?:REFUSED|ANSWER)$/);
      expect(other.requests).toEqual([]);
    });

    it('are refused where the Link leads in circles', async () => {
      anonymous.use(faults.tagsLink(`/v2/${REPOSITORY}/tags/list`));
      expect((await failureOf(clientOf(anonymous).tags(at(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect(anonymous.requests.length).toBeLessThanOrEqual(2);
    });

    it('are refused where there is always another page', async () => {
      anonymous.use(faults.endlessTags());
      const client = clientOf(anonymous, undefined, { limits: { tagPages: 7 } });
      expect((await failureOf(client.tags(at(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect(anonymous.requests.length).toBe(7);
    });

    it('are left out where they cannot be tags', async () => {
      const hostile = ['../../../_catalog?n=1#', 'a b', 'a\r\nx-y: z', '-a', '', 'a'.repeat(129)];
      anonymous.use(faults.withTags('1.0.0', ...hostile, '2.0.0'));
      expect(await clientOf(anonymous).tags(at(anonymous))).toEqual(['1.0.0', '2.0.0']);
      for (const tag of hostile.filter((one) => one !== '')) {
        const { code } = await failureOf(clientOf(anonymous).manifest(at(anonymous, tag)));
        expect(code).toBe('GATE_REGISTRY_REFERENCE');
      }
      expect(anonymous.requests.length).toBe(1);
    });
  });

  describe('content', () => {
    it('is denied when a manifest was changed, asked for by digest or by tag', async () => {
      anonymous.use(faults.tampers());
      const client = clientOf(anonymous);
      expect((await failureOf(client.manifest(exactly(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect((await failureOf(client.manifest(at(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
    });

    it('is denied when the header names the digest of something else', async () => {
      anonymous.use(faults.onManifests(faults.liesAboutDigest(stored.empty.digest)));
      const client = clientOf(anonymous);
      expect((await failureOf(client.manifest(at(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect((await failureOf(client.manifest(exactly(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
    });

    it('is denied when it is another manifest than the digest asked for', async () => {
      anonymous.use(faults.substitutes(stored.empty.digest));
      const client = clientOf(anonymous);
      expect((await failureOf(client.manifest(exactly(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect((await failureOf(client.resolveTag(exactly(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      // What a tag names is the registry's to say.
      expect((await client.manifest(at(anonymous))).digest).toBe(stored.empty.digest);
    });

    it('is identified by its bytes where the registry names no digest', async () => {
      anonymous.use(faults.dropsDigest());
      const client = clientOf(anonymous);
      expect(await client.resolveTag(at(anonymous))).toBe(stored.image.digest);
      expect((await client.manifest(at(anonymous))).digest).toBe(stored.image.digest);
    });

    it('is denied when a blob was changed', async () => {
      expect(await hello(clientOf(anonymous), anonymous)).toEqual(HELLO);
      anonymous.use(faults.onBlobs(faults.tampers()));
      expect((await failureOf(hello(clientOf(anonymous), anonymous))).code).toBe('GATE_REGISTRY_ANSWER');
    });

    it('is denied when a blob breaks off', async () => {
      anonymous.use(faults.onBlobs(faults.breaksOff()));
      expect((await failureOf(hello(clientOf(anonymous), anonymous))).code).toMatch(
        /^GATE_REGISTRY_(?:UNREACHABLE|ANSWER)$/,
      );
    });

    it('is read no further than it may be long', async () => {
      let sentBytes = 0;
      anonymous.use(faults.floods((bytes) => (sentBytes += bytes)));
      const client = clientOf(anonymous);
      expect((await failureOf(hello(client, anonymous))).code).toBe('GATE_REGISTRY_ANSWER');
      // What both sides' socket buffers swallow comes on top of the few bytes that were promised.
      expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
      sentBytes = 0;
      expect((await failureOf(client.manifest(at(anonymous)))).code).toBe('GATE_REGISTRY_ANSWER');
      expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
    });
  });

  describe('redirects', () => {
    it('are followed without credentials where they lead to another server', async () => {
      basic.use(faults.redirectBlobs(other.origin));
      expect(await hello(clientOf(basic, BASIC), basic)).toEqual(HELLO);
      expect(basic.requests.some(({ authorization }) => authorization === 'basic')).toBe(true);
      expect(other.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
    });

    it('are refused in circles', async () => {
      anonymous.use(faults.redirectLoop());
      const { code } = await failureOf(hello(clientOf(anonymous), anonymous));
      expect(code).toMatch(/^GATE_REGISTRY_(?:REFUSED|ANSWER)$/);
      expect(anonymous.requests.length).toBeLessThanOrEqual(6);
    });

    it('are refused from TLS to none', async () => {
      secure.use(faults.redirectBlobs(other.origin));
      const client = clientOf(secure, BASIC, { insecure: [other.host] });
      expect((await failureOf(hello(client, secure))).code).toBe('GATE_REGISTRY_REFUSED');
      expect(other.requests).toEqual([]);
    });

    it.each(['https://169.254.169.254', 'https://[fd00:ec2::254]', 'https://[::ffff:169.254.169.254]'])(
      'are refused to %s',
      async (origin) => {
        secure.use(faults.redirectBlobs(origin));
        expect((await failureOf(hello(clientOf(secure, BASIC), secure))).code).toBe('GATE_REGISTRY_REFUSED');
      },
    );
  });

  describe('overload', () => {
    it('is waited out as long as the registry asks for', async () => {
      anonymous.use(faults.fails(429, 1, { 'retry-after': '1' }));
      expect(await clientOf(anonymous).resolveTag(at(anonymous))).toBe(stored.image.digest);
      const [first, second] = anonymous.requests;
      // Timers may be a few milliseconds early against another clock.
      expect(second!.atMs - first!.atMs).toBeGreaterThan(990);
    });

    it('passes after two failures', async () => {
      anonymous.use(faults.fails(503, 2));
      expect((await clientOf(anonymous).manifest(at(anonymous))).digest).toBe(stored.image.digest);
      expect(anonymous.requests.length).toBe(3);
    });

    it('is an error of a few attempts, which does not repeat a page of HTML', async () => {
      anonymous.use(faults.fails(500, 100, { 'content-type': 'text/html' }, '<html>stack trace</html>'));
      const { code, message } = await failureOf(clientOf(anonymous).manifest(at(anonymous)));
      expect(code).toBe('GATE_REGISTRY_UNREACHABLE');
      expect(message).not.toMatch(/html|stack/);
      expect(anonymous.requests.length).toBe(3);
    });

    it.each([
      ['says nothing', faults.hangs()],
      ['sends a byte now and then', faults.drips(IDLE_MS / 4)],
    ])('is an error when the registry %s', async (_how, fault) => {
      anonymous.use(fault);
      const client = clientOf(anonymous);
      const started = performance.now();
      expect((await failureOf(client.manifest(at(anonymous)))).code).toBe('GATE_REGISTRY_UNREACHABLE');
      expect((await failureOf(hello(client, anonymous))).code).toBe('GATE_REGISTRY_UNREACHABLE');
      expect(performance.now() - started).toBeLessThan(15_000);
    });
  });

  describe('credentials', () => {
    it.each<[string, (challenge: string) => string]>([
      ['in lower case', (challenge) => challenge.replace('Bearer realm', 'bearer REALM')],
      // A URL is no token of RFC 9110, and some registries write it without quotes all the same.
      ['without quotes', (challenge) => challenge.replace(/realm="([^"]*)"/, 'realm=$1')],
      ['after another scheme', (challenge) => `Negotiate, ${challenge}`],
      ['before another scheme', (challenge) => `${challenge}, Digest realm="x", nonce="y"`],
    ])('are given for a challenge %s', async (_how, rewrite) => {
      token.use(faults.rewritesChallenge(rewrite));
      expect(await clientOf(token, BASIC).resolveTag(at(token))).toBe(stored.image.digest);
    });

    it('are asked for once more when the registry does not take a token', async () => {
      const asked = world.door('token').tokens!.requests.length;
      token.use(faults.rejectsFirstToken());
      expect(await clientOf(token, BASIC).resolveTag(at(token))).toBe(stored.image.digest);
      expect(world.door('token').tokens!.requests.length - asked).toBe(2);
    });

    it('are an error when the registry does not say how to give them', async () => {
      basic.use(faults.challenges(undefined));
      const { code, message } = await failureOf(clientOf(basic, BASIC).manifest(at(basic)));
      expect(code).toBe('GATE_REGISTRY_AUTHENTICATION');
      expect(message).not.toContain(USER.password);
    });

    it('go to a token server of somebody else only where that is listed', async () => {
      // Another name is another host, whatever address it has; plain http is allowed, so that only the host decides.
      const foreign = other.origin.replace('127.0.0.1', 'localhost');
      basic.use(faults.challenges(`Bearer realm="${foreign}/token",service="x"`));
      const insecure = [basic.host, 'localhost'];
      const client = clientOf(basic, BASIC, { insecure });
      const { code, message } = await failureOf(client.manifest(at(basic)));
      expect(code).toBe('GATE_REGISTRY_REFUSED');
      expect(message).toContain('registry.realms');
      expect(message).not.toContain(USER.password);
      expect(other.requests).toEqual([]);
      await failureOf(clientOf(basic, BASIC, { insecure, realms: ['localhost'] }).manifest(at(basic)));
      expect(other.requests[0]).toMatchObject({ method: 'GET', authorization: 'basic' });
    });

    it('never go to a token server without TLS from a registry with', async () => {
      secure.use(faults.challenges(`Bearer realm="${other.origin}/token",service="x"`));
      const client = clientOf(secure, BASIC, { insecure: [other.host] });
      const { code, message } = await failureOf(client.manifest(at(secure)));
      expect(code).toBe('GATE_REGISTRY_REFUSED');
      expect(message).toContain('the token server');
      expect(other.requests).toEqual([]);
    });

    it.each([
      ['port', (origin: string) => origin],
      ['name', (origin: string) => origin.replace('127.0.0.1', 'localhost')],
    ])('never go to another %s that an upload is sent to, and neither does the upload', async (_what, to) => {
      basic.use(faults.uploadsElsewhere(to(other.origin)));
      const client = clientOf(basic, BASIC, { insecure: ['127.0.0.1', 'localhost'] });
      const { code } = await failureOf(client.pushBlob(at(basic), Buffer.from('not for others')));
      expect(code).toBe('GATE_REGISTRY_REFUSED');
      expect(other.requests).toEqual([]);
    });
  });

  it('a blob is there once, however often its answer was lost', async () => {
    anonymous.use(faults.losesUploadAnswer());
    const client = clientOf(anonymous);
    const bytes = Buffer.from('the registry has it, and could not say so');
    const digest = await client.pushBlob(at(anonymous), bytes);
    anonymous.use(undefined);
    expect(await client.hasBlob(at(anonymous), digest)).toBe(true);
  });

  it('referrers come from the API where the registry has it', async () => {
    const { digest, bytes, content } = stored.signature;
    const entry = { mediaType: content.mediaType, digest, size: bytes.length, artifactType: SIGNATURE_TYPE };
    const stranger = { ...entry, digest: stored.empty.digest, artifactType: 'application/x' };
    anonymous.use(faults.referrersApi([stranger, entry]));
    const found = await clientOf(anonymous).referrers(exactly(anonymous), SIGNATURE_TYPE);
    expect(found.map((one) => one.digest)).toEqual([digest]);
    expect(anonymous.requests.length).toBe(1);
  });
});
