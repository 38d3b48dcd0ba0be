import { describe, expect, it } from 'vitest';
import { SECRET } from '../../src/cluster/kinds.ts';
import { GateError } from '../../src/errors.ts';
import type { NoContract } from '../../src/reconcile/contract-source.ts';
import { showReference, type RegistryReference } from '../../src/registry/reference.ts';
import { anObject } from '../support/builders.ts';
import { packed } from '../support/registry/bundles.ts';
import { pacto, PASSWORD, secret, SourceWorld } from './source-world.ts';

describe('a pull secret', () => {
  const ref = { oci: 'registry.test/shop/cart:1.0.0', pullSecretRef: 'pull' };

  it.each([
    ['a token', secret({ token: PASSWORD }), { kind: 'bearer', token: PASSWORD }],
    [
      'a user name and a password',
      secret({ username: 'bob', password: PASSWORD }, 'Opaque'),
      { kind: 'basic', username: 'bob', password: PASSWORD },
    ],
    [
      'the registry that it is for',
      secret({ username: 'bob', password: PASSWORD, registry: 'https://registry.test/v2' }),
      { kind: 'basic', username: 'bob', password: PASSWORD },
    ],
    [
      'a configuration of Docker',
      secret(
        {
          '.dockerconfigjson': JSON.stringify({
            auths: { 'registry.test': { username: 'bob', password: PASSWORD } },
          }),
        },
        'kubernetes.io/dockerconfigjson',
      ),
      { kind: 'basic', username: 'bob', password: PASSWORD },
    ],
  ])('is used with %s', async (_, given, credential) => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), '1.0.0');
    world.secret = given;
    expect(await world.message(ref)).toBe('a contract');
    expect(await world.credentials[0]).toEqual(credential);
  });

  it.each([
    ['there is none', undefined, 'there is no secret "pull" in its namespace'],
    ['it is empty', secret({}), 'need the key token, or the keys username and password'],
    ['it has no data', anObject(SECRET, { namespace: 'shop', name: 'pull' }, {}), 'need the key token'],
    ['its data is no text', anObject(SECRET, { name: 'pull' }, { data: { token: 7 } }), 'need the key token'],
    ['the user is missing', secret({ password: PASSWORD }), 'need the key token'],
    ['it is for another host', secret({ token: PASSWORD, registry: 'ghcr.io' }), 'it is for "ghcr.io"'],
    ['its type is unknown', secret({ token: PASSWORD }, 'kubernetes.io/tls'), 'its type "kubernetes.io/tls"'],
    [
      'it is no JSON',
      secret({ '.dockerconfigjson': PASSWORD }, 'kubernetes.io/dockerconfigjson'),
      'its .dockerconfigjson is no JSON',
    ],
    [
      'it knows other registries alone',
      secret(
        { '.dockerconfigjson': `{"auths":{"ghcr.io":{"username":"bob","password":"${PASSWORD}"}}}` },
        'kubernetes.io/dockerconfigjson',
      ),
      'it has no entry for "registry.test", only for "ghcr.io"',
    ],
    ['no header can carry it', secret({ token: `${PASSWORD}\u0000` }), 'no header can carry'],
  ])(
    'is the fault where %s: nobody looked at the reference, and no secret is said (T17)',
    async (_, given, why) => {
      const world = new SourceWorld();
      world.secret = given;
      const found = await world.obtain(ref);
      expect(found).toMatchObject({ ok: false, failure: 'unavailable', isOfSecret: true });
      const { message } = found as NoContract;
      expect(message).toMatch(/^failed to read pull secret "pull": /);
      expect(message).toContain(why);
      expect(message).not.toContain(PASSWORD);
      expect(world.registry.asked).toEqual([]);
    },
  );

  it('is unavailable where it may not be read', async () => {
    const world = new SourceWorld();
    world.secretFault = new GateError('GATE_CLUSTER_FORBIDDEN', 'secrets "pull" is forbidden');
    expect(await world.message(ref)).toBe(
      'unavailable: failed to read pull secret "pull": secrets "pull" is forbidden',
    );
  });

  it('makes no reference of what is none', async () => {
    const world = new SourceWorld();
    world.secret = secret({ token: PASSWORD });
    expect(await world.obtain({ ...ref, oci: 'registry.test/UPPER' })).toMatchObject({
      failure: 'broken',
      message: expect.stringMatching(/^failed to pull "registry.test\/UPPER": /) as string,
    });
  });

  it('shares nothing of what it opens, neither bundles nor failures', async () => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), '1.0.0');
    world.secret = secret({ token: PASSWORD });
    expect(await world.message(ref)).toBe('a contract');
    const asked = world.registry.asked.length;
    expect(await world.message(ref)).toBe('a contract');
    expect(world.registry.asked).toHaveLength(2 * asked);
    world.registry.refusal = new GateError('GATE_REGISTRY_AUTHENTICATION', 'no');
    expect(await world.message({ oci: ref.oci })).toMatch(/^unavailable/);
  });
});

describe('five hundred Pactos of a registry that is away', () => {
  it.each([
    ['of as many repositories', (n: number) => ({ oci: `registry.test/shop/s${String(n)}:1.0.0` })],
    ['of one tag', () => ({ oci: 'registry.test/shop/cart:1.0.0' })],
    ['with a pull secret each', () => ({ oci: 'registry.test/shop/cart:1.0.0', pullSecretRef: 'pull' })],
    ['that follow the latest', (n: number) => ({ oci: `registry.test/shop/s${String(n)}` })],
  ])('%s, make a few requests, and all say why', async (_, refOf) => {
    let requests = 0;
    const fail = (reference: RegistryReference): Promise<never> => {
      requests += 1;
      const message = `${showReference(reference)}: the manifest did not come: ECONNREFUSED`;
      return Promise.reject(new GateError('GATE_REGISTRY_UNREACHABLE', message));
    };
    const world = new SourceWorld({
      resolveTag: fail,
      tags: fail,
      manifest: fail,
      blob: () => expect.unreachable(),
    });
    world.secret = secret({ token: PASSWORD });
    for (let n = 0; n < 500; n += 1) {
      const message = await world.message(refOf(n));
      expect(message).toMatch(/^unavailable: failed to pull "registry\.test\/shop\//);
      expect(message).toContain('the manifest did not come: ECONNREFUSED');
    }
    expect(requests).toBeLessThanOrEqual(3);
    await world.clock.advance(30_000);
    await world.message(refOf(0));
    await world.message(refOf(1));
    expect(requests).toBeLessThanOrEqual(4);
  });
});

describe('a round of the mirror', () => {
  const plain = pacto({ oci: 'registry.test/shop/cart:1.0.0' });

  it('lists the tags of a repository once for all its Pactos, and the next round anew', async () => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), '1.0.0');
    const read = async (round = world.source.round()): Promise<void> => {
      const { client, cache } = await round.access(plain, world.view);
      expect(cache).toBeDefined();
      const repository = { registry: 'registry.test', repository: 'shop/cart' };
      await client.tags(repository);
      await client.resolveTag({ ...repository, tag: '1.0.0' });
    };
    const round = world.source.round();
    for (let n = 0; n < 500; n += 1) await read(round);
    expect(world.registry.asked).toEqual(['tags', 'resolve 1.0.0']);
    await read();
    expect(world.registry.asked).toHaveLength(4);
  });

  it('shares nothing with who has credentials of its own', async () => {
    const world = new SourceWorld();
    world.registry.add(packed('1.0.0'), '1.0.0');
    world.secret = secret({ token: PASSWORD });
    const round = world.source.round();
    for (let n = 0; n < 2; n += 1) {
      const own = pacto({ oci: 'registry.test/shop/cart:1.0.0', pullSecretRef: 'pull' });
      const { client, cache } = await round.access(own, world.view);
      expect(cache).toBeUndefined();
      await client.tags({ registry: 'registry.test', repository: 'shop/cart' });
    }
    expect(world.registry.asked).toEqual(['tags', 'tags']);
  });

  it('refuses a pull secret and a reference as a look does', async () => {
    const world = new SourceWorld();
    const round = world.source.round();
    await expect(
      round.access(pacto({ oci: 'registry.test/a', pullSecretRef: 'pull' }), world.view),
    ).rejects.toThrow('failed to read pull secret "pull"');
    await expect(
      round.access(pacto({ oci: `bob:${PASSWORD}@registry.test/a` }), world.view),
    ).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFERENCE' });
  });
});
