/**
 * One configuration on its way to what it should hold: what is removed, what is written, and what has to wait for the
 * server behind it (webhook-operations.md R3).
 */
import type { Cluster } from '../cluster/cluster.ts';
import type { ValidatingEntry } from '../policies/entry.ts';
import { createCommand, fillConfiguration, isSameEntry, readConfiguration } from './configuration.ts';

/** Whether the server answers at an entry. @returns why it does not; undefined where it does. */
export type ServerProbe = (
  entry: ValidatingEntry,
  signal: AbortSignal | undefined,
) => Promise<string | undefined>;

export interface FillOptions {
  readonly cluster: Pick<Cluster, 'get' | 'apply'>;
  readonly name: string;
  readonly entries: readonly ValidatingEntry[];
  /** Of entries that we have and that are wanted no more: those stay nevertheless. */
  readonly keeps: (name: string) => boolean;
  readonly probe: ServerProbe;
  readonly signal?: AbortSignal;
}

export interface Filled {
  /** There is no such configuration; what to do about it. */
  readonly missing?: string;
  /** Entries as the configuration holds them now. */
  readonly entries: ReadonlyMap<string, ValidatingEntry>;
  /** Wanted and not there yet, by name, with why. */
  readonly waiting: ReadonlyMap<string, string>;
  /** Removed by us and there nevertheless, since somebody else applies them too. */
  readonly foreign: readonly string[];
  /** What was written, for telling whether it is the same again; undefined where nothing was. */
  readonly written?: string;
}

/** Questions to the server at once. */
const PROBES_AT_ONCE = 8;

export async function fill(options: FillOptions): Promise<Filled> {
  const { cluster, name, keeps, signal } = options;
  const live = await readConfiguration(cluster, name, signal);
  if (live === undefined) {
    const missing = `there is no ValidatingWebhookConfiguration ${name}: make it once, by ${createCommand(name)}`;
    const waiting = new Map(options.entries.map((entry) => [entry.name, missing]));
    return { missing, entries: new Map(), waiting, foreign: [] };
  }
  const wanted = new Map(options.entries.map((entry) => [entry.name, entry]));
  const changed = options.entries.filter((entry) => needsServer(live.entries.get(entry.name), entry));
  const waiting = await probeAll(changed, options);
  // As it is: what waits for its server neither comes nor changes.
  const next = options.entries.flatMap((entry) => {
    if (!waiting.has(entry.name)) return [entry];
    const before = live.entries.get(entry.name);
    return before === undefined || !live.owned.has(entry.name) ? [] : [before];
  });
  for (const held of live.owned) {
    const before = live.entries.get(held);
    if (!wanted.has(held) && before !== undefined && keeps(held)) next.push(before);
  }
  next.sort((a, b) => (a.name < b.name ? -1 : 1));
  const filled = await fillConfiguration(cluster, live, next, signal);
  const names = new Set(next.map((entry) => entry.name));
  return {
    entries: filled.entries,
    waiting,
    foreign: [...live.owned].filter((held) => !names.has(held) && filled.entries.has(held)),
    ...(filled === live ? {} : { written: JSON.stringify(next) }),
  };
}

/** An entry that comes, or is not the same and refuses on failure; one that only lets go does not wait. */
function needsServer(before: ValidatingEntry | undefined, entry: ValidatingEntry): boolean {
  if (before === undefined) return true;
  return !isSameEntry(before, entry) && !isSameEntry({ ...before, failurePolicy: 'Ignore' }, entry);
}

async function probeAll(
  entries: readonly ValidatingEntry[],
  { probe, signal }: FillOptions,
): Promise<ReadonlyMap<string, string>> {
  const waiting = new Map<string, string>();
  const left = entries.values();
  const work = async (): Promise<void> => {
    for (const entry of left) {
      const why = await probe(entry, signal);
      if (why !== undefined) waiting.set(entry.name, why);
    }
  };
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, work));
  return waiting;
}
