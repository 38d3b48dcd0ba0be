/** From "where is the cluster" to a Cluster: the one place that knows all implementations. */
import type { Clock } from '../clock.ts';
import type { Cluster } from './cluster.ts';

export type ClusterSource =
  | { readonly source: 'in-cluster'; readonly host: string; readonly port: string }
  | { readonly source: 'kubeconfig'; readonly paths: readonly string[]; readonly context?: string }
  | { readonly source: 'directory'; readonly path: string; readonly watch: boolean };

/** What the operator should hear of the way to the cluster: a weak setting, or a file that was left out. */
export interface OpenProblem {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/**
 * Opens the way to a cluster. Each implementation is loaded only when it is asked for.
 * @param onProblem told of what does not keep the cluster from being used; for a directory also later on.
 * @throws GateError GATE_KUBECONFIG, GATE_DIRECTORY.
 */
export async function openCluster(
  source: ClusterSource,
  clock: Clock,
  onProblem: (problem: OpenProblem) => void,
): Promise<Cluster> {
  if (source.source === 'directory') {
    const { createDirectoryCluster } = await import('./directory.ts');
    const { cluster } = await createDirectoryCluster(source.path, { clock, watch: source.watch, onProblem });
    return cluster;
  }
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
  for (const warning of connection.warnings) onProblem({ message: warning });
  const { createRestCluster } = await import('./rest.ts');
  return createRestCluster({ connection, clock });
}
