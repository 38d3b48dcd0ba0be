/** The fast reader of plain YAML against the `yaml` package: the same nodes, or none (docs/adr/0012). */
import { assert, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseAnyYaml } from '../../../src/policies/contract/yaml-parse.ts';
import { readPlainYaml } from '../../../src/policies/contract/yaml-plain.ts';
import { assembled, publishedYaml, recordedYaml, spoiled } from './plain-yaml.ts';

/** Of the recorded texts, made for the corners of YAML as many of them are. */
const PLAIN_SHARE = 0.85;
const RUNS = 4000;

/** Why the package refuses it, or its nodes. */
function read(text: string): unknown {
  try {
    return parseAnyYaml(text);
  } catch (error) {
    return String(error);
  }
}

describe('plain YAML', () => {
  it.each(publishedYaml().map((text) => [text.split('\n').slice(0, 2).join(' '), text]))(
    'is read, with the nodes of the package: %s',
    (_, text) => {
      expect(readPlainYaml(text)).toBeDefined();
      expect(readPlainYaml(text)).toEqual(read(text));
      expect(readPlainYaml(text.replaceAll('\n', '\r\n'))).toEqual(read(text));
    },
  );

  it('is most of what was recorded, and read with the nodes of the package', () => {
    const texts = recordedYaml();
    const plain = texts.filter((text) => readPlainYaml(text) !== undefined);
    for (const text of plain)
      expect({ text, nodes: readPlainYaml(text) }).toEqual({ text, nodes: read(text) });
    expect(plain.length / texts.length).toBeGreaterThan(PLAIN_SHARE);
  });

  it.each([
    ['a list further left than its key', 'a:\n  b:\n - c\n'],
    ['a key further right than the first', 'a: b\n c: d\n'],
    ['an item further right than the first', '- a\n - b\n'],
    ['a text that goes on below', 'a: b\n  c\n'],
    ['a pair in the line of another', 'a: b: c\n'],
    ['a list in the line of its key', 'a: - b\n'],
    ['a key without a blank behind its colon', '"a":b\n'],
    ['a blank before a colon', 'a : b\n'],
    ['a text alone', 'a\n'],
    ['a merge key', 'a: {<<: {b: c}}\n'],
    ['an anchor', 'a: &b c\n'],
    ['an alias', 'a: *b\n'],
    ['a tag', 'a: !!str b\n'],
    ['an explicit key', '? a\n: b\n'],
    ['a directive', '%YAML 1.1\n---\na: b\n'],
    ['a second document', 'a: b\n---\nc: d\n'],
    ['a key that looks like the start of a document', '---a: b\n'],
    ['the end of a document', 'a: b\n...\n'],
    ['a tab', 'a:\tb\n'],
    ['a mark of the byte order', '\ufeffa: b\n'],
    ['a rare line end', 'a: "b\u2028c"\n'],
    ['half of a pair', 'a: \ud83d\n'],
    ['an escape by number', String.raw`a: "\u00e9"`],
    ['a quote that is closed below', 'a: "b\n  c"\n'],
    ['a bracket that is closed below', 'a: [b,\n  c]\n'],
    ['a comma at the end', 'a: [b,]\n'],
    ['a colon before a bracket', 'a: {b:}\n'],
    ['a colon before a comma', 'a: [b:, c]\n'],
    ['a question mark in brackets', 'a: [b?c]\n'],
    ['a comment in brackets', 'a: [b #c]\n'],
    ['a comment in a quote’s reach', 'a: "b"# c\n'],
    ['a block with its indentation given', 'a: |1\n  b\n'],
    ['a block that keeps its line ends', 'a: |+\n  b\n\n'],
    ['a folded block with a line further right', 'a: >\n  b\n   c\n  d\n'],
    ['a block with blanks in an empty line', 'a: |\n  b\n   \n  c\n'],
    ['a block that begins with an empty line', 'a: |\n\n  b\n'],
    ['a block without a last line end', 'a: |\n  b'],
    ['a block in which nothing is', 'a: |\nb: c\n'],
    ['a key that is long', `${'a'.repeat(1001)}: b\n`],
    ['brackets that go deep', `${'['.repeat(101)}${']'.repeat(101)}\n`],
    ['dashes that go deep', `${'- '.repeat(101)}a\n`],
    ['nothing', ''],
    ['only a comment', '# a\n'],
  ])('leaves to the package %s', (_, text) => {
    expect(readPlainYaml(text)).toBeUndefined();
  });

  it('is never read otherwise than by the package, whatever it is put together from', () => {
    assert(
      property(assembled, (text) => {
        const nodes = readPlainYaml(text);
        if (nodes === undefined) return;
        expect(nodes).toEqual(read(text));
      }),
      { numRuns: 4 * RUNS, seed: 13 },
    );
  });

  it('is never read otherwise than by the package, however a text is spoiled', () => {
    let plain = 0;
    const texts = [...publishedYaml(), ...recordedYaml()];
    assert(
      property(spoiled(texts), (text) => {
        const nodes = readPlainYaml(text);
        if (nodes === undefined) return;
        plain += 1;
        expect(nodes).toEqual(read(text));
      }),
      { numRuns: RUNS, seed: 12 },
    );
    // Or all of it would prove nothing.
    expect(plain).toBeGreaterThan(RUNS / 5);
  });
});
