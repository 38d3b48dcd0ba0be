/** Sections of pages of docs/, which are delivered with the program: the one place of these texts. */
import { readFile } from 'node:fs/promises';

export interface Explanation {
  /** The first sentence that is not how severe it is. */
  readonly summary: string;
  /** In Markdown, as in the page. */
  readonly text: string;
  /** Parts of the page that the text links to, which are no section of their own. */
  readonly background?: readonly Background[];
}

export interface Background {
  readonly heading: string;
  /** As a link names it: `which-fields-may-be-absent`. */
  readonly anchor: string;
  /** In Markdown. */
  readonly text: string;
}

export interface Explanations {
  readonly errors: ReadonlyMap<string, Explanation>;
  readonly denials: ReadonlyMap<string, Explanation>;
  /** Statuses of contracts. */
  readonly statuses: ReadonlyMap<string, Explanation>;
  /** Findings of contracts. */
  readonly contracts: ReadonlyMap<string, Explanation>;
  /** What commands find beside. */
  readonly commands: ReadonlyMap<string, Explanation>;
  readonly lint: ReadonlyMap<string, Explanation>;
  readonly preflight: ReadonlyMap<string, Explanation>;
}

/** @throws Error of the file system where the pages are not beside the program */
export async function readExplanations(): Promise<Explanations> {
  const pages = ['errors.md', 'findings.md', 'lint.md', 'preflight.md'] as const;
  const [errors = '', findings = '', lint = '', preflight = ''] = await Promise.all(pages.map(readPage));
  return {
    errors: sectionsOf(errors, 'Errors'),
    denials: sectionsOf(errors, 'Denials'),
    statuses: sectionsOf(findings, 'Statuses'),
    contracts: sectionsOf(findings, 'Findings'),
    commands: sectionsOf(findings, 'Findings of commands'),
    lint: sectionsOf(lint, 'Findings'),
    preflight: sectionsOf(preflight, 'Findings'),
  };
}

/** In a bundle beside the program, of which this is a part that may lie in a folder below; in the sources beside them. */
async function readPage(name: string): Promise<string> {
  const places = [`./docs/${name}`, `../docs/${name}`, `../../docs/${name}`];
  let failure: unknown;
  for (const place of places) {
    try {
      return await readFile(new URL(place, import.meta.url), 'utf8');
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** By the heading of each. */
function sectionsOf(page: string, chapter: string): ReadonlyMap<string, Explanation> {
  const parts = backgroundOf(page);
  const [, after = ''] = page.split(`\n## ${chapter}\n`);
  const [body = ''] = after.split('\n## ');
  const sections = body.split(/^### /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      const text = section.slice(end).trim();
      const background = parts.filter(({ anchor }) => text.includes(`](#${anchor})`));
      const linked = background.length === 0 ? {} : { background };
      return [section.slice(0, end).trim(), { summary: summaryOf(text), text, ...linked }];
    }),
  );
}

/** Chapters without sections. */
function backgroundOf(page: string): readonly Background[] {
  return page
    .split(/^## /m)
    .slice(1)
    .filter((chapter) => !/^### /m.test(chapter))
    .map((chapter) => {
      const end = chapter.indexOf('\n');
      const heading = chapter.slice(0, end).trim();
      const anchor = heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-');
      return { heading, anchor, text: chapter.slice(end).trim() };
    });
}

function summaryOf(text: string): string {
  const said = text.replace(/^(?:Error|Problem|Warning|Note|Unknown)(?: \(`\w+`\))?\. /, '');
  const [sentence = said] = /^.*?(?:\.(?=\s)|$)/s.exec(said) ?? [];
  return sentence
    .replace(/\.$/, '')
    .replaceAll('\n', ' ')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
}
