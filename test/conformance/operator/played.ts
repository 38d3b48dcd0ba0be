/** Plays a scenario and writes down what there is to see, in the form of the recording. */
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { endOf, type RecordedEvent, type Scenario, type Transition } from './scenario.ts';
import { World } from './world.ts';

/** How often is looked; the recording looked each 0.4 s. */
const STEP_MS = 250;

export interface Played {
  readonly status: Readonly<Record<string, unknown>>;
  readonly generation: number;
  readonly transitions: readonly Transition[];
  readonly revisions: readonly Readonly<Record<string, unknown>>[];
  readonly events: readonly Pick<RecordedEvent, 'type' | 'reason' | 'message' | 'count'>[];
  readonly metrics: readonly string[];
  readonly log: readonly string[];
}

export async function play(scenario: Scenario): Promise<Played> {
  const world = await World.open(scenario);
  try {
    await world.begin();
    const beginMs = world.clock.now();
    const seconds = (): number => (world.clock.now() - beginMs) / 1_000;
    const transitions: Transition[] = [];
    const look = async (): Promise<void> => {
      const seen = transitionOf(await world.pacto(), seconds());
      const last = transitions.at(-1);
      if (seen !== undefined && (last === undefined || textOf(last) !== textOf(seen))) transitions.push(seen);
    };
    await look();
    const steps = [...scenario.input.steps];
    const end = endOf(scenario);
    while (seconds() < end) {
      const next = steps[0];
      if (next !== undefined && next[0] <= seconds()) {
        steps.shift();
        await world.step(next);
      } else await world.turn(STEP_MS);
      await look();
    }
    const pacto = await world.pacto();
    return {
      status: (pacto?.['status'] ?? {}) as Readonly<Record<string, unknown>>,
      generation: pacto?.metadata.generation ?? 0,
      transitions,
      revisions: (await world.revisions()).map(revisionOf),
      events: (await world.events()).map(eventOf),
      metrics: (await world.scrape()).filter((line) => line.includes(`name="${scenario.input.name}"`)),
      log: world.log,
    };
  } finally {
    await world.close();
  }
}

interface StatusShape {
  readonly contractStatus?: string;
  readonly findings?: readonly {
    readonly code: string;
    readonly subject?: string;
    readonly severity: string;
  }[];
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
  }[];
  readonly observationWindows?: readonly { readonly kind: string; readonly subject: string }[];
  readonly currentRevision?: string;
}

/** Undefined before the first look. */
function transitionOf(pacto: KubeObject | undefined, at: number): Transition | undefined {
  const status = pacto?.['status'] as StatusShape | undefined;
  if (status === undefined) return undefined;
  return {
    at,
    contractStatus: status.contractStatus ?? null,
    findings: (status.findings ?? []).map(
      ({ code, subject = '/', severity }) => `${code} ${subject} ${severity}`,
    ),
    conditions: (status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is}/${reason}`),
    windows: (status.observationWindows ?? []).map(({ kind, subject }) => `${kind}/${subject}`),
    currentRevision: status.currentRevision ?? null,
  };
}

/** Without its time. */
export function textOf({ at: _at, ...rest }: Transition): string {
  const { contractStatus, findings, conditions, windows, currentRevision } = rest;
  return JSON.stringify([
    contractStatus,
    [...findings].sort(),
    [...conditions].sort(),
    [...windows].sort(),
    currentRevision,
  ]);
}

function revisionOf({ metadata, spec, status }: KubeObject): Readonly<Record<string, unknown>> {
  const { createdAt: _createdAt, ...rest } = (status ?? {}) as { createdAt?: unknown };
  return {
    name: metadata.name,
    labels: metadata.labels,
    owner: (metadata.ownerReferences ?? []).map(({ kind, name, controller, blockOwnerDeletion }) => ({
      kind,
      name,
      controller,
      blockOwnerDeletion,
    })),
    spec,
    status: rest,
  };
}

function eventOf(event: KubeObject): Played['events'][number] {
  const { type, reason, message, count } = event as unknown as RecordedEvent;
  return { type, reason, message, count };
}
