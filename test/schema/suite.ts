/** The official test suite (test/golden/json-schema), and what docs/conformance.md says is refused of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/schema/answer.ts';
import { isSchemaObject } from '../../src/schema/places.ts';

const FOLDER = 'test/golden/json-schema';

/** How schemas of the suite name their draft: where they do not, its folder counts. */
export const DIALECTS = {
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  draft7: 'http://json-schema.org/draft-07/schema#',
} as const;

interface Group {
  readonly description: string;
  readonly schema: Json;
  readonly tests: readonly { readonly description: string; readonly data: Json; readonly valid: boolean }[];
}

export function suiteFiles(): readonly (readonly [draft: keyof typeof DIALECTS, file: string])[] {
  return (Object.keys(DIALECTS) as (keyof typeof DIALECTS)[]).flatMap((draft) =>
    readdirSync(join(FOLDER, draft)).map((file) => [draft, file] as const),
  );
}

export function groupsOf(draft: keyof typeof DIALECTS, file: string): readonly Group[] {
  return JSON.parse(readFileSync(join(FOLDER, draft, file), 'utf8')) as readonly Group[];
}

export function schemaTextOf(draft: keyof typeof DIALECTS, { schema }: Group): string {
  return JSON.stringify(isSchemaObject(schema) ? { $schema: DIALECTS[draft], ...schema } : schema);
}

/** Groups that docs/conformance.md lists, as `draft: file: description`. */
export function refusedGroups(): ReadonlySet<string> {
  const lines = readFileSync('docs/conformance.md', 'utf8').split('\n');
  const start = lines.findIndex((line) => /^\| draft +\| file +\| schema +\| why +\|$/.test(line));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  const rows = start === -1 ? [] : lines.slice(start + 2, end);
  return new Set(
    rows.map((row) => {
      const [draft = '', file = '', description = ''] = row
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return `${draft}: ${file}: ${description.replaceAll('`', '')}`;
    }),
  );
}
