import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasExplicitTag, parseReference } from '../../../src/policies/contract/reference.ts';

const SHA256 = `sha256:${'0a'.repeat(32)}`;
const SHA512 = `sha512:${'f'.repeat(128)}`;
const LONGEST_TAG = `_${'x'.repeat(127)}`;

describe('a reference to a registry', () => {
  it.each([
    ['r.test/a', { registry: 'r.test', repository: 'a' }],
    ['r.test:5000/a', { registry: 'r.test:5000', repository: 'a' }],
    ['r.test/a/b:1.0.0', { registry: 'r.test', repository: 'a/b', tag: '1.0.0' }],
    ['r.test:5000/a:1', { registry: 'r.test:5000', repository: 'a', tag: '1' }],
    [`r.test/a:${LONGEST_TAG}`, { registry: 'r.test', repository: 'a', tag: LONGEST_TAG }],
    [`r.test/a@${SHA256}`, { registry: 'r.test', repository: 'a', digest: SHA256 }],
    [`r.test/a@${SHA512}`, { registry: 'r.test', repository: 'a', digest: SHA512 }],
    [`r.test/a:1@${SHA256}`, { registry: 'r.test', repository: 'a', tag: '1', digest: SHA256 }],
    ['r.test/A b', { registry: 'r.test', repository: 'A b' }],
    ['r.test/a::1', { registry: 'r.test', repository: 'a:', tag: '1' }],
    ['r.test/a:', { registry: 'r.test', repository: 'a' }],
    ['r.test/a@', { registry: 'r.test', repository: 'a' }],
  ])('allows oci://%s', (location, parts) => {
    expect(parseReference(`oci://${location}`)).toEqual({ scheme: 'oci', location, ...parts });
  });

  it.each([
    ['', 'missing repository in ""'],
    ['r.test', 'missing repository in "r.test"'],
    ['r.test:1', 'missing repository in "r.test"'],
    ['/a', 'empty registry'],
    ['r.test/', 'empty repository'],
    ['r.test/:1', 'empty repository'],
    ['r.test/a:-x', 'malformed tag "-x"'],
    ['r.test/a:1 ', 'malformed tag "1 "'],
    ['r.test/a:1\n', String.raw`malformed tag "1\n"`],
    [`r.test/a:${LONGEST_TAG}x`, 'malformed tag "_xxx'],
    ['r.test/a@sha256:abc', 'malformed digest "sha256:abc"'],
    [`r.test/a@${SHA256.toUpperCase()}`, 'malformed digest "SHA256:0A'],
    [`r.test/a@sha256:${'A'.repeat(64)}`, 'malformed digest "sha256:AAA'],
    [`r.test/a@${SHA256}@${SHA256}`, 'malformed digest "sha256:0a'],
    [`r.test/a@md5:${'0'.repeat(32)}`, 'malformed digest "md5:000'],
  ])('denies oci://%s', (location, problem) => {
    const reference = parseReference(`oci://${location}`);
    expect(reference).toEqual({
      scheme: 'oci',
      location,
      problem: expect.stringContaining(problem) as string,
    });
  });
});

describe('a local reference', () => {
  it.each([
    ['../x', '../x'],
    ['file://../x', '../x'],
    ['file:///etc/x', '/etc/x'],
    ['r.test/a:1', 'r.test/a:1'],
    ['OCI://r.test/a', 'OCI://r.test/a'],
    ['http://x', 'http://x'],
    [' oci://r.test/a', ' oci://r.test/a'],
    ['', ''],
  ])('is %j', (ref, location) => {
    expect(parseReference(ref)).toEqual({ scheme: 'local', location });
  });
});

describe('an explicit tag', () => {
  it.each(['r.test/a:1', 'r.test/a@', 'r.test/a:', `r.test:5000/a@${SHA256}`, 'r.test:5000'])(
    'is in %s',
    (location) => {
      expect(hasExplicitTag(location)).toBe(true);
    },
  );

  it.each(['r.test/a', 'r.test:5000/a', 'r.test', '', 'http://x'])('is not in %j', (location) => {
    expect(hasExplicitTag(location)).toBe(false);
  });
});

it('never throws, and keeps every character of a location', () => {
  const fragment = fc.constantFrom('/', ':', '@', 'a', 'r.test', ' ', SHA256, 'é', '..');
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 8 }), (fragments) => {
      const location = fragments.join('');
      const reference = parseReference(`oci://${location}`);
      expect(reference.location).toBe(location);
      if (reference.scheme === 'local' || reference.problem !== undefined) return;
      const { registry, repository, tag = '', digest = '' } = reference;
      const written = `${registry}/${repository}${tag && `:${tag}`}${digest && `@${digest}`}`;
      // A colon or an @ with nothing behind it is all that is dropped.
      const [name = '', ...rest] = location.split('@');
      const at = rest.join('@');
      expect(written).toBe(`${tag === '' ? name.replace(/:$/, '') : name}${at && `@${at}`}`);
    }),
    { numRuns: 2_000 },
  );
});
