import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/cluster/directory-yaml.ts';
import { readJsonDocuments } from '../../src/cluster/json-documents.ts';

const POLICY = '{"kind":"ValidatingAdmissionPolicy","metadata":{"name":"a"},"spec":{"validations":[{}]}}';

/** What the YAML reader makes of it: a comment is not JSON, and takes a line. */
async function asYaml(text: string): Promise<unknown> {
  const commented = `# read as YAML\n${text}`;
  expect(readJsonDocuments(commented)).toBeUndefined();
  return (await readYaml(commented)).map(({ value, line }) => ({ value, line: line - 1 }));
}

describe('readJsonDocuments', () => {
  it.each([
    ['one object', POLICY],
    ['several', `${POLICY}\n---\n${POLICY}\n--- \n{"a":1}\n`],
    ['a separator first', `---\n${POLICY}`],
    ['lines and blanks between', `\n\n{\n  "a": [1,\n 2]\n}\n\n---\r\n\n {"b":null}`],
    ['texts that look like something else', '{"yes":"no","a":"0644","b":"~","c":"1.5","d":"2024-01-01"}'],
    ['escapes', String.raw`{"a\"b":"\\\"c\": \u00e9 \n \/","d":"\\"}`],
    ['characters beyond ASCII', '{"é":"😀"}'],
    ['names that objects have', '{"__proto__":{"a":1},"constructor":{"prototype":2},"<<":{"b":1}}'],
    ['numbers', '{"a":[0,-0,1,-1,1.0,1.5,-2e3,9007199254740993,18446744073709551616,0.1]}'],
    ['nothing', '{}'],
    ['a separator within a text', String.raw`{"a":"x\n---\ny"}`],
  ])('reads %s as the YAML reader does', async (_, text) => {
    const read = readJsonDocuments(text);
    expect(read).toBeDefined();
    expect(read).toEqual(await asYaml(text));
  });

  it.each([
    ['blocks', 'kind: Policy'],
    ['no object', '["a"]'],
    ['a comment', '{"a":1} # one'],
    ['a comment after a separator', '{"a":1}\n--- # two\n{"b":1}'],
    ['a bare key', '{a: 1}'],
    ['an anchor', '{"a":&a 1}'],
    ['a document that is not JSON', `${POLICY}\n---\nkind: Policy`],
    ['an empty document', `${POLICY}\n---\n`],
    ['two objects without a separator', '{"a":1}\n{"a":1}'],
    ['a key twice', '{"a":{"b":1,"b":2}}'],
    ['a key twice, once in escapes', String.raw`{"a":1,"\u0061":2}`],
    ['half a surrogate pair', String.raw`{"a":"\ud800"}`],
    ['a list of objects, whose lines are told', '{"kind":"List","items":[{}]}'],
    ['a number that no double holds', '{"a":1e999}'],
    ['a text that is not ended', '{"a":"b}'],
    ['more than is read in one step', `{"a":"${'b'.repeat(300_000)}"}`],
  ])('leaves %s to the YAML reader', (_, text) => {
    expect(readJsonDocuments(text)).toBeUndefined();
  });
});
