/**
 * The recorded scenarios of the operator: what differs is what docs/conformance.md lists, no more and no less, and each of
 * these differs in just what its reason is about, so that no exception hides another fault.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readExceptions } from './exceptions.ts';
import { operatorSuite } from './operator.ts';
import { differences } from './operator/differences.ts';
import { play } from './operator/played.ts';
import type { Scenario } from './operator/scenario.ts';
import type { FamilyResult } from './suite.ts';

const DIRECTORY = 'test/golden/operator';

const VERDICT = ['contractStatus', 'evaluationCoverage', 'findings', 'summary'].map((one) => `status.${one}`);
const NEW_REVISION = ['status.currentRevision', 'transitions', 'revisions', 'events'];

/** What of each exception differs. */
const DIFFERS: Readonly<Record<string, readonly string[]>> = {
  'scenario-040': [
    ...['conditions', 'contract', 'contractStatus', 'contractVersion', 'summary', 'validation'].map(
      (one) => `status.${one}`,
    ),
    ...NEW_REVISION,
    'metrics',
  ],
  'scenario-048': ['events'],
  'scenario-063': NEW_REVISION,
  'scenario-065': NEW_REVISION,
  'scenario-066': NEW_REVISION,
  'scenario-069': NEW_REVISION,
  'scenario-130': [
    'status.contractStatus',
    'status.findings',
    'status.observationWindows',
    'status.summary',
    'transitions',
    'events',
    'metrics',
  ],
  'scenario-142': ['status.findings', 'transitions'],
  'scenario-154': [...VERDICT, 'status.observationWindows', 'transitions', 'events', 'metrics'],
  'scenario-201': [...VERDICT, 'transitions', 'events', 'metrics'],
  'scenario-209': [...VERDICT, 'transitions', 'events', 'metrics'],
  'scenario-223': ['status.conditions', 'transitions', 'metrics'],
  'scenario-225': ['transitions'],
  'scenario-228': ['status.conditions', 'transitions'],
};

/** The first words of each line: what is compared. */
function partsOf(detail: string): readonly string[] {
  return [
    ...detail.matchAll(/^(status\.\w+|generation|transitions?|revisions|events|metrics|threw)\b/gm),
  ].map(([, part = '']) => part);
}

describe('the recorded scenarios of the operator', () => {
  const exceptions = readExceptions(readFileSync('docs/conformance.md', 'utf8'));
  const listed = [...exceptions.keys()].filter((id) => id.startsWith('scenario-'));
  const results: FamilyResult[] = [];

  beforeAll(async () => {
    for await (const result of operatorSuite.run(DIRECTORY, { only: undefined })) results.push(result);
  });

  const failures = (): FamilyResult['failures'] => results.flatMap((result) => result.failures);

  it('are played', () => {
    expect(results.length).toBeGreaterThan(15);
    expect(results.flatMap(({ ids }) => ids).length).toBeGreaterThan(160);
  });

  it('come out as recorded, but for those that are listed', () => {
    const unlisted = failures().filter(({ id }) => !exceptions.has(id));
    expect(unlisted).toEqual([]);
  });

  it('differ where they are listed', () => {
    expect(failures().map(({ id }) => id)).toEqual(expect.arrayContaining(listed));
    expect(listed.toSorted()).toEqual(Object.keys(DIFFERS));
  });

  it.each(Object.entries(DIFFERS))('%s differs in what its reason is about alone', (id, parts) => {
    const detail = failures().find((one) => one.id === id)?.detail ?? '';
    expect(partsOf(detail).toSorted()).toEqual(parts.toSorted());
  });

  it('scenario-040 comes out as recorded once its layer is what its note says', async () => {
    const all = JSON.parse(readFileSync(`${DIRECTORY}/scenario-source.json`, 'utf8')) as readonly Scenario[];
    const scenario = all.find(({ id }) => id === 'scenario-040');
    expect(scenario?.note).toBe('layer is no gzip tar');
    if (scenario === undefined) return;
    const pushed = scenario.input.pushed.map((bundle) => ({ ...bundle, raw: 'no archive' }));
    const played = await play({ ...scenario, input: { ...scenario.input, pushed } });
    expect(differences(scenario, played)).toEqual([]);
  });

  it('are counted in docs/conformance.md, family by family', () => {
    const page = readFileSync('docs/conformance.md', 'utf8');
    const rows = [...page.matchAll(/^\| `(scenario-[a-z-]+)` *\| (\d+) /gm)];
    expect(rows.map(([, family, total]) => [family, Number(total)])).toEqual(
      results.map(({ family, total }) => [family, total]),
    );
  });
});
