import { describe, expect, it } from 'vitest';
import {
  readJsonInstance,
  readYamlInstance,
  type InstanceText,
} from '../../../src/policies/contract/instance-text.ts';

const MEBIBYTE = 1024 * 1024;

/** Its value, or why it has none. */
function gist(read: InstanceText): unknown {
  return read.outcome === 'value' ? { value: read.value } : read.outcome;
}

describe('a text of YAML as a schema sees it (operator.md §5.6)', () => {
  it.each<[string, unknown]>([
    ['', { value: null }],
    ['# c\n', { value: null }],
    ['a: 80.0\nb: 0x10\n', { value: { a: 80, b: 16 } }],
    ['a: 2027-01-02\n', { value: { a: '2027-01-02' } }],
    ['a: 1\n---\n%%%', { value: { a: 1 } }],
    ['!!str 1: a', { value: { 1: 'a' } }],
    ['a: &a {x: 1}\nb: {<<: *a}\n', { value: { a: { x: 1 }, b: { x: 1 } } }],
    ['1: a', 'not-json'],
    ['a: [{true: b}]', 'not-json'],
    ['~: a', 'not-json'],
    ['2027-01-01: a', 'not-json'],
    ['? [a]\n: b', 'not-json'],
    ['a: 1\na: 2', 'unreadable'],
    ['a: .nan', 'unreadable'],
    ['a: [', 'unreadable'],
    ['a: &a [*a]', 'unreadable'],
    ['['.repeat(20_000), 'unreadable'],
  ])('%j', (text, wanted) => {
    expect(gist(readYamlInstance(text))).toEqual(wanted);
  });

  it('is read up to what an object of Kubernetes holds, and with anchors up to a part of it', () => {
    const plain = (length: number): string => `a: ${'x'.repeat(length - 3)}`;
    expect(readYamlInstance(plain(MEBIBYTE)).outcome).toBe('value');
    expect(readYamlInstance(plain(MEBIBYTE + 1)).outcome).toBe('unreadable');
    const anchored = (length: number): string => `a: &a ${'x'.repeat(length - 6)}`;
    expect(readYamlInstance(anchored(64 * 1024)).outcome).toBe('value');
    expect(readYamlInstance(anchored(64 * 1024 + 1)).outcome).toBe('unreadable');
  });
});

describe('a text of JSON as a schema sees it', () => {
  it.each<[string, unknown]>([
    [' {"a":[1,null]} ', { value: { a: [1, null] } }],
    ['1e3', { value: 1000 }],
    ['1e-999', { value: 0 }],
    ['', 'unreadable'],
    ['{"a":1}{}', 'unreadable'],
    ['{"a":1e999}', 'unreadable'],
    ['[-1E+0400]', 'unreadable'],
    [`[${'9'.repeat(400)}]`, 'unreadable'],
    ['\ufeff{}', 'unreadable'],
    [`{}${' '.repeat(MEBIBYTE)}`, 'unreadable'],
  ])('%j', (text, wanted) => {
    expect(gist(readJsonInstance(text))).toEqual(wanted);
  });
});
