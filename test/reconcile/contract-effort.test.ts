import { describe, expect, it } from 'vitest';
import { isQuick } from '../../src/reconcile/contract-effort.ts';

const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';

const quick = (text: string, files?: Readonly<Record<string, string>>): boolean =>
  isQuick({
    text: Buffer.from(text),
    files: files && new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)])),
  });

describe('a contract', () => {
  it.each([
    ['of two lines', CART],
    ['of 400 lines', CART + '  # what a line is for\nmetadata:\n' + '  key: some text\n'.repeat(400)],
    ['with a long text', `${CART}metadata: {a: "${'x'.repeat(15_000)}"}\n`],
    ['with an anchor that nothing refers to', `${CART}metadata: {a: &a [1, 2]}\n`],
    ['with stars that are no aliases', `${CART}metadata: {a: "*", b: "**"}\n`],
  ])('is quick to read: one %s', (_, text) => {
    expect(quick(text)).toBe(true);
  });

  it.each([
    ['of more than 16 KiB', CART + `#${'x'.repeat(16 * 1024)}\n`],
    ['of thousands of values', `${CART}metadata: {a: [${'1,'.repeat(2_000)}]}\n`],
    ['of thousands of lists', `${CART}metadata: {a: ${'['.repeat(2_000)}`],
    ['of thousands of mappings', `${CART}metadata: {a: ${'{'.repeat(2_000)}`],
    ['of thousands of lines', CART + '\n'.repeat(2_000)],
    ['that repeats itself by aliases', `${CART}metadata: {a: &a [1, 2], b: [*a, *a]}\n`],
  ])('may take long to read: one %s', (_, text) => {
    expect(quick(text)).toBe(false);
  });
});

describe('a bundle', () => {
  const long = '#'.repeat(16 * 1024);

  it.each([
    ['its contract counts once', { 'pacto.yaml': long }],
    ['with small descriptions of interfaces', { 'a.yaml': 'openapi: 3.1.0\n', 'b.yml': 'openapi: 3.1.0\n' }],
    ['with schemas of some kilobytes', { 'a.json': `"${'x'.repeat(100 * 1024)}"` }],
  ])('is quick to read: %s', (_, files) => {
    expect(quick(CART, files)).toBe(true);
  });

  it.each([
    ['with a large description in YAML', { 'interfaces/a.yaml': long }],
    ['with a large description whose name is in capitals', { 'A.YML': long }],
    ['with several that are large together', { 'a.yaml': long.slice(8_000), 'b.yaml': long.slice(8_000) }],
    ['with a small description of many values', { 'a.yaml': '1,'.repeat(2_000) }],
    ['with an alias in a description', { 'a.yaml': '[&a 1, *a]' }],
    ['with a large description in JSON', { 'a.json': `"${'x'.repeat(256 * 1024)}"` }],
    ['with large files of other names', { 'api.proto': 'x'.repeat(257 * 1024) }],
  ])('may take long to read: %s', (_, files) => {
    expect(quick(CART, files)).toBe(false);
  });
});
