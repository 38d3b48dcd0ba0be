import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const PAGES = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...['docs', 'src', 'manifests', 'examples'].flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(directory, file)),
  ),
];

function textOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '');
}

/** As GitHub names the headings of a page in its address. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function broken(page: string): readonly string[] {
  // A pattern in code may look like one.
  const prose = textOf(page).replaceAll(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(?:https?|mailto):/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
  });
}

it.each(PAGES)('%s links to what exists', (page) => {
  expect(broken(page)).toEqual([]);
});

it('finds links in the pages', () => {
  expect(PAGES.length).toBeGreaterThan(15);
  expect(textOf('README.md')).toMatch(/\]\(docs\/webhooks\.md#/);
});
