/** The fast reader of plain YAML against the `yaml` package: the same nodes, or none (docs/adr/0012). */
import { assert, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseAnyYaml } from '../../../src/policies/contract/yaml-parse.ts';
import { readPlainYaml } from '../../../src/policies/contract/yaml-plain.ts';
import { publishedYaml, recordedYaml, spoiled } from './plain-yaml.ts';

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
