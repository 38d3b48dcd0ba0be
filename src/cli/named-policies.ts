/** The policies that a configuration names, read once, whole or not at all. */
import { wantsPolicies } from '../app/policy-settings.ts';
import { openPolicySources, type PolicySources } from '../app/policy-sources.ts';
import { gateNamespaceOf } from '../app/target.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { openClusterOf } from './open-cluster.ts';
import { plain, say } from './output.ts';
import { sayingLog } from './saying-log.ts';
import type { Surroundings } from './surroundings.ts';

/** A cluster of 10,000 policies has answered by then. */
const READ_MS = 20_000;

/** @returns what a command is to say to whoever names sources that it may not read */
export function sourceProblems({ policies: { sources } }: Config, fromCluster: boolean): readonly string[] {
  return fromCluster || sources.length === 0
    ? []
    : [
        `policies.sources: ${sources.join(' and ')} are in the cluster, and without them entries would be missing: give --from-cluster`,
      ];
}

/** For `--from-cluster`. @throws GateError GATE_CONFIG_INVALID where the configuration names no cluster */
export async function openNamedCluster(config: Config, around: Surroundings): Promise<Cluster> {
  const cluster = await openClusterOf(config, around.clock, around);
  if (cluster !== undefined) return cluster;
  throw new GateError(
    'GATE_CONFIG_INVALID',
    '--from-cluster: there is no cluster; give --cluster-kubeconfig, --cluster-context or --cluster-directory',
  );
}

/**
 * Says what is wrong with single policies.
 *
 * @returns undefined where the configuration names none
 * @throws GateError where a part of them cannot be read: without it something would be written that enforces less
 */
export async function readNamedPolicies(
  config: Config,
  cluster: Cluster | undefined,
  around: Surroundings,
): Promise<SourcedPolicies | undefined> {
  if (!wantsPolicies(config)) return undefined;
  // ConfigMaps are in the namespace of the gate, wherever this command runs.
  const environment = { ...config.environment, podNamespace: gateNamespaceOf(config) };
  // By watches, which bring any number, as the servers read them.
  const sources = await openPolicySources(
    { ...config, environment, state: 'cached' },
    { cluster, clock: around.clock, log: sayingLog(around) },
  );
  try {
    await synced(sources, around.clock);
    const found = sources.current();
    for (const { kind, name, message } of found.problems)
      say(around, plain(`${kind} ${JSON.stringify(name)}: ${message}`));
    const [incomplete] = sources.incomplete();
    if (incomplete !== undefined) {
      throw new GateError(
        'GATE_POLICY_INVALID',
        `${incomplete}: what it holds is not known, and without it less would be enforced: mend it`,
      );
    }
    return found;
  } finally {
    await sources.close();
  }
}

function synced(sources: PolicySources, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (sources.unsynced() === undefined) done(resolve);
    };
    const done = (then: () => void): void => {
      stopListening();
      timer.cancel();
      then();
    };
    const stopListening = sources.onChange(look);
    const timer = clock.setTimer(READ_MS, () => {
      const missing = sources.unsynced() ?? 'they are not read yet';
      done(() => reject(new GateError('GATE_UNSYNCED', `policies: ${missing}`)));
    });
    look();
  });
}
