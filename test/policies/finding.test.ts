import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FINDING_CODES } from '../../src/policies/finding.ts';

/** Headings of the section on denials in docs/errors.md. */
function explained(): string[] {
  const page = readFileSync('docs/errors.md', 'utf8');
  const [, section = ''] = page.split(/^## Denials$/m);
  const [denials = ''] = section.split(/^## /m);
  return [...denials.matchAll(/^### ([A-Z_]+)$/gm)].map((match) => match[1] ?? '');
}

describe('the codes of denials', () => {
  it('are each explained in docs/errors.md, and no other', () => {
    expect(explained().toSorted()).toEqual(Object.keys(FINDING_CODES).toSorted());
  });

  it('are each used by a rule', () => {
    const sources = globSync('src/policies/**/*.ts')
      .filter((path) => !path.endsWith('finding.ts'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    expect(Object.keys(FINDING_CODES).filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });
});
