import { describe, expect, it } from 'vitest';
import type { SchemaAnswer } from '../../../src/policies/contract/schema-checks.ts';
import { SchemaRun } from '../../../src/policies/contract/schema-run.ts';
import { FewKeywords } from './few-keywords.ts';

const SLOW: SchemaAnswer = { outcome: 'refused', reason: 'it takes too long' };

/** The same text is the same file, as it is in a bundle. */
function files(): (text: string) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  return (text) => {
    const file = known.get(text) ?? new TextEncoder().encode(text);
    known.set(text, file);
    return file;
  };
}

const file = files();

describe('the schemas of one run', () => {
  it('compiles a text once', async () => {
    const checks = new FewKeywords();
    const run = new SchemaRun(checks);
    expect([await run.compile(file('{}')), await run.compile(file('{}'))]).toEqual([
      { outcome: 'valid' },
      { outcome: 'valid' },
    ]);
    expect(checks.asked).toHaveLength(1);
  });

  it('does not compile what was validated against', async () => {
    const checks = new FewKeywords();
    const run = new SchemaRun(checks);
    expect(await run.validate(file('{"required": ["a"]}'), {})).toMatchObject({ outcome: 'invalid' });
    expect(await run.compile(file('{"required": ["a"]}'))).toEqual({ outcome: 'valid' });
    expect(checks.asked).toHaveLength(1);
  });

  it('validates each instance', async () => {
    const run = new SchemaRun(new FewKeywords());
    expect(await run.validate(file('{"required": ["a"]}'), {})).toMatchObject({ outcome: 'invalid' });
    expect(await run.validate(file('{"required": ["a"]}'), { a: 1 })).toEqual({ outcome: 'valid' });
  });

  it('does not validate against what does not compile', async () => {
    const checks = new FewKeywords();
    const run = new SchemaRun(checks);
    expect(await run.compile(file('{'))).toMatchObject({ outcome: 'not-json' });
    expect(await run.validate(file('{'), 1)).toMatchObject({ outcome: 'not-json' });
    expect(checks.asked).toHaveLength(1);
  });

  it('tries again after a refusal of an instance', async () => {
    let answer: SchemaAnswer = SLOW;
    const run = new SchemaRun({
      compile: () => Promise.resolve(answer),
      validate: () => Promise.resolve(answer),
    });
    expect(await run.validate(file('{}'), 1)).toEqual(SLOW);
    answer = { outcome: 'valid' };
    expect(await run.validate(file('{}'), 2)).toEqual({ outcome: 'valid' });
  });

  it('refuses all that follow eight refusals', async () => {
    const checks = new FewKeywords(
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`s${index}`, SLOW])),
    );
    const run = new SchemaRun(checks);
    for (let index = 0; index < 8; index++) expect(await run.compile(file(`s${index}`))).toEqual(SLOW);
    expect(await run.compile(file('{}'))).toMatchObject({ outcome: 'refused' });
    expect(await run.validate(file('{"a": 1}'), 1)).toMatchObject({ outcome: 'refused' });
    expect(checks.asked).toHaveLength(8);
  });

  it('refuses the 257th schema, and still knows the others', async () => {
    const checks = new FewKeywords();
    const run = new SchemaRun(checks);
    const text = (index: number): string => `{"title": ${index}}`;
    for (let index = 0; index < 256; index++) await run.compile(file(text(index)));
    expect(await run.compile(file(text(256)))).toMatchObject({ outcome: 'refused' });
    expect(await run.validate(file(text(257)), 1)).toMatchObject({ outcome: 'refused' });
    expect(await run.compile(file(text(0)))).toEqual({ outcome: 'valid' });
    expect(checks.asked).toHaveLength(256);
  });

  it('refuses a file of more than 1 MiB unread', async () => {
    const checks = new FewKeywords();
    const large = new Uint8Array(1024 * 1024 + 1);
    expect(await new SchemaRun(checks).compile(large)).toMatchObject({ outcome: 'refused' });
    expect(await new SchemaRun(checks).validate(large, 1)).toMatchObject({ outcome: 'refused' });
    expect(checks.asked).toEqual([]);
  });
});
