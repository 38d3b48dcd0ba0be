import { describe, expect, it } from 'vitest';
import { checkReference, parseRegistryReference, showReference } from '../../src/registry/reference.ts';

const SHA256 = `sha256:${'a'.repeat(64)}`;
const SHA512 = `sha512:${'b'.repeat(128)}`;

describe('a reference', () => {
  it.each([
    ['oci://ghcr.io/acme/shop:1.0', { registry: 'ghcr.io', repository: 'acme/shop', tag: '1.0' }],
    ['ghcr.io/acme/shop', { registry: 'ghcr.io', repository: 'acme/shop' }],
    ['GHCR.io/acme/shop@' + SHA256, { registry: 'ghcr.io', repository: 'acme/shop', digest: SHA256 }],
    ['ghcr.io/a/b:v1@' + SHA512, { registry: 'ghcr.io', repository: 'a/b', tag: 'v1', digest: SHA512 }],
    ['localhost:5000/a', { registry: 'localhost:5000', repository: 'a' }],
    ['localhost/a', { registry: 'localhost', repository: 'a' }],
    ['10.0.0.7:5000/a__b-c.d/e:_x', { registry: '10.0.0.7:5000', repository: 'a__b-c.d/e', tag: '_x' }],
    ['[::1]:5000/a:1', { registry: '[::1]:5000', repository: 'a', tag: '1' }],
    ['alpine:3', { registry: 'index.docker.io', repository: 'library/alpine', tag: '3' }],
    ['acme/shop', { registry: 'index.docker.io', repository: 'acme/shop' }],
    ['docker.io/alpine', { registry: 'index.docker.io', repository: 'library/alpine' }],
    ['ghcr.io/a/b:', { registry: 'ghcr.io', repository: 'a/b' }],
    ['ghcr.io/a/b@', { registry: 'ghcr.io', repository: 'a/b' }],
  ])('is read: %s', (text, reference) => {
    expect(parseRegistryReference(text)).toEqual(reference);
  });

  it.each([
    [''],
    ['ghcr.io/'],
    ['ghcr.io/Acme/shop'],
    ['ghcr.io/acme//shop'],
    ['ghcr.io/../shop'],
    ['ghcr.io/acme/..%2fshop'],
    ['ghcr.io/acme/shop?x=1'],
    ['ghcr.io/acme/shop#x'],
    ['ghcr.io/acme/shop\\..'],
    ['ghcr.io/-a'],
    ['ghcr.io/a/b:1.0\r\nX-Evil: 1'],
    ['ghcr.io/a/b:../../_catalog'],
    ['ghcr.io/a/b:é'],
    ['ghcr.io/a/b@sha256:abc'],
    ['ghcr.io/a/b@' + SHA256.toUpperCase()],
    ['ghcr.io/a/b@md5:' + 'a'.repeat(32)],
    ['ghcr.io/a/b@' + SHA256 + '@' + SHA256],
    [`ghcr.io/${'a'.repeat(256)}`],
    ['user:pass@ghcr.io/a/b'],
    ['ghcr.io:0/a'],
    ['ghcr.io:65536/a'],
    ['ghcr.io:x/a'],
    ['gh_cr.io/a'],
    ['-ghcr.io/a'],
    ['ghcr..io/a'],
    ['0x7f.1/a'],
    ['127.1/a'],
    ['0177.0.0.1/a'],
    ['[::ffff:127.0.0.1]/a'],
    ['[::1/a'],
    [`${'a'.repeat(64)}.io/a`],
  ])('is refused: %j', (text) => {
    expect(() => parseRegistryReference(text)).toThrow(
      expect.objectContaining({ name: 'GateError', code: 'GATE_REGISTRY_REFERENCE' }),
    );
  });

  it('is refused in no time however it is made', () => {
    const start = performance.now();
    for (const evil of [
      'a-'.repeat(100_000),
      'a/'.repeat(100_000),
      `a${'_'.repeat(200_000)}`,
      ':'.repeat(200_000),
    ])
      expect(() => parseRegistryReference(`ghcr.io/${evil}`)).toThrow(/is not a/);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('is checked in parts, too, and shown as it is asked for', () => {
    const reference = { registry: 'ghcr.io', repository: 'a/b', tag: '1', digest: SHA256 };
    expect(showReference(checkReference(reference))).toBe(`ghcr.io/a/b@${SHA256}`);
    expect(() => checkReference({ ...reference, registry: 'ghcr.io/x?' })).toThrow(/is not a registry/);
  });
});
