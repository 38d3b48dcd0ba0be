import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/cluster/directory-yaml.ts';

const FILE_BYTES = 4 * 1024 * 1024;

/** `part` again and again, as much as a file may hold. */
function full(part: string, before = '', after = ''): string {
  return before + part.repeat(Math.floor((FILE_BYTES - before.length - after.length) / part.length)) + after;
}

async function faultsOf(text: string): Promise<readonly string[]> {
  return (await readYaml(text)).flatMap(({ fault }) => (fault === undefined ? [] : [fault.message]));
}

const PARTS = 'has more than 600000 parts; split it';
const DOCUMENTS = 'has more than 10000 documents; split it';
const COMMENTS = 'has more than 100000 comments; remove some';
const LINES = 'has more than 200000 lines of text in one document; split it';

describe('readYaml', () => {
  it.each([
    ['documents of one letter', full('--- a\n'), DOCUMENTS],
    ['empty documents', full('---\n'), DOCUMENTS],
    ['document ends', full('...\n'), DOCUMENTS],
    ['directives', full('%a\n'), 'has more than 100 directives (lines with %)'],
    ['comments', full('#\n'), COMMENTS],
    ['comments in a list', full('#\n', '[\n', ']'), COMMENTS],
    ['blank lines in a plain text', full('\n', 'a: b\n', ' c'), LINES],
    ['lines in a plain text', full(' c\n', 'a: b\n'), LINES],
    ['lines in a folded text', full(' x\n\n', 'a: >\n'), LINES],
    ['lines in a quoted text', full('x\n ', 'a: "', '"'), LINES],
    ['empty keys', full(': '), PARTS],
    ['aliases', full('*a, ', '[&a b, ', 'c]'), 'has more than 20000 aliases; write some of them out'],
  ])('refuses a file full of %s', async (_name, text, message) => {
    expect(await faultsOf(text)).toEqual([message]);
  });

  it('refuses the rest of a file after twenty broken documents', async () => {
    const faults = await faultsOf(full('--- {a: b, a: c}\n'));
    expect(faults).toHaveLength(21);
    expect(new Set(faults.slice(0, 20))).toEqual(new Set(['has a key twice in one map']));
    expect(faults[20]).toBe('has more than 20 broken documents; mend these first');
  });

  it('reads as many documents, comments and lines as it allows', async () => {
    const text = `${'# c\n'.repeat(5_000)}a: |\n${' x\n'.repeat(190_000)}`;
    const documents = await readYaml(`${text}${'---\na: b\n'.repeat(9_999)}`);
    expect(documents).toHaveLength(10_000);
    expect(documents.every(({ fault }) => fault === undefined)).toBe(true);
  });

  it('reads names such as __proto__ as data', async () => {
    const [document] = await readYaml('a: &a {__proto__: {b: c}, constructor: d}\ne: {<<: *a}\n');
    const data = JSON.parse('{"__proto__":{"b":"c"},"constructor":"d"}') as unknown;
    expect(Object.entries(document?.value as object)).toEqual([
      ['a', data],
      ['e', data],
    ]);
  });

  it('lets others have their turn while it reads', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await readYaml('- a: b\n'.repeat(10_000));
    isOver = true;
    // 10,000 items of eight lexemes or more, and at most 5,000 lexemes in a turn.
    expect(turns).toBeGreaterThanOrEqual(15);
  });

  it('counts brackets within texts neither as depth nor as anything else', async () => {
    expect(await faultsOf(`a: "[[#%"\nb: '${'['.repeat(600)}'\nc: x[[[[%#\n`)).toEqual([]);
  });
});
