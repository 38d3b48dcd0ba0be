/** Runs the cases of test/golden/vap, or of another folder in its format. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from '../../src/json.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import type { FamilyResult, Failure, Suite, SuiteOptions } from './suite.ts';
import { outcomesOf, policySetOf, type RequestCase } from './vap-case.ts';
import { requestDifferences } from './vap-differences.ts';

interface FamilyFile {
  readonly family: string;
  readonly cases: readonly (RequestCase | { readonly id: string })[];
}

export const vapSuite: Suite = {
  name: 'vap',

  async recognises(directory: string): Promise<boolean> {
    for (const name of await jsonFiles(directory)) {
      const file = await readFamily(directory, name);
      if (typeof file.family === 'string' && Array.isArray(file.cases)) return true;
    }
    return false;
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    const cel = new Cel();
    for (const name of await jsonFiles(directory)) {
      if (only !== undefined && `${only}.json` !== name) continue;
      const { family, cases } = await readFamily(directory, name);
      yield runRequests(family, cases.filter(isRequestCase), cel);
    }
  },
};

async function jsonFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

async function readFamily(directory: string, name: string): Promise<FamilyFile> {
  return readJson(await readFile(join(directory, name))) as FamilyFile;
}

function isRequestCase(one: RequestCase | { readonly id: string }): one is RequestCase {
  return 'bindings' in one && 'review' in one;
}

/** What a webhook cannot know is left out, by name. */
export function runRequests(family: string, cases: readonly RequestCase[], cel: Cel): FamilyResult {
  const left = new Map<string, string[]>();
  const failures: Failure[] = [];
  let total = 0;
  for (const one of cases) {
    const reason = reasonToLeave(one);
    if (reason !== undefined) {
      left.set(reason, [...(left.get(reason) ?? []), one.id]);
      continue;
    }
    total += 1;
    const detail = failureOf(one, cel);
    if (detail !== undefined) failures.push({ id: one.id, detail });
  }
  const texts = [...left].map(([reason, ids]) => `${reason}: ${ids.join(' ')}`);
  return { family, total, failures, ...(texts.length === 0 ? {} : { left: texts.join('; ') }) };
}

function reasonToLeave({ review, numberTypeLost }: RequestCase): string | undefined {
  if (review === null) return 'a webhook never sees it';
  return numberTypeLost === undefined ? undefined : 'the review has lost the type of a number';
}

function failureOf(one: RequestCase, cel: Cel): string | undefined {
  try {
    const found = requestDifferences(one, outcomesOf(one, policySetOf(one, cel)));
    return found.length === 0 ? undefined : found.join('\n');
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
}
