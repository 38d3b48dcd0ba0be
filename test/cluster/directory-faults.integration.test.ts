import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { DirectoryClusterOptions, Problem } from '../../src/cluster/directory.ts';
import { map, namesIn, useDirectory } from '../support/directory-fixture.ts';

describe('bad files', () => {
  const files = useDirectory();

  const at = (file: string, line: number, column: number, message: string): Problem => ({
    file,
    line,
    column,
    code: 'GATE_DIRECTORY',
    message,
  });
  const on = (file: string, line: number, message: string): Problem => ({
    file,
    line,
    code: 'GATE_DIRECTORY',
    message,
  });
  const whole = (file: string, message: string): Problem => ({ file, code: 'GATE_DIRECTORY', message });

  const BAD_INDENT =
    'is not YAML: the indentation does not fit the lines above, or a bracket or brace is not closed';

  /** Nine lines that stand for 10^9 values. */
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]']
    .concat(
      ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((key, index) => {
        const below = 'abcdefgh'[index];
        return `${key}: &${key} [${Array.from({ length: 10 }, () => `*${below}`).join(',')}]`;
      }),
    )
    .join('\n');

  const HUGE = 4 * 1024 * 1024 + 1;

  it.each<[string, string, string | Buffer, Problem[]]>([
    ['an empty file', 'x.yaml', '', []],
    ['an empty JSON file', 'x.json', ' \n', []],
    ['a file of comments', 'x.yaml', '# a\n---\n# b\n', []],
    ['broken YAML', 'x.yaml', 'kind: ConfigMap\nmetadata: [\n', [at('x.yaml', 3, 1, BAD_INDENT)]],
    [
      'a tab',
      'x.yaml',
      'a:\n\tb: c\n',
      [at('x.yaml', 2, 1, 'is not YAML: a tab indents the line; use spaces')],
    ],
    [
      'two keys on one line',
      'x.yaml',
      'kind: ConfigMap\nnote: one: two\n',
      [
        at(
          'x.yaml',
          2,
          7,
          'is not YAML: a second key stands on one line; put quotes around a text that holds ": ", or check the indentation',
        ),
      ],
    ],
    ['broken JSON', 'x.json', '{"a": 1,\n  "b": }', [at('x.json', 2, 8, 'is not JSON')]],
    [
      'a huge file',
      'x.yaml',
      Buffer.alloc(HUGE, '#'),
      [whole('x.yaml', 'is too large (found 4194305 bytes, at most 4194304); split it')],
    ],
    [
      'a binary file',
      'x.yaml',
      Buffer.from('kind: a\n\u0000\u0001'),
      [at('x.yaml', 2, 1, 'is a binary file (found a NUL byte); remove it')],
    ],
    [
      'a file that is not UTF-8',
      'x.yaml',
      Buffer.from([0x61, 0x3a, 0x20, 0xff]),
      [whole('x.yaml', 'is not UTF-8; save it as UTF-8')],
    ],
    [
      'a YAML bomb',
      'x.yaml',
      bomb,
      [at('x.yaml', 1, 12, 'has aliases that stand for more than 100000 values')],
    ],
    [
      'an alias to itself',
      'x.yaml',
      'a: &a [*a]\n',
      [at('x.yaml', 1, 8, 'holds an alias inside of what it stands for')],
    ],
    [
      'an alias to nothing',
      'x.yaml',
      'a: *b\n',
      [at('x.yaml', 1, 4, 'holds an alias to an anchor that is not set before it')],
    ],
    [
      'deep flow nesting',
      'x.yaml',
      '['.repeat(100_000),
      [at('x.yaml', 1, 513, 'is nested more than 512 levels deep')],
    ],
    [
      'deep block nesting',
      'x.yaml',
      `${'- '.repeat(600)}x`,
      [at('x.yaml', 1, 1025, 'is nested more than 512 levels deep')],
    ],
    ['deep JSON', 'x.json', '['.repeat(100_000), [at('x.json', 1, 513, 'is nested too deeply')]],
    ['a key twice', 'x.yaml', 'kind: a\nkind: b\n', [at('x.yaml', 2, 1, 'has a key twice in one map')]],
    [
      'an unknown tag',
      'x.yaml',
      'a: !!binary aGk=\n',
      [at('x.yaml', 1, 13, 'has a tag that is not one of the plain types')],
    ],
    [
      'an infinite number',
      'x.yaml',
      'a: .inf\n',
      [at('x.yaml', 1, 4, 'holds a number that JSON cannot carry (.inf or .nan)')],
    ],
    [
      'a text',
      'x.yaml',
      'hello\n',
      [on('x.yaml', 1, 'is not an object; it needs apiVersion, kind and metadata.name')],
    ],
    [
      'a document without apiVersion',
      'x.yaml',
      'kind: a\n',
      [on('x.yaml', 1, 'apiVersion: a text is needed')],
    ],
    [
      'a document without a kind',
      'x.yaml',
      '---\n\napiVersion: v1\n',
      [on('x.yaml', 3, 'kind: a text is needed')],
    ],
    [
      'a document without metadata',
      'x.yaml',
      'apiVersion: v1\nkind: Node\n',
      [on('x.yaml', 1, 'metadata: an object with a name is needed')],
    ],
    [
      'a number as a name',
      'x.yaml',
      'apiVersion: v1\nkind: Node\nmetadata: {name: 1}\n',
      [on('x.yaml', 1, 'metadata.name: a text is needed (quote numbers, yes and no)')],
    ],
    [
      'a number as a label',
      'x.yaml',
      'apiVersion: v1\nkind: Node\nmetadata: {name: node-a, labels: {a: 1}}\n',
      [
        on(
          'x.yaml',
          1,
          '"Node" "node-a": metadata.labels: a map of strings (quote numbers and booleans) is needed',
        ),
      ],
    ],
    [
      'an impossible name',
      'x.yaml',
      'apiVersion: v1\nkind: Node\nmetadata: {name: A_b}\n',
      [
        on(
          'x.yaml',
          1,
          '"Node" "A_b": metadata.name: "A_b" is not a name that Node can have; use a DNS subdomain',
        ),
      ],
    ],
    [
      'a namespace on a Node',
      'x.yaml',
      'apiVersion: v1\nkind: Node\nmetadata: {name: node-a, namespace: web}\n',
      [on('x.yaml', 1, '"Node" "web/node-a": metadata.namespace: Node has no namespace; leave it out')],
    ],
    [
      'a bad item of a List',
      'x.yaml',
      'apiVersion: v1\nkind: List\nitems:\n- {}\n- 1\n',
      [
        on('x.yaml', 4, 'items[0]: apiVersion: a text is needed'),
        on('x.yaml', 5, 'items[1]: is not an object; it needs apiVersion, kind and metadata.name'),
      ],
    ],
    [
      'an object that another file has',
      'x.yaml',
      `\n${map('good')}`,
      [
        on(
          'x.yaml',
          2,
          '"ConfigMap" "web/good" is in "good.yaml" line 1 already: that one counts and this one is ignored; remove one',
        ),
      ],
    ],
  ])('reports %s and reads the rest', async (_what, file, contents, want) => {
    await files.put(file, contents);
    await files.put('good.yaml', map('good'));
    const directory = await files.open();
    expect(directory.problems()).toEqual(want);
    expect(files.seen).toEqual(want);
    expect(await namesIn(directory)).toBe('good');
  });

  it('reads the good documents of a file with a bad one', async () => {
    await files.put('x.yaml', `${map('a')}---\nb: [\n---\n${map('c')}`);
    const directory = await files.open();
    expect(directory.problems()).toEqual([at('x.yaml', 7, 1, BAD_INDENT)]);
    expect(await namesIn(directory)).toBe('a c');
  });

  it('never repeats what a file says', async () => {
    await files.put('a.yaml', 'password: "geheim\n');
    await files.put('b.json', '{"password": geheim}');
    await files.put('c.yaml', '{password: geheim, password: geheim, geheim');
    const directory = await files.open();
    expect(directory.problems()).toHaveLength(3);
    expect(JSON.stringify(directory.problems())).not.toContain('geheim');
  });

  it.each<[string, (outside: string) => Promise<void>, Problem[]]>([
    [
      'a link to itself',
      () => symlink('x.yaml', files.path('x.yaml')),
      [whole('x.yaml', 'is a symbolic link that leads back to itself; remove it')],
    ],
    [
      'a link to the directory it lies in',
      () => symlink('.', files.path('loop')),
      [whole('loop', 'is a symbolic link that leads back to a directory it lies in; remove it')],
    ],
    [
      'a link to nothing',
      () => symlink('gone', files.path('x.yaml')),
      [whole('x.yaml', 'is a symbolic link that leads nowhere (ENOENT); mend or remove it')],
    ],
    [
      'a link out of the directory',
      (outside) => symlink(outside, files.path('x.yaml')),
      [whole('x.yaml', 'is a symbolic link that leads out of the directory; copy what it leads to')],
    ],
    [
      'a link to a directory outside',
      (outside) => symlink(dirname(outside), files.path('out')),
      [whole('out', 'is a symbolic link that leads out of the directory; copy what it leads to')],
    ],
    ['a pipe', async () => void execFileSync('mkfifo', [files.path('x.yaml')]), []],
  ])('reports %s and does not follow it', async (_what, make, want) => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'gate-outside-'));
    try {
      await writeFile(join(elsewhere, 'secret.yaml'), map('secret'));
      await make(join(elsewhere, 'secret.yaml'));
      await files.put('good.yaml', map('good'));
      const directory = await files.open();
      const pipe = [whole('x.yaml', 'is not a regular file; remove it')];
      expect(directory.problems()).toEqual(want.length === 0 ? pipe : want);
      expect(await namesIn(directory)).toBe('good');
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  it.each<[string, Partial<DirectoryClusterOptions>['limits'], Problem, string]>([
    ['files', { files: 2 }, whole('c.yaml', 'comes after 2 files; it and the rest are left out'), 'a b'],
    [
      'bytes',
      { totalBytes: 200 },
      whole('c.yaml', 'would make the directory larger than 200 bytes; it and the like are left out'),
      'a b',
    ],
    ['entries', { entries: 1 }, whole('.', 'holds more than 1 entries; the rest is left out'), 'a'],
    [
      'directories inside each other',
      { depth: 2 },
      whole('sub/sub', 'lies more than 2 directories deep; move it up'),
      'a b c d e',
    ],
  ])('says once that there are more %s than allowed', async (_what, limits, want, names) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await files.put(`${name}.yaml`, map(name));
    await files.put('sub/sub/f.yaml', map('f'));
    const directory = await files.open({ limits: limits ?? {} });
    expect(directory.problems()).toEqual([want]);
    expect(await namesIn(directory)).toBe(names);
  });
});
