/**
 * From upstream's operator to this one: each recorded scenario is brought to its end, then the Pacto has the status, and the
 * revisions, that upstream left. What follows must be silent: nobody is told again of what did not change.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EVENT, PACTO, PACTO_REVISION } from '../../src/cluster/kinds.ts';
import type { Condition, PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { readExceptions } from '../conformance/exceptions.ts';
import { endOf, isScenario, type Scenario } from '../conformance/operator/scenario.ts';
import { World } from '../conformance/operator/world.ts';
import { anObject } from '../support/builders.ts';

const GOLDEN = new URL('../golden/operator/', import.meta.url);
const STEP_MS = 250;
/** Until after the next look, were one due. */
const AFTER_MS = 2_000;

interface Change {
  /** Statement in operator.md. */
  readonly why: string;
  readonly status?: string;
  readonly events?: readonly string[];
  readonly revisions?: number;
  /** Conditions that go. */
  readonly gone?: readonly string[];
  /** Conditions that become another. */
  readonly turned?: readonly string[];
  /** Streaks that end. */
  readonly windows?: readonly string[];
}

const RECOVERED = ['Normal ContractRecovered'];
const CREATED = ['Normal RevisionCreated'];

/** What becomes different, and must: where upstream was wrong, it is put right once. */
const CHANGES: Readonly<Record<string, Change>> = {
  'scenario-040': {
    why: 'the vector has an ordinary layer where a broken one was recorded',
    status: 'Reference',
    events: [...RECOVERED, ...CREATED],
    revisions: 1,
    turned: ['ContractValid'],
  },
  'scenario-063': {
    why: 'T4: the content that upstream has no revision of is told once more, and then has one',
    events: [...CREATED, 'Warning TagOverwritten'],
    revisions: 1,
  },
  'scenario-065': { why: 'T10: a version that upstream has no revision of', events: CREATED, revisions: 1 },
  'scenario-066': { why: 'T10: a version that upstream has no revision of', events: CREATED, revisions: 1 },
  'scenario-069': { why: 'T10: a name that upstream has no revision of', events: CREATED, revisions: 1 },
  'scenario-130': {
    why: 'T2: what reads as absent is there',
    status: 'Compliant',
    events: RECOVERED,
    windows: [],
  },
  'scenario-154': {
    why: 'T2: what reads as absent is there',
    status: 'Compliant',
    events: RECOVERED,
    windows: [],
  },
  'scenario-201': { why: 'T3: the provider is found', status: 'Compliant', events: RECOVERED },
  'scenario-209': {
    why: '§5.4: a version that does not fit, by the rule of 6.4',
    status: 'NonCompliant',
    events: ['Warning ValidationFailed'],
  },
  'scenario-223': { why: 'T5: it does not apply any more', gone: ['ReadinessSatisfied'] },
  'scenario-228': { why: 'T5: it does not apply any more', gone: ['RuntimeObserved'] },
};

const scenarios = readdirSync(GOLDEN)
  .filter((file) => file.startsWith('scenario-'))
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as unknown[])
  .filter((one) => isScenario(one));

/** `T+3`: three seconds after the Pacto was made. */
function timed<T>(value: T, beginMs: number): T {
  const text = JSON.stringify(value).replaceAll(/"T([+-]\d+)"/g, (_, seconds: string) =>
    JSON.stringify(new Date(beginMs + Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, 'Z')),
  );
  return JSON.parse(text) as T;
}

/** Where a contract's own text names the registry it was another name that was hashed. */
function withOwnHash({ input }: Scenario, text: string): string {
  const { inline } = input.pacto['contractRef'] as { readonly inline?: string };
  if (inline?.includes('registry.test') !== true) return text;
  const hash = createHash('sha256').update(inline).digest('hex');
  return text
    .replaceAll(/("p-\d+-\d+-\d+)-[0-9a-f]{7}"/g, `$1-${hash.slice(0, 7)}"`)
    .replaceAll(/"contractHash":"[0-9a-f]{64}"/g, `"contractHash":"${hash}"`);
}

/** @returns how the world is when the recording ends, and when it began. */
async function played(scenario: Scenario): Promise<{ readonly world: World; readonly beginMs: number }> {
  const world = await World.open(scenario);
  onTestFinished(() => world.close());
  await world.begin();
  const beginMs = world.clock.now();
  const steps = [...scenario.input.steps];
  const endMs = beginMs + endOf(scenario) * 1_000;
  while (world.clock.now() < endMs) {
    const [next] = steps;
    if (next !== undefined && beginMs + next[0] * 1_000 <= world.clock.now()) {
      steps.shift();
      await world.step(next);
    } else await world.turn(STEP_MS);
  }
  return { world, beginMs };
}

interface Left {
  readonly status: PactoStatus;
  readonly revisions: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly spec: unknown;
    readonly status: { readonly createdAt?: string };
  }[];
}

function leftBy(scenario: Scenario, beginMs: number): Left {
  const { status, revisions } = timed(scenario.answer, beginMs);
  const left = JSON.parse(withOwnHash(scenario, JSON.stringify({ status, revisions }))) as Left;
  const madeAt = ({ status: { createdAt = '' } }: Left['revisions'][number]): string => createdAt;
  return { ...left, revisions: left.revisions.toSorted((a, b) => (madeAt(a) < madeAt(b) ? -1 : 1)) };
}

async function handOver(world: World, { status, revisions }: Left): Promise<void> {
  const { cluster } = world;
  for (const { metadata } of await world.revisions())
    await cluster.delete(PACTO_REVISION, { namespace: 'ns', name: metadata.name ?? '' });
  for (const { metadata } of await world.events())
    await cluster.delete(EVENT, { namespace: 'ns', name: metadata.name ?? '' });
  for (const { name, labels, spec, status: of } of revisions) {
    // Which of two is the newer one is told by seconds.
    await world.clock.advance(1_000);
    const object = anObject(PACTO_REVISION, { namespace: 'ns', name, labels }, { spec });
    await cluster.replaceStatus(PACTO_REVISION, {
      ...(await cluster.create(PACTO_REVISION, object)),
      status: of,
    });
  }
  const pacto = await world.pacto();
  if (pacto !== undefined) await cluster.replaceStatus(PACTO, { ...pacto, status });
}

/** Of this Pacto, without what the mirror says in each of its rounds, as upstream's does. */
async function saidOf(world: World, name: string): Promise<readonly string[]> {
  const events = (await world.events()) as unknown as readonly {
    readonly involvedObject: { readonly name: string };
    readonly type: string;
    readonly reason: string;
    readonly message: string;
  }[];
  return events
    .filter(
      ({ involvedObject, message }) =>
        involvedObject.name === name && !message.startsWith('Revision mirror failed'),
    )
    .map(({ type, reason }) => `${type} ${reason}`)
    .sort();
}

function timesOf(conditions: readonly Condition[] = [], without: readonly string[] = []): readonly string[] {
  return conditions
    .filter(({ type }) => !without.includes(type))
    .map(({ type, status, lastTransitionTime }) => `${type}=${status} ${lastTransitionTime}`)
    .sort();
}

function typesOf({ conditions = [] }: PactoStatus): readonly string[] {
  return conditions.map(({ type }) => type);
}

function windowsOf({ observationWindows = [] }: PactoStatus): readonly string[] {
  return observationWindows
    .map(({ kind, subject, firstObservedNegativeAt }) => `${kind}/${subject} ${firstObservedNegativeAt}`)
    .sort();
}

describe('what upstream left', () => {
  it('differs only where a recorded scenario is listed as an exception', () => {
    const exceptions = readExceptions(readFileSync('docs/conformance.md', 'utf8'));
    expect(Object.keys(CHANGES).filter((id) => !exceptions.has(id))).toEqual([]);
  });

  it.each(scenarios.map((scenario) => [scenario.id, scenario.note, scenario] as const))(
    'is taken over in silence: %s, %s',
    async (id, _note, scenario) => {
      const { world, beginMs } = await played(scenario);
      const left = leftBy(scenario, beginMs);
      await world.replaceReconciler(() => handOver(world, left));
      await world.turn(AFTER_MS);
      const change: Partial<Change> = CHANGES[id] ?? {};
      const { gone = [], turned = [] } = change;
      const now: PactoStatus = (await world.pacto())?.['status'] ?? {};
      const before = left.status;
      const isOwn = (name = ''): boolean => name.startsWith(`${scenario.input.name}-`);
      const revisions = (await world.revisions()).filter(({ metadata }) => isOwn(metadata.name));
      expect({
        status: now.contractStatus,
        events: await saidOf(world, scenario.input.name),
        revisions: revisions.length,
        conditions: timesOf(now.conditions, turned),
        gone: typesOf(before).filter((type) => !typesOf(now).includes(type)),
        windows: windowsOf(now),
      }).toEqual({
        status: change.status ?? before.contractStatus,
        events: change.events ?? [],
        revisions: left.revisions.filter(({ name }) => isOwn(name)).length + (change.revisions ?? 0),
        conditions: timesOf(before.conditions, [...turned, ...gone]),
        gone,
        windows: change.windows ?? windowsOf(before),
      });
    },
  );
});
