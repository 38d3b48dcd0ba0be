import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONTRACT_SCHEMA, type Schema } from '../src/policies/contract/contract-schema.ts';
import { MAX_DEPTH } from '../src/policies/contract/yaml-tokens.ts';
import { runCommand, type Ran } from './cli/run-command.ts';

interface Field {
  readonly schema: Schema;
  readonly isRequired: boolean;
}

interface Row {
  readonly type: string;
  readonly required: string;
  readonly values: string;
}

const TYPES = {
  string: 'text',
  boolean: 'true or false',
  integer: 'whole number',
  number: 'number',
  object: 'mapping',
  array: 'list',
} as const;

/** Each property below a schema, by its path: `service.owner.contacts[].type`. */
function fieldsOf(schema: Schema, path = ''): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = path === '' ? name : `${path}.${name}`;
    fields.set(at, { schema: property, isRequired: schema.required?.includes(name) === true });
    const inner = property.items === undefined ? property : property.items;
    for (const [below, field] of fieldsOf(inner, property.items === undefined ? at : `${at}[]`)) {
      fields.set(below, field);
    }
  }
  return fields;
}

/** Rows of the page's tables whose first cell is a field. */
function rowsOf(page: string): readonly (readonly [string, Row])[] {
  return [...page.matchAll(/^\| `([^`]+)` +\| ([^|]*?) +\| ([^|]*?) +\| ([^|]*?) *\| [^|]* +\|$/gm)].map(
    ([, field = '', type = '', required = '', values = '']) => [field, { type, required, values }],
  );
}

/** The words in backquotes. */
const quotedIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`]*)`/g)].map(([, word = '']) => word);

/** What the values of a field must name: words in backquotes, those and no others, and parts of the text. */
function wantedOf(schema: Schema): { words: readonly string[] | undefined; parts: readonly string[] } {
  const { enum: listed, const: only, pattern, minimum, maximum, minItems, minProperties, maxLength } = schema;
  const single = only ?? pattern;
  return {
    words: listed ?? (single === undefined ? undefined : [single]),
    parts: [
      ...(minimum === undefined ? [] : [`${String(minimum)} to ${String(maximum)}`]),
      ...(minItems === undefined && minProperties === undefined ? [] : ['at least one']),
      ...(maxLength === undefined ? [] : [String(maxLength)]),
    ],
  };
}

/** Paths of everything in a document, of list entries with `[]`. */
function pathsIn(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return [at].concat(pathsIn(inner, at));
  });
}

const FIELDS = fieldsOf(CONTRACT_SCHEMA);
let page = '';
let directory = '';

/** Files of the page: a block of code below a line with nothing but its name. */
function filesOf(text: string): readonly (readonly [string, string])[] {
  return [...text.matchAll(/^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$/gms)].map(([, name = '', body = '']) => [
    name,
    body,
  ]);
}

beforeAll(async () => {
  page = await readFile('docs/contract-fields.md', 'utf8');
  directory = await mkdtemp(join(tmpdir(), 'gate-contract-fields-'));
  for (const [name, text] of filesOf(page)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
});
afterAll(() => rm(directory, { recursive: true }));

describe('the tables of docs/contract-fields.md', () => {
  it('have a row for each field of the schema, and no other', () => {
    const named = rowsOf(page).map(([field]) => field);
    expect(named.toSorted()).toEqual([...FIELDS.keys()].toSorted());
    expect(FIELDS.size).toBeGreaterThan(60);
  });

  it.each([...FIELDS])('say of %s what the schema says', (path, { schema, isRequired }) => {
    const row = new Map(rowsOf(page)).get(path);
    expect(row?.type).toBe(TYPES[schema.type ?? 'object']);
    expect(row?.required === 'yes').toBe(isRequired);
    const { words, parts } = wantedOf(schema);
    expect(words === undefined ? undefined : quotedIn(row?.values ?? '')).toEqual(words);
    expect(parts.filter((part) => row?.values.includes(part) !== true)).toEqual([]);
  });
});

describe('the examples of docs/contract-fields.md', () => {
  const validate = (name: string, ...flags: string[]): Promise<Ran> =>
    runCommand(['validate', join(directory, name), ...flags]);

  it('are valid', async () => {
    expect(await validate('orders')).toMatchObject({ code: 0, out: expect.stringContaining('no findings') });
    expect(await validate('platform')).toMatchObject({
      code: 0,
      out: expect.stringContaining('no findings'),
    });
    expect(await validate('basket')).toMatchObject({ code: 0 });
  });

  it('have every field', () => {
    const contracts = filesOf(page).filter(([name]) => name.endsWith('pacto.yaml'));
    const used = new Set(contracts.flatMap(([, text]) => pathsIn(parse(text))));
    expect([...FIELDS.keys()].filter((path) => !used.has(path))).toEqual([]);
  });

  it('have the readiness that the page says', async () => {
    const { out } = await runCommand([
      'contract',
      'show',
      join(directory, 'orders'),
      '--now',
      '2027-01-01T00:00:00Z',
    ]);
    expect(out).toContain('80 of 100, need 80: passes');
  });

  it('are held to their policies', async () => {
    const basket = await readFile(join(directory, 'basket/pacto.yaml'), 'utf8');
    await mkdir(join(directory, 'without'));
    await writeFile(join(directory, 'without/pacto.yaml'), basket.replace('workload: service\n', ''));
    const ran = await validate('without');
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining('[POLICY_VIOLATION]') });
  });
});

describe('what docs/contract-fields.md says of --set', () => {
  it.each([
    ['service.version=2.0', 'service.version', 'a number'],
    ['service.version=1.10', 'service.version', 'a number'],
    ['service.owner.team=t', 'service.owner.team', 'a boolean'],
  ])('refuses %s', async (assignment, path, found) => {
    expect(page).toContain(`\`${assignment}\``);
    const { code, out } = await runCommand(['validate', join(directory, 'orders'), '--set', assignment]);
    expect({ code, isSaid: out.includes(path) && out.includes(found) }).toEqual({ code: 1, isSaid: true });
  });

  it('takes such a text from a values file', async () => {
    const [, values = ''] = /```yaml\n# release\.yaml\n(.*?)```/s.exec(page) ?? [];
    await writeFile(join(directory, 'release.yaml'), values);
    const ran = await runCommand([
      'validate',
      join(directory, 'orders'),
      '-f',
      join(directory, 'release.yaml'),
    ]);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('no findings') });
    const shown = await runCommand([
      'contract',
      'show',
      join(directory, 'orders'),
      '-f',
      join(directory, 'release.yaml'),
    ]);
    expect(shown.out).toContain('orders 2.0\n');
  });

  it.each([
    ['metadata.build=007', 7],
    ['metadata.note=null', 'null'],
    ['metadata.note=', ''],
  ])('reads %s', async (assignment, value) => {
    expect(page).toContain(`\`${assignment}\``);
    const flags = ['--set', assignment, '-o', 'json'];
    const { out } = await runCommand(['contract', 'show', join(directory, 'orders'), ...flags]);
    const { contract } = JSON.parse(out) as { contract: { metadata: Record<string, unknown> } };
    const key = assignment.slice('metadata.'.length, assignment.indexOf('='));
    expect(contract.metadata[key]).toBe(value);
  });
});

it.each(['docs/contract-fields.md', 'docs/compatibility.md'])(
  'says in %s how deep a contract may be',
  async (file) => {
    const page = await readFile(file, 'utf8');
    const depths = [...page.matchAll(/1 MiB, ([\d,]+) levels/g)].map(([, depth = '']) => depth);
    expect(depths).toEqual([String(MAX_DEPTH)]);
  },
);
