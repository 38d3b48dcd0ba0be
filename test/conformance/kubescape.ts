/** Runs the kubescape set: cases of a public library's policies, read where they lie. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from '../../src/json.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import type { FamilyResult, Suite, SuiteOptions } from './suite.ts';
import { runFamily, type RecordedCase } from './vap-family.ts';
import { requestRunner } from './vap-requests.ts';

/** Families by their files. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['kubescape', 'cases.json'],
  ['kubescape-derived', 'derived.json'],
]);

export const kubescapeSuite: Suite = {
  name: 'kubescape',

  async recognises(directory: string): Promise<boolean> {
    const names = await readdir(directory).catch((): string[] => []);
    return [...FILES.values(), 'policies'].every((name) => names.includes(name));
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    const cel = new Cel();
    for (const [family, file] of FILES) {
      if (only !== undefined && only !== family) continue;
      const cases = readJson(await readFile(join(directory, file))) as readonly RecordedCase[];
      yield runFamily(family, cases, [requestRunner], cel);
    }
  },
};
