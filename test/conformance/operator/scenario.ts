/** A recorded scenario of the operator, as the README of the set describes it. */
import type { KubeObject } from '../../../src/cluster/objects.ts';

export interface Scenario {
  readonly id: string;
  readonly op: 'operator';
  readonly note: string;
  readonly input: {
    /** `spec` of the Pacto, and its name. */
    readonly pacto: Readonly<Record<string, unknown>>;
    readonly name: string;
    readonly objects: readonly KubeObject[];
    readonly pushed: readonly Pushed[];
    readonly steps: readonly Step[];
    readonly operator: {
      readonly group: 'default' | 'errors' | 'probing' | 'namematch';
      readonly stabilizationWindowSeconds: number;
    };
  };
  readonly answer: {
    readonly status: Readonly<Record<string, unknown>>;
    readonly generation: number;
    readonly transitions: readonly Transition[];
    readonly revisions: readonly Readonly<Record<string, unknown>>[];
    readonly events: readonly RecordedEvent[];
    readonly metrics: readonly string[];
  };
}

export interface Pushed {
  readonly ref: string;
  readonly digest: string;
  readonly files: Readonly<Record<string, string>>;
  /** Media type of the layer, where it is another. */
  readonly media?: string;
  /** A link among the files, of this name. */
  readonly symlink?: string;
  /** The layer itself, in place of an archive of the files; the recording leaves it out. */
  readonly raw?: string;
  /** When it comes, where that is not at once. */
  readonly at?: number;
}

/** Second, action, and what it is about. */
export type Step = readonly [second: number, action: string, ...rest: readonly unknown[]];

export interface Transition {
  readonly at: number;
  readonly contractStatus: string | null;
  readonly findings: readonly string[];
  readonly conditions: readonly string[];
  readonly windows: readonly string[];
  readonly currentRevision: string | null;
}

export interface RecordedEvent {
  readonly at: string;
  readonly last: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export function isScenario(value: unknown): value is Scenario {
  const { op, input } = (value ?? {}) as Partial<Scenario>;
  return op === 'operator' && typeof input?.name === 'string';
}

/** When the recording ended, seconds after the Pacto was made: a moment after the last thing that is recorded. */
export function endOf({ input, answer }: Scenario): number {
  const moments = [
    ...answer.transitions.map(({ at }) => at),
    ...input.steps.map(([second]) => second),
    ...answer.events.map(({ last }) => secondsOf(last)),
    secondsOf(answer.status['lastReconciledAt']),
  ];
  return Math.max(...moments) + 1.5;
}

/** `T+34` → 34. */
function secondsOf(time: unknown): number {
  const found = typeof time === 'string' ? /^T([+-]\d+)$/.exec(time)?.[1] : undefined;
  return found === undefined ? 0 : Number(found);
}

/** The recording's own period of the mirror. */
export const MIRROR_SECONDS = 20;

/**
 * When the mirror ran after the Pacto was made, as far as the recording shows it: by what it said, and by revisions that no
 * look can have made. Undefined: it shows nothing of it.
 */
export function mirroredAt({ answer }: Scenario): number | undefined {
  const { currentRevision } = answer.status;
  const seen = answer.events.find(
    ({ reason, message }) =>
      message.startsWith('Revision mirror failed') ||
      reason === 'TagOverwritten' ||
      (reason === 'RevisionCreated' && !message.includes(` ${String(currentRevision)} `)),
  );
  return seen === undefined ? undefined : Math.max(0, secondsOf(seen.at)) % MIRROR_SECONDS;
}
