import { beforeEach, describe, expect, test } from 'vitest';

import { readContract } from '../../src/app/contract-reader.ts';
import { GateError } from '../../src/errors.ts';
import { pushBundle } from '../../src/registry/push.ts';
import { bundleFiles, failure, packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';

const REPOSITORY = 'oci://registry.example/acme/shop';

let registry: MemoryRegistry;
beforeEach(() => {
  registry = new MemoryRegistry();
});

const push = (reference: string, version = '1.0.0', force = false): ReturnType<typeof pushBundle> =>
  pushBundle(registry, reference, bundleFiles(version), { readContract, force });

describe('pushBundle', () => {
  test('writes layer, config and manifest under the version', async () => {
    const { digest } = packed();
    expect(await push(REPOSITORY)).toEqual({ digest, ref: 'registry.example/acme/shop:1.0.0', isNew: true });
    expect(registry.tagged.get('1.0.0')).toBe(digest);
    expect(registry.asked).toEqual([
      'resolve 1.0.0',
      `push blob ${packed().layer.digest}`,
      `push blob ${packed().config.digest}`,
      'push manifest 1.0.0',
    ]);
  });

  test('sends nothing where the tag has exactly this', async () => {
    await push(REPOSITORY);
    registry.asked.length = 0;
    expect(await push(REPOSITORY)).toMatchObject({ isNew: false });
    expect(registry.asked).toEqual(['resolve 1.0.0']);
  });

  test('refuses a tag with another content, and writes over it when forced', async () => {
    await push(`${REPOSITORY}:stable`);
    expect(await failure(() => push(`${REPOSITORY}:stable`, '1.0.1'))).toMatch(
      /^GATE_REGISTRY_EXISTS: .*raise the version, or push with force \(--force\)$/,
    );
    expect(registry.tagged.get('stable')).toBe(packed().digest);
    expect(await push(`${REPOSITORY}:stable`, '1.0.1', true)).toMatchObject({ isNew: true });
    expect(registry.tagged.get('stable')).toBe(packed('1.0.1').digest);
  });

  test('fails where nobody knows whether the tag exists', async () => {
    registry.refusal = new GateError('GATE_REGISTRY_UNREACHABLE', 'no answer');
    expect(await failure(() => push(REPOSITORY))).toContain('no answer');
    expect(registry.asked).toEqual(['resolve 1.0.0']);
  });

  test.each([
    ['without the scheme', 'registry.example/acme/shop', '1.0.0', 'begins with oci://'],
    ['as a local path', './shop', '1.0.0', 'begins with oci://'],
    ['whose version is no tag', REPOSITORY, '1.0.0+b1', 'build metadata'],
    ['with another digest', `${REPOSITORY}@sha256:${'a'.repeat(64)}`, '1.0.0', 'has the digest'],
  ])('refuses a reference %s', async (_what, reference, version, why) => {
    const found = await failure(() => push(reference, version));
    expect(found).toMatch(/^GATE_REGISTRY_REFERENCE/);
    expect(found).toContain(why);
    expect(registry.asked).toEqual([]);
  });
});
