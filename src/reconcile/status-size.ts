/** How much a status may be: a contract of 1 MiB must not make one that the API server refuses. */
import type { ObservationWindow, PactoStatus } from './api/pacto.ts';
import { shortText } from './short-text.ts';

/** Bytes of a whole status. etcd takes 1.5 MiB a request by default, and a list of Pactos has all of them. */
export const STATUS_BYTES = 256 * 1024;
/** Bytes of all streaks: about 500 of them. */
const WINDOW_BYTES = 64 * 1024;

/** What is left of every list, map and text where the whole is too long: each step is tried after the one before. */
const STEPS = [
  { entries: 50, length: 512 },
  { entries: 10, length: 128 },
  { entries: 3, length: 64 },
] as const;

/** What is said of the Pacto itself, and what the next look goes on from: bounded where it is made, and never cut here. */
const WHOLE: ReadonlySet<string> = new Set([
  'contractStatus',
  'resolutionPolicy',
  'currentRevision',
  'observedGeneration',
  'lastReconciledAt',
  'summary',
  'evaluationCoverage',
  'observationWindows',
  'conditions',
  'contractVersion',
]);

/**
 * @returns a status that is short enough. What is shown only goes first: metadata and properties, the claims of readiness,
 * and then the ends of lists and texts. The numbers in `summary` and `evaluationCoverage` always count everything.
 */
export function bounded(status: PactoStatus): PactoStatus {
  if (isShort(status)) return status;
  const { metadata: _metadata, ...rest } = status;
  const lean: PactoStatus = {
    ...rest,
    ...(status.configurations !== undefined && {
      configurations: status.configurations.map(withoutProperties),
    }),
    ...(status.policies !== undefined && { policies: status.policies.map(withoutProperties) }),
  };
  if (isShort(lean)) return lean;
  let least = lean;
  for (const step of STEPS) {
    least = cut(lean, step);
    if (isShort(least)) break;
  }
  return least;
}

/**
 * The first of the streaks, as many as a status has room for. One that is left out is seen for the first time at each look:
 * its absence is never proved, and its verdict stays Unknown.
 */
export function boundedWindows(windows: readonly ObservationWindow[]): readonly ObservationWindow[] {
  let bytes = 0;
  return windows.filter((window) => {
    const size = sizeOf(window);
    if (bytes + size > WINDOW_BYTES) return false;
    bytes += size;
    return true;
  });
}

function isShort(status: PactoStatus): boolean {
  return sizeOf(status) <= STATUS_BYTES;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function withoutProperties<T extends { readonly properties?: unknown }>({
  properties: _properties,
  ...rest
}: T): Omit<T, 'properties'> {
  return rest;
}

type Step = (typeof STEPS)[number];

function cut(status: PactoStatus, step: Step): PactoStatus {
  const fields = Object.entries(status).map(([key, value]) => [
    key,
    WHOLE.has(key) ? value : shorter(value, step),
  ]);
  const all = Object.fromEntries(fields) as PactoStatus;
  if (all.contract === undefined || status.contract === undefined) return all;
  // By these other Pactos find it: they are short already.
  const { serviceName, version, resolvedRef } = status.contract;
  return {
    ...all,
    contract: { ...all.contract, serviceName, version, ...(resolvedRef !== undefined && { resolvedRef }) },
  };
}

function shorter(value: unknown, step: Step): unknown {
  if (typeof value === 'string') return shortText(value, step.length);
  if (Array.isArray(value)) return value.slice(0, step.entries).map((one) => shorter(one, step));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shorter(one, step)]));
}
