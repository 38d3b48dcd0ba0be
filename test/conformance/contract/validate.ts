import { load } from '../../../src/policies/contract/load.ts';
import type { PolicyResolution, PolicyResolver } from '../../../src/policies/contract/policy-layer.ts';
import { validate } from '../../../src/policies/contract/validate.ts';
import type { ValidateOptions } from '../../../src/policies/contract/validate.ts';
import { SchemaPool } from '../../../src/schema/schema-pool.ts';
import type { Comparer, ContractCase } from './case.ts';

type TextFiles = Readonly<Record<string, string>>;

/** What a reference leads to: files, why it cannot be had, or an answer with nothing in it. */
type Recorded = TextFiles | string;

interface Entry {
  readonly code: string;
  readonly path: string;
}

/** Every local reference of a case is looked up by its text, wherever it stands: one base for all. */
const BASE = '';

/** One for all cases: its worker starts with the first schema, and does not keep the process from ending. */
const schemas = new SchemaPool();

export const comparers: Readonly<Record<string, Comparer>> = { validate: compareValidate };

async function compareValidate({ input, answer }: ContractCase): Promise<readonly string[]> {
  const files = input['files'] as TextFiles;
  const loaded = load(files['pacto.yaml'] ?? '');
  const expected = answer as Readonly<Record<string, unknown>>;
  const loadError = expected['loadError'] as string | undefined;
  if (!loaded.ok) return loadError === undefined ? [`loads when recorded, here: ${loaded.reason}`] : [];
  if (loadError !== undefined) return [`loads here, when recorded: ${loadError}`];

  const result = await validate(loaded, optionsOf(input));
  return [
    ...differences('errors', entries(expected['errors']), result.errors),
    ...differences('warnings', entries(expected['warnings']), result.warnings),
  ];
}

function optionsOf(input: ContractCase['input']): ValidateOptions {
  const files = bytesOf(input['files'] as TextFiles);
  const bundles = (input['bundles'] ?? {}) as Readonly<Record<string, Recorded>>;
  switch (input['mode']) {
    case 'inline':
      return { schemas };
    case 'resolver':
      return { schemas, files, base: BASE, resolver: recordedResolver(bundles) };
    case 'resolver-nil':
      return { schemas, files, base: BASE, resolver: 'none-but-demanded' };
    default:
      return { schemas, files, base: BASE };
  }
}

function recordedResolver(bundles: Readonly<Record<string, Recorded>>): PolicyResolver {
  return {
    resolve: (ref): Promise<PolicyResolution> => {
      const found = bundles[ref];
      if (typeof found !== 'object') {
        const reason = found === undefined ? 'no such bundle' : found === '' ? 'it holds no files' : found;
        return Promise.resolve({ ok: false, reason });
      }
      const loaded = load(found['pacto.yaml'] ?? '');
      if (!loaded.ok) return Promise.resolve({ ok: false, reason: loaded.reason });
      const base = ref.startsWith('oci://') ? undefined : BASE;
      return Promise.resolve({
        ok: true,
        bundle: { contract: loaded.contract, files: bytesOf(found), base },
      });
    },
  };
}

function bytesOf(files: TextFiles): ReadonlyMap<string, Uint8Array> {
  const encoder = new TextEncoder();
  return new Map(Object.entries(files).map(([path, text]) => [path, encoder.encode(text)]));
}

function entries(recorded: unknown): readonly Entry[] {
  return (recorded ?? []) as readonly Entry[];
}

/**
 * Codes and paths as sets (README). Of violations of the schema, one at or below each recorded place is enough, and none may
 * be elsewhere: their number depends on the validator.
 */
function differences(list: string, expected: readonly Entry[], actual: readonly Entry[]): readonly string[] {
  const missing = expected.filter((entry) => !actual.some((each) => stands(each, entry)));
  const surplus = actual.filter((each) => !expected.some((entry) => stands(each, entry)));
  const lines = [
    ...missing.map((entry) => `${list}: ${key(entry)} is missing`),
    ...surplus.map((entry) => `${list}: ${key(entry)} was not recorded`),
  ];
  return [...new Set(lines)];
}

/** Whether one of ours stands for a recorded one. */
function stands(ours: Entry, recorded: Entry): boolean {
  if (ours.code !== recorded.code) return false;
  if (ours.path === recorded.path) return true;
  const { code, path } = recorded;
  return code === 'SCHEMA_VIOLATION' && (path === '' || ours.path.startsWith(`${path}.`));
}

function key({ code, path }: Entry): string {
  return `${code} at ${JSON.stringify(path)}`;
}
