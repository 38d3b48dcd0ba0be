/** From "where is the cluster" to a Cluster: the one place that knows all implementations. */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { ErrorCode } from '../errors.ts';
import type { Cluster, ServerVersion } from './cluster.ts';

export type ClusterSource =
  | { readonly source: 'in-cluster'; readonly host: string; readonly port: string }
  | { readonly source: 'kubeconfig'; readonly paths: readonly string[]; readonly context?: string }
  | {
      readonly source: 'directory';
      readonly path: string;
      readonly watch: boolean;
      /** `1.29`: which release the files stand for. */
      readonly version?: string;
    };

/** What the operator should hear of the way to the cluster: a weak setting, or a file that cannot be read. */
export interface OpenProblem {
  readonly code: ErrorCode;
  /** With what is served in its place. */
  readonly message: string;
  /** As the operator would open it: with the directory that was given. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

const SERVED = {
  unknown: '; what it holds is unknown, so look-ups that find nothing fail',
  'last-good': '; its last good objects are served',
  ignored: '',
} as const;

/**
 * Opens the way to a cluster. Each implementation is loaded only when it is asked for.
 * @param onProblem told of what does not keep the cluster from being used; for a directory also later on.
 * @param onMended told of a file of a directory, named as in its problem, when that has gone.
 * @throws GateError GATE_KUBECONFIG, GATE_DIRECTORY.
 */
export async function openCluster(
  source: ClusterSource,
  clock: Clock,
  onProblem: (problem: OpenProblem) => void,
  onMended?: (file: string) => void,
): Promise<Cluster> {
  if (source.source === 'directory') {
    const { createDirectoryCluster } = await import('./directory.ts');
    const { path, watch, version } = source;
    const { cluster } = await createDirectoryCluster(path, {
      clock,
      watch,
      ...(version === undefined ? {} : { version: releaseOf(version) }),
      onProblem: (problem, consequence) => {
        const message = `${problem.message}${SERVED[consequence]}`;
        onProblem({ ...problem, file: join(path, problem.file), message });
      },
      onMended: (file) => onMended?.(join(path, file)),
    });
    return cluster;
  }
  return await openApiServer(source, clock, onProblem);
}

function releaseOf(version: string): ServerVersion {
  const [major, minor] = version.split('.').map(Number);
  return { major: major ?? 0, minor: minor ?? 0, gitVersion: `v${version}.0+files` };
}

async function openApiServer(
  source: Exclude<ClusterSource, { readonly source: 'directory' }>,
  clock: Clock,
  onProblem: (problem: OpenProblem) => void,
): Promise<Cluster> {
  const { loadConnection } = await import('./kubeconfig.ts');
  const connection = await loadConnection(
    source.source === 'in-cluster'
      ? { source: 'in-cluster', host: source.host, port: source.port, clock }
      : {
          source: 'kubeconfig',
          paths: source.paths,
          clock,
          ...(source.context === undefined ? {} : { context: source.context }),
        },
  );
  for (const warning of connection.warnings) onProblem({ code: 'GATE_KUBECONFIG', message: warning });
  const { createRestCluster } = await import('./rest.ts');
  return createRestCluster({ connection, clock });
}
