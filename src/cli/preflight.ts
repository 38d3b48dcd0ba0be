import type { Command } from 'commander';
import { gateNamespaceOf } from '../app/target.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { identitySettings } from '../policies/identity/settings.ts';
import type { PreflightReport } from '../install/preflight/preflight.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import { reportText } from './preflight-text.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly strict?: true;
  readonly output: OutputFormat;
}

/** What is enforced, where the entries point, and who may call: all that live entries are compared with. */
const SECTIONS = ['cluster', 'identity', 'policies', 'installer', 'webhooks'];

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.option('--strict', 'let a warning be a no, too');
  const given = addConfigOptions(command, SECTIONS);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Reads the cluster, and writes nothing: compares the live webhook entries with those that the configuration asks for,
and says what could not be done while no process of the gate runs. Give it the configuration of the server, and a
kubeconfig that may read what it compares; what it may not read is said, and never taken to be fine.

Exits with 1 where something is wrong, and otherwise with 3 where something could not be found out.

Examples:
  pacto-gate preflight --config gate.yaml --cluster-source kubeconfig --installer-service pacto-system/pacto-gate
  pacto-gate preflight --config gate.yaml --cluster-directory backup/ --output json`,
  );
  command.action(async (options: Options) => {
    finish(await run(command, given, options, around));
  });
}

async function run(
  command: Command,
  given: GivenConfig,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const config = await given.read(around, command);
  if (config === undefined) return EXIT.usage;
  const { withClusterOf } = await import('./open-cluster.ts');
  return await withClusterOf(
    config,
    around,
    'there is no cluster to look at: give --cluster-kubeconfig, KUBECONFIG or --cluster-directory',
    (cluster) => lookAt(cluster, config, options, around),
  );
}

async function lookAt(
  cluster: Cluster,
  config: Config,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const [{ preflight }, { namespacesOf, wantedEntries }, { shakeHands }] = await Promise.all([
    import('../install/preflight/preflight.ts'),
    import('./preflight-wanted.ts'),
    import('./handshake.ts'),
  ]);
  const { auth, networkPolicyDeclared } = config.webhooks;
  const report = await preflight({
    cluster,
    nowMs: around.clock.now(),
    namespace: gateNamespaceOf(config),
    policyNamespaces: (namespace) => namespacesOf(config, namespace),
    excludedNamespaces: config.policies.excludedNamespaces,
    agentNamespaces: agentNamespaces(config),
    asksForNetworkPolicy: auth === 'none' && !networkPolicyDeclared,
    mayBeNative: config.policies.enforcement !== 'webhooks',
    wanted: (namespace, live) => wantedEntries(config, { cluster, clock: around.clock }, namespace, live),
    shakeHands: config.cluster.source === 'directory' ? undefined : shakeHands,
  });
  await show(around, options.output, report, plain(reportText(report)));
  return exitCodeOf(report, options);
}

function agentNamespaces({ identity }: Config): readonly string[] {
  if (!identity.enabled) return [];
  return [...new Set(identitySettings(identity).agents.map(({ namespace }) => namespace))];
}

/** A no is a no whatever else is unknown; and unknown is never fine. */
function exitCodeOf({ findings, unknown }: PreflightReport, { strict }: Options): ExitCode {
  const isNo = findings.some(({ level }) => level === 'problem' || (strict === true && level === 'warning'));
  if (isNo) return EXIT.no;
  return unknown.length > 0 ? EXIT.unknown : EXIT.ok;
}
