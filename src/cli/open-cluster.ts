import { sourceOf } from '../app/state.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { openCluster } from '../cluster/open.ts';
import type { Config } from '../config.ts';
import { EXIT, say, type ExitCode } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Opens the cluster of a configuration for one command: a directory is read once and not watched.
 * @returns undefined where the configuration names none.
 * @throws GateError as `openCluster` of the cluster room.
 */
export async function openClusterOf(
  config: Config,
  clock: Clock,
  around: Pick<Surroundings, 'stderr'>,
): Promise<Cluster | undefined> {
  const source = sourceOf(config);
  if (source === undefined) return undefined;
  const once = source.source === 'directory' ? { ...source, watch: false } : source;
  return await openCluster(once, clock, ({ code, message, file, line, column }) => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    say(around, place === '' ? message : `${place}: ${message}`, code);
  });
}

/**
 * Runs the work of one command on the cluster of a configuration, and closes it.
 * @param absent said where the configuration names none, which is a fault of usage.
 * @throws GateError as `openClusterOf`, and as the work.
 */
export async function withClusterOf(
  config: Config,
  around: Pick<Surroundings, 'clock' | 'stderr'>,
  absent: string,
  work: (cluster: Cluster) => Promise<ExitCode>,
): Promise<ExitCode> {
  const cluster = await openClusterOf(config, around.clock, around);
  if (cluster === undefined) {
    say(around, absent);
    return EXIT.usage;
  }
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}
