/** docs/observations.md, row by row: a situation without a row, a row without a situation and another outcome all fail. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DIMENSIONS } from '../../src/reconcile/collect.ts';
import { observeMetrics } from '../../src/reconcile/observe/metrics.ts';
import { look, type Scene } from './observe/survey.ts';
import { AGENTS_ON_DEPENDENCIES, AGENTS_ON_INTERFACES } from './observations/agent-tables.ts';
import {
  ACTIVE_HEALTH,
  HEALTH,
  METRICS,
  METRICS_PLACES,
  PASSIVE_HEALTH,
} from './observations/capability-tables.ts';
import { cellsOf, type DecisionTable } from './observations/decision.ts';
import { DEPENDENCIES, VERSIONS } from './observations/dependency-tables.ts';
import { AVAILABILITY, EXPOSURE, PROTOCOL } from './observations/interface-tables.ts';
import { CONFIGURATIONS, PERSISTENCE, WORKLOAD } from './observations/object-tables.ts';

const TABLES: readonly DecisionTable[] = [
  AVAILABILITY,
  PROTOCOL,
  EXPOSURE,
  DEPENDENCIES,
  VERSIONS,
  HEALTH,
  ACTIVE_HEALTH,
  PASSIVE_HEALTH,
  METRICS,
  CONFIGURATIONS,
  WORKLOAD,
  PERSISTENCE,
  AGENTS_ON_INTERFACES,
  AGENTS_ON_DEPENDENCIES,
];

const page = readFileSync('docs/observations.md', 'utf8');

/** Rows of the first table behind a heading, without its head. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^#+ /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  const [, table = ''] = /\n((?:\|.*\n)+)/.exec(section) ?? [];
  const rows = table.trimEnd().split('\n');
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function scenesOf(table: Pick<DecisionTable, 'scenes'>): readonly (readonly [string, Scene])[] {
  return Object.entries(table.scenes).flatMap(([situation, scenes]) =>
    [scenes].flat().map((scene) => [situation, scene] as const),
  );
}

describe.each(TABLES.map((table) => [table.heading, table] as const))('%s', (heading, table) => {
  const rows = new Map(rowsOf(heading).map(([situation = '', ...cells]) => [situation, cells]));

  it('has a row for each situation, and no other', () => {
    expect([...rows.keys()]).toEqual(Object.keys(table.scenes));
    expect(rows.size).toBe(rowsOf(heading).length);
  });

  it.each(scenesOf(table))('says what comes of: %s', async (situation, scene) => {
    expect(await cellsOf(table, scene)).toEqual(rows.get(situation));
  });
});

describe('where metrics are', () => {
  const rows = rowsOf('Where metrics are');

  it('has a row for each way, in the order in which they are tried', () => {
    expect(rows.map(([way]) => way)).toEqual(Object.keys(METRICS_PLACES));
  });

  it.each(Object.entries(METRICS_PLACES))('says what is asked by: %s', async (way, scene) => {
    const asked: string[] = [];
    const { observations } = await look(observeMetrics, {
      ...scene,
      prober: {
        get: ({ port }, path) => {
          asked.push(`port ${String(port)}, \`${path}\``);
          return Promise.resolve({
            answered: true,
            status: 200,
            contentType: 'text/plain',
            body: Buffer.from('up 1\n'),
          });
        },
      },
    });
    const collectors = observations.map(({ provenance }) => `\`${provenance.collector}\``);
    expect([way, ...asked, ...collectors]).toEqual(rows.find(([one]) => one === way));
  });
});

describe('what is read', () => {
  const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'ReplicaSet', 'Job', 'CronJob']);
  const OF: Readonly<Record<string, readonly DecisionTable[]>> = {
    Availability: [AVAILABILITY],
    Protocol: [PROTOCOL],
    Exposure: [EXPOSURE],
    'Dependencies and their versions': [DEPENDENCIES, VERSIONS],
    Health: [HEALTH, ACTIVE_HEALTH, PASSIVE_HEALTH],
    Metrics: [METRICS, { ...METRICS, scenes: METRICS_PLACES }],
    Configurations: [CONFIGURATIONS],
    Workload: [WORKLOAD],
    Persistence: [PERSISTENCE],
    'Node agents, beside these': [AGENTS_ON_INTERFACES, AGENTS_ON_DEPENDENCIES],
  };

  async function kindsReadBy(tables: readonly DecisionTable[]): Promise<ReadonlySet<string>> {
    const read = new Set<string>();
    for (const table of tables)
      for (const [, scene] of scenesOf(table))
        await look(table.dimension, {
          ...scene,
          onRead: ({ kind }) => void read.add(WORKLOADS.has(kind) ? 'the workload' : kind),
        });
    return read;
  }

  it('has a row for each dimension, and no other', () => {
    expect(rowsOf('What is read').map(([dimension]) => dimension)).toEqual(Object.keys(OF));
    const dimensions = new Set(Object.values(OF).flatMap((tables) => tables.map((one) => one.dimension)));
    expect(dimensions).toEqual(new Set(DIMENSIONS.map(({ observe }) => observe)));
  });

  it.each(Object.entries(OF))('names the kinds that are read for: %s', async (dimension, tables) => {
    const [, cell = ''] = rowsOf('What is read').find(([one]) => one === dimension) ?? [];
    const named = new Set(cell.replace(' (metadata alone)', '').split(', '));
    const isOfAgents = dimension.startsWith('Node agents');
    const without = isOfAgents
      ? await kindsReadBy([AVAILABILITY, DEPENDENCIES, VERSIONS])
      : new Set<string>();
    expect(named).toEqual((await kindsReadBy(tables)).difference(without));
  });
});
