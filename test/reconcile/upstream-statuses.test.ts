/** Every status that was recorded of upstream, as what was there before: nobody is told again of what did not change. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Condition, PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { createPass } from '../../src/reconcile/cluster-pass.ts';
import { readContractOf } from '../../src/reconcile/contract-reading.ts';
import { createContractSource } from '../../src/reconcile/contract-source.ts';
import { createLiveView } from '../../src/reconcile/live-view.ts';
import type { PassResult } from '../../src/reconcile/pass.ts';
import { withDefaults } from '../conformance/operator/defaults.ts';
import { isScenario, type Scenario } from '../conformance/operator/scenario.ts';
import { FewKeywords } from '../policies/contract/few-keywords.ts';
import { anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';

const GOLDEN = new URL('../golden/operator/', import.meta.url);
const NAMESPACE = 'ns';
const MADE_MS = Date.parse('2026-11-30T12:00:00Z');

/** Of one moment and of the cluster alone, and without what upstream gets wrong. */
function scenarios(): readonly Scenario[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.startsWith('scenario-'))
    .flatMap((file) => JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as unknown[])
    .filter((one) => isScenario(one))
    .filter(({ note, input }) => {
      const { inline } = input.pacto['contractRef'] as { readonly inline?: string };
      return (
        inline !== undefined &&
        input.operator.group === 'default' &&
        // Siblings have verdicts of their own.
        !input.objects.some(({ kind }) => kind === 'Pacto') &&
        input.steps.every(([, action]) => action === 'touch') &&
        !/defect/i.test(note)
      );
    });
}

/** `T+3`: three seconds after the Pacto was made. */
function timed<T>(value: T): T {
  const text = JSON.stringify(value).replaceAll(/"T\+(\d+)"/g, (_, seconds: string) =>
    JSON.stringify(new Date(MADE_MS + Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')),
  );
  return JSON.parse(text) as T;
}

function kindOf(name: string): Kind {
  const found = Object.values(kinds).find((kind) => typeof kind === 'object' && kind.kind === name);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found as Kind;
}

async function lookAgain({ input, answer }: Scenario): Promise<PassResult> {
  const { lastReconciledAt = '' } = timed(answer.status) as PactoStatus;
  const clock = new FakeClock(Date.parse(lastReconciledAt) + 1_000);
  const cluster = createMemoryCluster({ clock });
  for (const object of input.objects)
    await cluster.create(kindOf(object.kind), withDefaults(object, NAMESPACE));
  for (const { name, spec, labels, status } of answer.revisions)
    await cluster.create(
      kinds.PACTO_REVISION,
      anObject(
        kinds.PACTO_REVISION,
        { namespace: NAMESPACE, name: String(name), labels: labels as Readonly<Record<string, string>> },
        { spec, status: timed(status) },
      ),
    );
  const schemas = new FewKeywords();
  const pass = createPass({
    source: createContractSource(() => Promise.reject(new Error('no registry')), clock),
    reader: { read: (_key, job) => readContractOf(job, schemas) },
    schemas,
    prober: { get: () => expect.unreachable(), protocols: () => expect.unreachable() },
    settings: { probing: false, metrics: false, nameMatch: false, nodeAgent: undefined },
    stabilizationMs: input.operator.stabilizationWindowSeconds * 1_000,
    clock,
    log: { error: (message) => expect.unreachable(message) },
  });
  const pacto: KubeObject = anObject(
    kinds.PACTO,
    { namespace: NAMESPACE, name: input.name, generation: answer.generation },
    { spec: { checkIntervalSeconds: 300, ...input.pacto }, status: timed(answer.status) },
  );
  const { signal } = new AbortController();
  const view = createLiveView({ cluster, namespaces: [], nodeAgent: undefined, signal });
  return await pass.look(readPacto(pacto), { view, signal });
}

function timesOf(conditions: readonly Condition[] = []): readonly string[] {
  return conditions.map(({ type, status, lastTransitionTime }) => `${type}=${status} ${lastTransitionTime}`);
}

describe('a status of upstream', () => {
  const all = scenarios();

  it('was recorded of many', () => {
    expect(all.length).toBeGreaterThan(60);
  });

  it.each(all.map((scenario) => [scenario.id, scenario.note, scenario] as const))(
    'is taken over in silence: %s, %s',
    async (_id, _note, scenario) => {
      const before = timed(scenario.answer.status) as PactoStatus;
      const { status, events, revision } = await lookAgain(scenario);
      expect(events).toEqual([]);
      expect(status.contractStatus).toBe(before.contractStatus);
      // Where upstream could not name one, ours is the first (operator.md §20, T10).
      expect([status.currentRevision, undefined]).toContain(before.currentRevision);
      expect(revision?.existing?.metadata.name).toBe(before.currentRevision && status.currentRevision);
      expect(timesOf(status.conditions).toSorted()).toEqual(timesOf(before.conditions).toSorted());
      expect(status.observationWindows).toEqual(before.observationWindows);
    },
  );
});
