import { describe, expect, it, onTestFinished } from 'vitest';
import { PACTO, SECRET } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { Pacto } from '../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { ContractReader } from '../../src/reconcile/contract-reader.ts';
import type { ReadContract } from '../../src/reconcile/contract-reading.ts';
import { createContractSource } from '../../src/reconcile/contract-source.ts';
import { isMirrored, mirror, MirrorMemory, type Mirrored } from '../../src/reconcile/mirror.ts';
import { BundleCache } from '../../src/registry/bundle-cache.ts';
import { anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FewKeywords } from '../policies/contract/few-keywords.ts';
import { packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';

const REPOSITORY = 'registry.test/shop/cart';

function pacto(contractRef: string | Readonly<Record<string, unknown>> = REPOSITORY, name = 'cart'): Pacto {
  const ref = typeof contractRef === 'string' ? { oci: contractRef } : contractRef;
  return readPacto(anObject(PACTO, { namespace: 'shop', name }, { spec: { contractRef: ref } }));
}

/** Rounds over one registry, whose revisions are there at the next one. */
class World {
  readonly clock = new FakeClock();
  readonly registry = new MemoryRegistry();
  readonly revisions: KubeObject[] = [];
  readonly memory = new MirrorMemory();
  secret: KubeObject | undefined;
  /** Read with the cluster's own words, where it is a fault. */
  revisionsFault: Error | undefined;
  /** What a text is read as, where that is not what it says. */
  reads: ReadContract | undefined;
  readCount = 0;
  readonly #reader = new ContractReader({ schemas: new FewKeywords(), clock: this.clock });
  readonly #source = createContractSource(
    () =>
      Promise.resolve({
        client: this.registry,
        cache: new BundleCache({ clock: this.clock, maxBytes: 1_000_000, keepsResults: true }),
        withPullSecret: () => this.registry,
      }),
    this.clock,
  );

  constructor() {
    onTestFinished(() => this.#reader.close());
  }

  readonly #read: ContractReader['read'] = (key, job, by) => {
    this.readCount += 1;
    return this.reads === undefined ? this.#reader.read(key, job, by) : Promise.resolve(this.reads);
  };

  push(version: string, more?: Readonly<Record<string, string>>, tag = version): string {
    this.registry.add(packed(version, more), tag);
    return this.registry.tagged.get(tag) ?? '';
  }

  /** As `push`, of a layer that is no archive. */
  pushBroken(tag: string): void {
    const { layer, config, manifest } = packed();
    const text = Buffer.from(manifest.bytes)
      .toString()
      .replaceAll(layer.digest, `sha256:${'b'.repeat(64)}`);
    this.registry.blobs.set(`sha256:${'b'.repeat(64)}`, Buffer.from('no archive'));
    this.registry.blobs.set(config.digest, config.bytes);
    this.registry.addManifest({ bytes: Buffer.from(text), mediaType: manifest.mediaType }, tag);
  }

  async round(of = pacto(), signal = new AbortController().signal): Promise<Mirrored> {
    const mirrored = await mirror(
      of,
      { source: this.#source.round(), reader: { read: this.#read }, memory: this.memory },
      {
        view: {
          pullSecret: () => Promise.resolve(this.secret),
          revisions: () =>
            this.revisionsFault === undefined
              ? Promise.resolve(this.revisions)
              : Promise.reject(this.revisionsFault),
        },
        signal,
        nowMs: this.clock.now(),
      },
    );
    await this.clock.advance(60_000);
    return mirrored;
  }

  /** As the runner does: what is planned is there then. */
  async ensured(of = pacto()): Promise<readonly string[]> {
    const { revisions, failure } = await this.round(of);
    for (const { plan } of revisions) {
      this.memory.accept(of, plan);
      if (plan.existing !== undefined) continue;
      const { metadata } = plan.object;
      const creationTimestamp = new Date(this.clock.now()).toISOString();
      this.revisions.push({ ...plan.object, metadata: { ...metadata, creationTimestamp } });
    }
    return [
      ...revisions.map(({ plan, event }) =>
        `${plan.object.metadata.name ?? ''} ${event?.reason ?? ''}`.trim(),
      ),
      ...(failure === undefined ? [] : [`${failure.reason}: ${failure.message}`]),
    ].map((text) => text.replaceAll(/-[0-9a-f]{7}\b/g, '-#'));
  }

  asked(): readonly string[] {
    return this.registry.asked.splice(0).map((text) => text.replace(/ sha256:.*/, ''));
  }
}

describe('the mirror', () => {
  it('plans a revision of each version, the highest first, and leaves out what is none', async () => {
    const world = new World();
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1']) world.push(version);
    world.push('1.10.0', undefined, 'latest');
    expect(await world.ensured()).toEqual([
      'cart-2-0-0-rc-1-#',
      'cart-1-10-0-#',
      'cart-1-9-0-#',
      'cart-1-0-0-#',
    ]);
    expect(world.revisions[1]).toMatchObject({
      spec: {
        version: '1.10.0',
        pactoRef: 'cart',
        serviceName: 'shop-cart',
        source: { oci: `${REPOSITORY}:1.10.0`, digest: world.registry.tagged.get('1.10.0') },
      },
    });
  });

  it('pulls what is new alone, and asks for the digest of the rest (T11)', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    world.asked();
    expect(await world.ensured()).toEqual([]);
    expect(world.asked()).toEqual(['tags', 'resolve 1.0.0']);
    world.push('1.1.0');
    expect(await world.ensured()).toEqual(['cart-1-1-0-#']);
    expect(world.asked().filter((text) => text === 'blob')).toHaveLength(1);
  });

  it('asks a thousand versions of a repository for the highest hundred', async () => {
    const world = new World();
    const bundle = packed('1.0.0');
    for (let n = 0; n < 1_000; n += 1) world.registry.add(bundle, `1.0.${String(n)}`);
    await world.ensured();
    const asked = world.asked().filter((text) => text.startsWith('resolve 1'));
    expect(asked).toHaveLength(100);
    expect(asked[0]).toBe('resolve 1.0.999');
  });

  it.each([
    ['an inline contract', { inline: 'pactoVersion: "2.0"' }],
    ['an inline contract that wins', { inline: 'pactoVersion: "2.0"', oci: REPOSITORY }],
    ['a digest', `${REPOSITORY}@sha256:${'0'.repeat(64)}`],
    ['nothing', {}],
  ])('has nothing to do for %s', async (_, ref) => {
    const world = new World();
    world.push('1.0.0');
    expect(isMirrored(pacto(ref))).toBe(false);
    expect(await world.round(pacto(ref))).toEqual({ revisions: [], failure: undefined });
    expect(world.asked()).toEqual([]);
  });

  it.each([REPOSITORY, `${REPOSITORY}:1.0.0`, `oci://${REPOSITORY}:1.0.0`])('reads %s', async (oci) => {
    const world = new World();
    world.push('1.0.0');
    world.push('1.1.0');
    expect(isMirrored(pacto(oci))).toBe(true);
    expect(await world.ensured(pacto(oci))).toHaveLength(2);
  });
});

describe('a tag that names something else', () => {
  it('is told of once, with both digests, and its new content gets a revision (operator.md §7.2)', async () => {
    const world = new World();
    const before = world.push('1.0.0');
    await world.ensured();
    world.registry.add(packed('1.0.1'), '1.0.0');
    const now = world.registry.tagged.get('1.0.0') ?? '';
    const { revisions } = await world.round();
    expect(revisions.map(({ event }) => event)).toEqual([
      {
        type: 'Warning',
        reason: 'TagOverwritten',
        message: `Tag 1.0.0 was force-pushed (digest changed from ${before.slice(0, 12)} to ${now.slice(0, 12)})`,
      },
    ]);
    expect(await world.ensured()).toEqual(['cart-1-0-1-# TagOverwritten']);
    expect(await world.ensured()).toEqual([]);
  });

  it('is told of once where its contract is the same, by a revision of another name (T4)', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    world.push('1.0.0', { 'README.md': 'another' });
    expect(await world.ensured()).toEqual(['cart-1-0-0-#-# TagOverwritten']);
    expect(await world.ensured()).toEqual([]);
    expect(await world.ensured()).toEqual([]);
  });

  it('is told of once when it goes back to what it was, and when it comes again', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    world.push('1.0.0', { 'README.md': 'another' });
    await world.ensured();
    world.push('1.0.0');
    expect(await world.ensured()).toEqual(['cart-1-0-0-# TagOverwritten']);
    expect(await world.ensured()).toEqual([]);
    world.push('1.0.0', { 'README.md': 'a third' });
    expect(await world.ensured()).toEqual(['cart-1-0-0-#-# TagOverwritten']);
    expect(await world.ensured()).toEqual([]);
  });

  it('is told of once where another tag has that bundle already', async () => {
    const world = new World();
    world.push('1.0.0');
    world.push('1.0.1');
    await world.ensured();
    world.push('1.0.1', undefined, '1.0.0');
    expect(await world.ensured()).toEqual(['cart-1-0-1-# TagOverwritten']);
    expect(await world.ensured()).toEqual([]);
  });

  it('is said again until its revision is there', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    world.push('1.0.0', { 'README.md': 'another' });
    expect((await world.round()).revisions).toHaveLength(1);
    expect((await world.round()).revisions).toHaveLength(1);
  });

  it('says nothing where the revision knows no digest (operator.md §3.6)', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    const [{ spec }] = world.revisions as [KubeObject & { spec: { source: { digest?: string } } }];
    delete spec.source.digest;
    world.push('1.0.0', { 'README.md': 'another' });
    world.asked();
    expect(await world.ensured()).toEqual([]);
    expect(world.asked()).toEqual(['tags']);
  });

  it('counts the newest of its revisions', async () => {
    const world = new World();
    world.push('1.0.0');
    await world.ensured();
    const [old] = world.revisions as [KubeObject];
    const source = { oci: `${REPOSITORY}:1.0.0`, digest: `sha256:${'a'.repeat(64)}` };
    const older = { ...old.metadata, name: 'older', creationTimestamp: '2020-01-01T00:00:00Z' };
    world.revisions.unshift({ ...old, metadata: older, spec: { source } });
    expect(await world.ensured()).toEqual([]);
  });
});

describe('another name of the same', () => {
  it('makes one revision of two tags of one bundle, and pulls it once for ever', async () => {
    const world = new World();
    world.push('1.0.0');
    world.push('1.0.0', undefined, 'v1.0.0');
    expect(await world.ensured()).toHaveLength(1);
    world.asked();
    expect(await world.ensured()).toEqual([]);
    expect(world.asked().toSorted()).toEqual(['resolve 1.0.0', 'resolve v1.0.0', 'tags']);
  });

  it('knows a revision of Docker Hub by each of its names', async () => {
    const world = new World();
    const of = pacto('shop/cart');
    world.push('1.0.0');
    await world.ensured(of);
    const [{ spec }] = world.revisions as [KubeObject & { spec: { source: { oci: string } } }];
    expect(spec.source.oci).toBe('index.docker.io/shop/cart:1.0.0');
    spec.source.oci = 'docker.io/shop/cart:1.0.0';
    world.asked();
    expect(await world.ensured(of)).toEqual([]);
    expect(world.asked()).toEqual(['tags', 'resolve 1.0.0']);
  });

  it('reads a tag with build metadata, which a tag writes with an underline', async () => {
    const world = new World();
    world.push('1.0.0+build.5', undefined, '1.0.0_build.5');
    expect(await world.ensured()).toEqual([expect.stringMatching(/^cart-1-0-0-build-5-/)]);
  });

  it('is not held up by revisions of any shape', async () => {
    const world = new World();
    world.push('1.0.0');
    for (const spec of [
      undefined,
      null,
      7,
      { source: null },
      { source: { oci: 7, digest: [] } },
      { source: { oci: '::' } },
    ])
      world.revisions.push(anObject(PACTO, { namespace: 'shop', name: 'odd' }, { spec }));
    expect(await world.ensured()).toEqual(['cart-1-0-0-#']);
  });
});

describe('a failure', () => {
  it('of one tag leaves the others, is told of each round, and its bundle is pulled once', async () => {
    const world = new World();
    world.push('1.0.0');
    world.pushBroken('1.1.0');
    const first = await world.ensured();
    expect(first).toEqual([
      'cart-1-0-0-#',
      expect.stringMatching(/^ContractInvalid: Revision mirror failed for registry.test\/shop\/cart: /),
    ]);
    world.asked();
    expect(await world.ensured()).toEqual(first.slice(1));
    expect(world.asked()).toEqual(['tags', 'resolve 1.1.0', 'resolve 1.0.0']);
  });

  it.each([
    ['of a contract that does not load is found once', {}, 1],
    ['of a contract that was too hard to read is tried again', { isTooHard: true as const }, 2],
  ])('%s', async (_, hard, times) => {
    const world = new World();
    world.push('1.0.0');
    world.reads = { ok: false, stage: 'load', message: 'no YAML', ...hard };
    const said = /^ContractInvalid: Revision mirror failed for .*@sha256:\w+: no YAML$/;
    expect(await world.ensured()).toEqual([expect.stringMatching(said)]);
    expect(await world.ensured()).toEqual([expect.stringMatching(said)]);
    expect(world.readCount).toBe(times);
  });

  it('of a bundle is known by its digest', async () => {
    const world = new World();
    world.push('1.0.0');
    world.memory.breaks(
      `${REPOSITORY}@${world.registry.tagged.get('1.0.0') ?? ''}`,
      new GateError('GATE_BUNDLE_INVALID', 'known to be broken'),
    );
    expect(await world.ensured()).toEqual([
      'ContractInvalid: Revision mirror failed for registry.test/shop/cart: known to be broken',
    ]);
  });

  it.each([
    ['GATE_REGISTRY_UNREACHABLE', 'ContractUnavailable'],
    ['GATE_REGISTRY_AUTHENTICATION', 'ContractUnavailable'],
    ['GATE_REGISTRY_NOT_FOUND', 'ContractUnavailable'],
    ['GATE_BUNDLE_INVALID', 'ContractInvalid'],
    ['GATE_REGISTRY_REFERENCE', 'ContractInvalid'],
  ] as const)('by %s is told of as %s', async (code, reason) => {
    const world = new World();
    world.push('1.0.0');
    world.registry.refusal = new GateError(code, 'because');
    expect((await world.round()).failure).toEqual({
      type: 'Warning',
      reason,
      message: 'Revision mirror failed for registry.test/shop/cart: because',
    });
  });

  it('of the registry ends the round of the Pacto at once', async () => {
    const world = new World();
    for (let n = 0; n < 50; n += 1) world.push(`1.${String(n)}.0`);
    world.registry.refusal = new GateError('GATE_REGISTRY_UNREACHABLE', 'away');
    await world.ensured();
    expect(world.asked()).toEqual(['tags', 'resolve 1.49.0']);
  });

  it('of many tags names three, and counts the others', async () => {
    const world = new World();
    for (let n = 0; n < 5; n += 1) world.push(`1.${String(n)}.0`);
    world.registry.refusal = new GateError('GATE_REGISTRY_NOT_FOUND', 'gone');
    expect((await world.round()).failure?.message).toBe(
      'Revision mirror failed for registry.test/shop/cart: gone; gone; gone; and 2 more',
    );
  });

  it('of a pull secret says what it is, and is no fault of the contract (T17)', async () => {
    const world = new World();
    expect(await world.ensured(pacto({ oci: REPOSITORY, pullSecretRef: 'pull' }))).toEqual([
      'ContractUnavailable: Revision mirror failed for registry.test/shop/cart: failed to read pull secret "pull": there is no secret "pull" in its namespace',
    ]);
    world.secret = anObject(SECRET, { namespace: 'shop', name: 'pull' }, { data: { token: 'aGk=' } });
    world.push('1.0.0');
    expect(await world.ensured(pacto({ oci: REPOSITORY, pullSecretRef: 'pull' }))).toEqual(['cart-1-0-0-#']);
  });

  it('of the cluster is told of as well', async () => {
    const world = new World();
    world.revisionsFault = new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer');
    expect((await world.round()).failure?.reason).toBe('ContractUnavailable');
  });

  it('is nothing of a reference with credentials in it: a look says what is wrong with it', async () => {
    expect(await new World().round(pacto('bob:c0rrect@registry.test/shop/cart'))).toEqual({
      revisions: [],
      failure: undefined,
    });
  });

  it('is none where the term ends: the round ends with its reason', async () => {
    const world = new World();
    const term = new AbortController();
    world.push('1.0.0');
    world.registry.tags = () => {
      term.abort(new GateError('GATE_NOT_LEADING', 'another one leads'));
      return Promise.reject(new Error('cut off'));
    };
    await expect(world.round(pacto(), term.signal)).rejects.toThrow('another one leads');
  });
});
