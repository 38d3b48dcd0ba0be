import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openMetrics } from '../../src/app/metrics.ts';
import { PACTO } from '../../src/cluster/kinds.ts';
import type { PactoFacts } from '../../src/metrics-pactos.ts';
import { CONTRACT_STATUSES } from '../../src/policies/contract/status-ladder.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { gaugeFacts } from '../../src/reconcile/gauges.ts';
import { isScenario, type Scenario } from '../conformance/operator/scenario.ts';
import { anObject } from '../support/builders.ts';

const GOLDEN = new URL('../golden/operator/', import.meta.url);

function recorded(): readonly Scenario[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.startsWith('scenario-'))
    .flatMap((file) => JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as unknown[])
    .filter((one) => isScenario(one));
}

function facts(name: string, status: unknown): PactoFacts {
  return gaugeFacts(readPacto(anObject(PACTO, { namespace: 'ns', name }, { spec: {}, status })));
}

/** Lines of Pactos at a scrape, their labels in any order. */
function scraper(): { readonly pactos: PactoFacts[]; readonly lines: () => Promise<readonly string[]> } {
  const pactos: PactoFacts[] = [];
  const metrics = openMetrics([], { lost: () => 0 });
  metrics.observePactos(CONTRACT_STATUSES, () => pactos);
  return {
    pactos,
    async lines() {
      const { body } = await metrics.scrape();
      return sorted(body.split('\n').filter((line) => /^pacto_(?:contract|readiness)_/.test(line)));
    },
  };
}

function sorted(lines: readonly string[]): readonly string[] {
  return lines
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
      return `${name} ${labels.split(',').sort().join(',')} ${value}`;
    })
    .sort();
}

describe('the gauges of a Pacto', () => {
  // One whose block is gone keeps its series upstream (operator.md §20, T6).
  const scenarios = recorded().filter(
    ({ answer }) =>
      answer.metrics.length > 0 &&
      (answer.status['readiness'] !== undefined ||
        !answer.metrics.some((line) => line.startsWith('pacto_readiness'))),
  );

  it('were recorded of many', () => {
    expect(scenarios.length).toBeGreaterThan(150);
    expect(scenarios.filter(({ answer }) => answer.status['readiness'] !== undefined).length).toBeGreaterThan(
      3,
    );
  });

  it.each(scenarios.map((scenario) => [scenario.id, scenario] as const))(
    'are, for a recorded status, the recorded lines: %s',
    async (_id, { input, answer }) => {
      const { pactos, lines } = scraper();
      pactos.push(facts(input.name, answer.status));
      expect(await lines()).toEqual(sorted(answer.metrics));
    },
  );

  it('end with the Pacto, and those of readiness with its block (T6)', async () => {
    const { pactos, lines } = scraper();
    const readiness = { score: 60, minScore: 100, doneCount: 1 };
    pactos.push(
      facts('a', { contractStatus: 'Compliant', readiness }),
      facts('b', { contractStatus: 'Invalid' }),
    );
    const count = async (name: string): Promise<number> =>
      (await lines()).filter((line) => line.includes(`name="${name}"`)).length;
    expect(await count('a')).toBe(7 + 1 + 1 + 3 + 4);
    expect(await count('b')).toBe(7);
    pactos.splice(0, 2, facts('a', { contractStatus: 'Compliant' }));
    expect(await count('a')).toBe(7);
    expect(await count('b')).toBe(0);
  });

  it('are none before the first look', async () => {
    const { pactos, lines } = scraper();
    pactos.push(facts('a', undefined), facts('b', { contractStatus: 'Splendid' }));
    expect(await lines()).toEqual([]);
  });
});

describe('the state of readiness', () => {
  it.each([
    [{ score: 100, passing: true }, 'Satisfied', true],
    [{ score: 60 }, 'BelowMinScore', false],
    [{ expired: true }, 'Expired', false],
    [{ expired: true, passing: true }, 'Expired', true],
    [{ score: 'many', passing: 'yes', expired: 1, doneCount: Number.NaN }, 'BelowMinScore', false],
  ])('of %j is %s', (readiness, state, passing) => {
    expect(facts('a', { readiness }).readiness).toMatchObject({ state, passing });
  });

  it.each([[null], [7], ['x'], [[]]])('is none of what is no block: %j', (readiness) => {
    expect(facts('a', { contractStatus: 'Compliant', readiness }).readiness).toBeUndefined();
  });

  it('counts as nothing what is no number', () => {
    expect(facts('a', { readiness: { score: 'x', doneCount: null } }).readiness).toMatchObject({
      score: 0,
      checks: { done: 0, partial: 0, 'not-done': 0, deferred: 0 },
    });
  });
});
