/** Runs the cases of test/golden/contract, or of another folder in its format. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from '../../src/json.ts';
import { comparers as bundles } from './contract/bundle-ops.ts';
import type { Comparer, ContractCase } from './contract/case.ts';
import { comparers as evaluations } from './contract/evaluate-ops.ts';
import { comparers as loads } from './contract/load.ts';
import { comparers as overrides } from './contract/override.ts';
import { comparers as readiness } from './contract/readiness.ts';
import { comparers as validations } from './contract/validate.ts';
import { comparers as versions } from './contract/version-ops.ts';
import type { FamilyResult, Failure, Suite, SuiteOptions } from './suite.ts';

const COMPARERS = new Map<string, Comparer>(
  [bundles, evaluations, loads, overrides, readiness, validations, versions].flatMap((each) =>
    Object.entries(each),
  ),
);

/** What the program does not do yet: named as left out. */
const LATER: ReadonlySet<string> = new Set(['diff', 'graph', 'envelope', 'ingest', 'contenthash']);

export const contractSuite: Suite = {
  name: 'contract',

  async recognises(directory: string): Promise<boolean> {
    for (const name of await jsonFiles(directory)) {
      if ((await readCases(directory, name)) !== undefined) return true;
    }
    return false;
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    for (const name of await jsonFiles(directory)) {
      if (only !== undefined && `${only}.json` !== name) continue;
      const cases = await readCases(directory, name);
      if (cases !== undefined) yield runFamily(name.replace(/\.json$/, ''), cases);
    }
  },
};

async function runFamily(family: string, cases: readonly ContractCase[]): Promise<FamilyResult> {
  const compared = cases.filter(({ op }) => !LATER.has(op));
  const failures: Failure[] = [];
  for (const recorded of compared) {
    const lines = await differences(recorded);
    if (lines.length > 0) failures.push({ id: recorded.id, detail: lines.join('\n') });
  }
  return {
    family,
    total: compared.length,
    failures,
    ids: compared.map(({ id }) => id),
    ...(compared.length < cases.length && { left: 'not in this version' }),
  };
}

async function differences(recorded: ContractCase): Promise<readonly string[]> {
  const compare = COMPARERS.get(recorded.op);
  if (compare === undefined) return [`nothing compares the operation ${recorded.op}`];
  try {
    return await compare(recorded);
  } catch (error) {
    return [`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

async function jsonFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

/** @returns undefined for a file of another format */
async function readCases(directory: string, name: string): Promise<readonly ContractCase[] | undefined> {
  const file: unknown = readJson(await readFile(join(directory, name)));
  if (!Array.isArray(file)) return undefined;
  const [first] = file as readonly Partial<ContractCase>[];
  return typeof first?.id === 'string' && typeof first.op === 'string'
    ? (file as readonly ContractCase[])
    : undefined;
}
