/** Runs the cases of test/golden/vap, or of another folder in its format. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from '../../src/json.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import type { FamilyResult, Suite, SuiteOptions } from './suite.ts';
import { runFamily, type CaseRunner, type RecordedCase } from './vap-family.ts';
import { requestRunner } from './vap-requests.ts';
import { TypeCheckRunner } from './vap-typechecks.ts';
import { writeRunner } from './vap-writes.ts';

const RUNNERS: readonly CaseRunner[] = [requestRunner, writeRunner, new TypeCheckRunner()];

interface FamilyFile {
  readonly family: string;
  readonly cases: readonly RecordedCase[];
}

export const vapSuite: Suite = {
  name: 'vap',

  async recognises(directory: string): Promise<boolean> {
    for (const name of await jsonFiles(directory)) {
      if ((await readFamily(directory, name)) !== undefined) return true;
    }
    return false;
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    const cel = new Cel();
    for (const name of await jsonFiles(directory)) {
      if (only !== undefined && `${only}.json` !== name) continue;
      const file = await readFamily(directory, name);
      if (file !== undefined) yield runFamily(file.family, file.cases, RUNNERS, cel);
    }
  },
};

async function jsonFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

/** @returns undefined for a file of another format */
async function readFamily(directory: string, name: string): Promise<FamilyFile | undefined> {
  const file = readJson(await readFile(join(directory, name))) as Partial<FamilyFile>;
  const { family, cases } = file;
  return typeof family === 'string' && Array.isArray(cases) ? { family, cases } : undefined;
}
