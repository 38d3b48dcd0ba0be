import { describe, expect, it } from 'vitest';
import { renewPage } from './partial-page.ts';

const PAGE = `# Benchmarks

About one run.

## Budgets

| what   | budget | measured | met    |
| ------ | ------ | -------- | ------ |
| a      | < 1 s  | 0.5 s    | yes    |
| b      | < 2 s  | 3.0 s    | **no** |
| b      | ≤ 4 ×  | 3.0 ×    | yes    |

## One

old one

## Two

old two
`;

const RUN = `# Benchmarks

Another run.

## Budgets

| what | budget | measured | met |
| --- | --- | --- | --- |
| b | < 2 s | 1.0 s | yes |
| c | 0 | 0 | yes |

## Two

new two

## Three

new three
`;

const RENEWED = { names: ['two', 'three'], facts: '2026-12-01, a full run of 9 s' };

describe('a page that a run of some scenarios renews', () => {
  const page = renewPage(PAGE, RUN, RENEWED);

  it('keeps the introduction, and rows and sections of others', () => {
    expect(page).toContain('About one run.');
    expect(page).not.toContain('Another run.');
    expect(page).toContain('| a | < 1 s | 0.5 s | yes |');
    expect(page).toContain('| b | ≤ 4 × | 3.0 × | yes |');
    expect(page).toContain('## One\n\nold one\n');
  });

  it('has the new figures of what is measured again, and what is new at the end', () => {
    expect(page).toContain('| b | < 2 s | 1.0 s | yes |\n| b | ≤ 4 ×');
    expect(page).not.toContain('3.0 s');
    expect(page).toContain('| c | 0 | 0 | yes |\n\n');
    expect(page).not.toContain('old two');
    expect(page.indexOf('new two')).toBeLessThan(page.indexOf('new three'));
  });

  it('says of both that they are of a run of their own', () => {
    expect(page).toContain('- `two, three`: 2026-12-01, a full run of 9 s\n');
    for (const title of ['Two', 'Three'])
      expect(page).toContain(`## ${title}\n\n_Of a run of its own: 2026-12-01, a full run of 9 s._\n\nnew`);
  });

  it('says so once of the same scenarios, and goes on saying so of others', () => {
    const other = renewPage(page, RUN, { names: ['one'], facts: '2026-12-02' });
    const again = renewPage(other, RUN, { ...RENEWED, facts: '2026-12-03' });
    expect(again.match(/^- `.*$/gm)).toEqual(['- `one`: 2026-12-02', '- `two, three`: 2026-12-03']);
    expect(again.match(/_Of a run of its own/g)).toHaveLength(2);
  });
});
