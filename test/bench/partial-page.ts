/** A page of which a run of some scenarios renews its own rows and sections, and nothing else. */

const BUDGETS = 'Budgets';
const OF_ITS_OWN = '_Of a run of its own:';

/** What is said of a run where its figures stand among those of another. */
export interface PartialRun {
  /** Of the scenarios. */
  readonly names: readonly string[];
  /** For example `2026-12-01, a full run of 200 s, load average 0.1 before and 2 after`. */
  readonly facts: string;
}

/**
 * @param before the page as it is
 * @param rendered the page that the run alone would be
 * @returns `before` with budgets of the same words, and sections of the same title, taken from `rendered`, and new ones at the
 *   end; the introduction stays that of the run that wrote the whole page.
 */
export function renewPage(before: string, rendered: string, run: PartialRun): string {
  const [introduction = '', ...old] = sectionsOf(before);
  const [, ...fresh] = sectionsOf(rendered);
  const sections = new Map(old.map((text) => [titleOf(text), text]));
  for (const text of fresh) {
    const title = titleOf(text);
    const known = sections.get(title);
    if (title === BUDGETS && known !== undefined) sections.set(title, renewBudgets(known, text, run));
    else sections.set(title, `## ${title}\n\n${noteOf(run)}${text.slice(text.indexOf('\n'))}`);
  }
  return `${[introduction, ...sections.values()].map((text) => text.trim()).join('\n\n')}\n`;
}

const noteOf = ({ facts }: PartialRun): string => `${OF_ITS_OWN} ${facts}._`;

function sectionsOf(page: string): readonly string[] {
  return page.split(/^(?=## )/m);
}

function titleOf(text: string): string {
  return text.slice('## '.length, text.indexOf('\n'));
}

function renewBudgets(before: string, rendered: string, { names, facts }: PartialRun): string {
  const [head = [], ...old] = rowsOf(before);
  const [, ...fresh] = rowsOf(rendered);
  const rows = new Map(old.map((row) => [keyOf(row), row]));
  for (const row of fresh) rows.set(keyOf(row), row);
  const table = [head, head.map(() => '---'), ...rows.values()].map((cells) => `| ${cells.join(' | ')} |`);
  const mine = `- \`${names.join(', ')}\`:`;
  const notes = before.split('\n').filter((line) => line.startsWith('- `') && !line.startsWith(mine));
  return [
    `## ${BUDGETS}`,
    '',
    ...table,
    '',
    'Rows of these scenarios are of runs of their own:',
    '',
    ...notes,
    `${mine} ${facts}`,
  ].join('\n');
}

/** Cells of the table, the heads first. */
function rowsOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** What it is about and what it may be: the same thing can have two limits. */
function keyOf([what = '', budget = '']: readonly string[]): string {
  return `${what}|${budget}`;
}
