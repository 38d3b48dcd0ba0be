/** Texts on which the reader of plain YAML is compared with the `yaml` package, and ways to spoil them. */
import { readFileSync } from 'node:fs';
import { array, constantFrom, double, integer, oneof, option, record, tuple } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { typicalBundle } from '../../bench/contracts/bundles.ts';

const GOLDEN = ['yaml', 'structural', 'crossfield'];
const EXAMPLES = ['cart/pacto.yaml', 'cart/interfaces/web.yaml', 'stricter.yaml'];

/** As services publish it: contracts, and what describes their interfaces. */
export function publishedYaml(): readonly string[] {
  const folder = new URL('../../../examples/contracts/', import.meta.url);
  const bundle = [...typicalBundle(7, 3)].filter(([path]) => path.endsWith('.yaml'));
  return [
    ...EXAMPLES.map((name) => readFileSync(new URL(name, folder), 'utf8')),
    ...bundle.map(([, bytes]) => new TextDecoder().decode(bytes)),
    OPEN_API,
  ];
}

/** All YAML of the recorded cases, the broken with the good. */
export function recordedYaml(): readonly string[] {
  const folder = new URL('../../golden/contract/', import.meta.url);
  return GOLDEN.flatMap((family) => {
    const cases = JSON.parse(readFileSync(new URL(`${family}.json`, folder), 'utf8')) as readonly {
      readonly input: { readonly files?: Readonly<Record<string, string>> };
    }[];
    return cases.flatMap(({ input }) =>
      Object.entries(input.files ?? {})
        .filter(([path]) => /\.ya?ml$/.test(path))
        .map(([, text]) => text),
    );
  });
}

/** What plain YAML has beyond contracts. */
const OPEN_API = `---
# An interface, as people write it.
openapi: "3.0.3"

info:
  title:   Café — orders # what it is for
  version: 1.10
  description: |
    All of the *orders*:

      - those that are open
      - "those" that are not # no comment

    See below.
  summary: >-
    One text in two
    lines, and

    another: it's {here}.
servers: [ { url: "https://orders.test/v1?x=y#z", description: 'it''s the "main" one' }, {url: http://orders.test:80/a#b} ]
tags:
- name: a
  externalDocs: {}
-
  name: b
- - nested
  -   - deeper
      - 0x1F
  - key: value
    more:
    - 'x'
    other: -1
- []
paths:
  /orders/{id}:
    # Reads one.
    get:
      operationId: "read\\tone\\\\\\"\\n"
      parameters:
        - in: path
          name: id
          required: true
          schema: { type: string, pattern: "^[a-z]+$" }
          example:
        - $ref: '#/components/parameters/Page'
      responses:
        200:
          description: ok
        'default': { description: "", content: { "application/json": { schema: { enum: [a, -b, .5, ~, a:b] } } } }
    delete: # nobody may
  # The end.
x-empty:
x-emoji: "😀" 
components:
  schemas:
    Order:
      type: object
      properties:
        at: { type: string, format: date-time, example: 2027-06-30T12:00:00Z }
        text:
          description: >
            folded
          type: string
   # Between.
`;

/** What has a meaning somewhere in YAML, and what may be mistaken for it. */
const PIECES = [
  ['\n', '\t', '\r', ' ', '\u0085', '\u00a0', '\u2028', '\ufeff', '\ud83d', 'é', '0', 'a', 'e'],
  [':', '-', '?', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`', '"', "'", '\\', '~'],
  ['=', '.', '<', '+', '\n\n', '\r\n', '  ', ': ', ':\n', ' #', '# ', '- ', '-\n', '---', '...', '? ', '<<'],
  ['\n---\n', '\n...\n', '<<: ', "''", '""', '\\n', '\\/', '\\u00e9', '\\\n', '{}', '[]', ', ', ',}', ':}'],
  ['{a: b}', '[a]', 'a: b', '- a', '|\n', '>-\n', '|+\n', '|2\n', '>1-\n', '!!str ', '&x ', '*x', 'null'],
  ['%YAML 1.1\n', '"a', "'a", '"a\n b"', ' \n', '\n ', '\n  # c\n', '\n # c\n', '\n#c\n', '\n- ', '\n  - '],
  ['\na:', '\n  a: b\n'],
].flat();

type Change = (text: string) => string;

const PLACE = double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const PIECE = constantFrom(...PIECES);

const CHARACTERS: Arbitrary<Change> = record({
  place: PLACE,
  removed: constantFrom(0, 0, 1, 2, 5, 30),
  piece: option(PIECE, { nil: '' }),
}).map(({ place, removed, piece }) => (text) => {
  const at = Math.floor(place * (text.length + 1));
  return text.slice(0, at) + piece + text.slice(at + removed);
});

/** At the ends of lines and words, where most is decided. */
const BORDERS: Arbitrary<Change> = record({ place: PLACE, piece: PIECE }).map(
  ({ place, piece }) =>
    (text) => {
      const borders = [...text.matchAll(/$|^|(?<=[:,[\]{}'"-])|(?=[:,[\]{}'"#-])/gm)];
      const at = borders[Math.floor(place * borders.length)]?.index ?? 0;
      return text.slice(0, at) + piece + text.slice(at);
    },
);

const LINES: Arbitrary<Change> = record({
  from: PLACE,
  to: PLACE,
  count: integer({ min: 1, max: 3 }),
  how: constantFrom('copied', 'moved', 'removed', 'indented', 'joined'),
  by: constantFrom(-4, -3, -2, -1, 1, 2, 3, 4),
}).map(({ from, to, count, how, by }) => (text) => {
  const lines = text.split('\n');
  const start = Math.floor(from * lines.length);
  const chosen = lines.slice(start, start + count);
  const target = Math.floor(to * lines.length);
  if (how === 'copied') return lines.toSpliced(target, 0, ...chosen).join('\n');
  if (how === 'joined') return lines.toSpliced(start, chosen.length, chosen.join(' ')).join('\n');
  if (how === 'indented') {
    const shifted = chosen.map((line) => (by > 0 ? ' '.repeat(by) + line : line.slice(-by)));
    return lines.toSpliced(start, chosen.length, ...shifted).join('\n');
  }
  const rest = lines.toSpliced(start, chosen.length);
  return how === 'removed' ? rest.join('\n') : rest.toSpliced(target, 0, ...chosen).join('\n');
});

/** Whole texts are read slowly: most that can be found is found in a piece of some lines as well. */
const EXCERPT: Arbitrary<Change> = record({ from: PLACE, count: integer({ min: 1, max: 12 }) }).map(
  ({ from, count }) =>
    (text) => {
      const lines = text.split('\n');
      const start = Math.floor(from * lines.length);
      const chosen = lines.slice(start, start + count);
      const indent = /^ */.exec(chosen[0] ?? '')?.[0].length ?? 0;
      return chosen.map((line) => line.slice(Math.min(indent, line.search(/[^ ]|$/)))).join('\n');
    },
);

/** A text of those given, mostly an excerpt of it, changed in up to four places. */
export function spoiled(texts: readonly string[]): Arbitrary<string> {
  return record({
    text: constantFrom(...texts),
    excerpt: option(EXCERPT, { freq: 4, nil: (text: string) => text }),
    changes: array(oneof(CHARACTERS, BORDERS, BORDERS, LINES), { maxLength: 4 }),
  }).map(({ text, excerpt, changes }) => changes.reduce((before, change) => change(before), excerpt(text)));
}

/** A few pieces in a row, below a key in most cases. */
export const assembled: Arbitrary<string> = tuple(
  constantFrom('', 'a: ', 'a:\n  ', '- '),
  array(PIECE, { minLength: 1, maxLength: 8 }),
).map(([start, pieces]) => start + pieces.join(''));
