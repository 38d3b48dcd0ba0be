import { describe, expect, it } from 'vitest';

import { pinOf, revisionOf } from '../../../src/policies/delivery/pin.ts';
import type { PointerField } from '../../../src/policies/delivery/stage.ts';

const HEX = 'a'.repeat(64);
const DIGEST = `sha256:${HEX}`;
const COMMIT = 'b'.repeat(40);

describe('a revision', () => {
  it.each([
    [`main@sha1:${COMMIT}`, 'main', COMMIT],
    [`refs/heads/main@sha1:${COMMIT}`, 'refs/heads/main', COMMIT],
    [`feature/a@b@sha1:${COMMIT}`, 'feature/a@b', COMMIT],
    [`v1.2.3@sha1:${COMMIT}`, 'v1.2.3', COMMIT],
    [`sha1:${COMMIT}`, undefined, COMMIT],
    [`6.1.8@${DIGEST}`, '6.1.8', DIGEST],
    [`latest@${DIGEST}`, 'latest', DIGEST],
    [DIGEST, undefined, DIGEST],
    ['1.2.3', '1.2.3', ''],
    ['6.6.1+0cc9a8446c95', '6.6.1+0cc9a8446c95', ''],
    ['a@b', 'a@b', ''],
    [`main@SHA1:${COMMIT}`, `main@SHA1:${COMMIT}`, ''],
  ])('%s', (text, name, digest) => {
    expect(revisionOf(text)).toEqual({ name, digest });
  });

  it.each([undefined, null, '', 7, {}, 'x'.repeat(2_000)])('is none: %j', (text) => {
    expect(revisionOf(text)).toBeUndefined();
  });
});

describe('a pin', () => {
  const withSpec = (spec: unknown): unknown => ({ spec });

  it.each<[PointerField, string, unknown, string, boolean]>([
    ['ociDigest', 'a digest', withSpec({ ref: { digest: DIGEST } }), DIGEST, true],
    ['ociDigest', 'a digest before a tag', withSpec({ ref: { digest: DIGEST, tag: 'v1' } }), DIGEST, true],
    ['ociDigest', 'a short digest', withSpec({ ref: { digest: 'sha256:ab' } }), 'sha256:ab', false],
    [
      'ociDigest',
      'a version range before a tag',
      withSpec({ ref: { semver: '1.x', tag: 'v1' } }),
      '1.x',
      false,
    ],
    ['ociDigest', 'a tag', withSpec({ ref: { tag: 'v1' } }), 'v1', false],
    ['ociDigest', 'nothing', withSpec({}), 'latest', false],
    ['gitCommit', 'a commit', withSpec({ ref: { commit: COMMIT, branch: 'main' } }), COMMIT, true],
    ['gitCommit', 'a commit of SHA-256', withSpec({ ref: { commit: HEX } }), HEX, true],
    ['gitCommit', 'a short commit', withSpec({ ref: { commit: 'abcdef' } }), 'abcdef', false],
    ['gitCommit', 'a tag', withSpec({ ref: { tag: 'v1' } }), 'v1', false],
    ['gitCommit', 'a branch', withSpec({ ref: { branch: 'main' } }), 'main', false],
    ['gitCommit', 'nothing', withSpec({}), 'master', false],
    ['chartVersion', 'a version', withSpec({ chart: { spec: { version: '1.2.3' } } }), '1.2.3', true],
    [
      'chartVersion',
      'a prerelease',
      withSpec({ chart: { spec: { version: '1.2.3-rc.1' } } }),
      '1.2.3-rc.1',
      true,
    ],
    ['chartVersion', 'a range', withSpec({ chart: { spec: { version: '>=1.2.3' } } }), '>=1.2.3', false],
    ['chartVersion', 'half a version', withSpec({ chart: { spec: { version: '1.2' } } }), '1.2', false],
    ['chartVersion', 'a star', withSpec({ chart: { spec: { version: '*' } } }), '*', false],
    ['chartVersion', 'no version', withSpec({ chart: { spec: {} } }), '*', false],
    ['chartVersion', 'a source of its own', withSpec({ chartRef: { kind: 'OCIRepository' } }), '', true],
    [
      'kustomizeImageDigest',
      'a digest',
      withSpec({ images: [{ name: 'app', digest: DIGEST }] }),
      DIGEST,
      true,
    ],
    ['kustomizeImageDigest', 'a tag', withSpec({ images: [{ name: 'app', newTag: '1' }] }), '1', false],
    [
      'kustomizeImageDigest',
      'another image',
      withSpec({ images: [{ name: 'b', digest: DIGEST }] }),
      '',
      false,
    ],
    ['configKey', 'a digest', { data: { app: DIGEST } }, DIGEST, true],
    ['configKey', 'a reference', { data: { app: `ghcr.io/a/b@${DIGEST}` } }, DIGEST, true],
    ['configKey', 'a commit', { data: { app: `${COMMIT}\n` } }, COMMIT, true],
    ['configKey', 'a tag', { data: { app: 'v1' } }, 'v1', false],
    ['configKey', 'nothing', {}, '', false],
  ])('%s: %s', (field, _what, object, value, isPinned) => {
    expect(pinOf(object, { field, key: 'app' })).toEqual({ value, isPinned });
  });

  it.each([undefined, null, 'x', []])('is none of what is no object: %j', (object) => {
    expect(pinOf(object, { field: 'ociDigest', key: '' })).toBeUndefined();
  });
});
