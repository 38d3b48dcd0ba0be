/** Runs the scenarios of test/golden/operator through the real reconciler; the families `crd-*` need a real API server. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { differences } from './operator/differences.ts';
import { play } from './operator/played.ts';
import { isScenario, type Scenario } from './operator/scenario.ts';
import type { FamilyResult, Failure, Suite, SuiteOptions } from './suite.ts';

/** Scenarios that are played at the same time: they wait more than they work. */
const AT_ONCE = 4;

export const operatorSuite: Suite = {
  name: 'operator',

  async recognises(directory: string): Promise<boolean> {
    for (const name of await scenarioFiles(directory))
      if ((await readScenarios(directory, name)).length > 0) return true;
    return false;
  },

  async *run(directory: string, { only }: SuiteOptions): AsyncIterable<FamilyResult> {
    for (const name of await scenarioFiles(directory)) {
      if (only !== undefined && `${only}.json` !== name) continue;
      yield await runFamily(name.replace(/\.json$/, ''), await readScenarios(directory, name));
    }
  },
};

async function runFamily(family: string, scenarios: readonly Scenario[]): Promise<FamilyResult> {
  const failures: Failure[] = [];
  const waiting = [...scenarios];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const lines = await differencesOf(next);
      if (lines.length > 0) failures.push({ id: next.id, detail: lines.join('\n') });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  failures.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { family, total: scenarios.length, failures, ids: scenarios.map(({ id }) => id) };
}

async function differencesOf(scenario: Scenario): Promise<readonly string[]> {
  try {
    const played = await play(scenario);
    const lines = differences(scenario, played);
    return lines.length === 0 ? [] : [...lines, ...played.log.map((line) => `log: ${line}`)];
  } catch (error) {
    return [`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

async function scenarioFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.filter((name) => /^scenario-.*\.json$/.test(name)).sort();
}

async function readScenarios(directory: string, name: string): Promise<readonly Scenario[]> {
  const file: unknown = JSON.parse(await readFile(join(directory, name), 'utf8'));
  return Array.isArray(file) ? file.filter(isScenario) : [];
}
