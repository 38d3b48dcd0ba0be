import type { Command } from 'commander';
import { gateNamespaceOf } from '../app/target.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { GATE_GROUP, GATE_POLICY, GATE_POLICY_BINDING } from '../cluster/kinds.ts';
import type { Config } from '../config.ts';
import { INSTALLER_LEASE } from '../install/names.ts';
import type { UninstallPlan } from '../install/uninstall.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { addOutputOption, EXIT, plain, say, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly yes?: true;
  readonly native?: true;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .option('--yes', 'do it; without, nothing is written and this says what would be done')
    .option('--native', 'remove native policies and bindings that the installer wrote, too');
  const given = addConfigOptions(command, ['cluster', 'installer']);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Empties the webhook configurations of the gate, whoever filled them, so that no entry asks a server that is taken away,
and says what is left to delete. Stop the installer first: it would fill them again. Native policies enforce without the
gate, and stay unless --native is given. The status of policies that nothing enforces any more says so.

Examples:
  pacto-gate uninstall --cluster-source kubeconfig --installer-namespace pacto-system
  pacto-gate uninstall --cluster-source kubeconfig --installer-namespace pacto-system --native --yes`,
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
  if (options.yes === true && config.cluster.source === 'directory') {
    say(around, 'cluster.directory: files are never written; leave --yes out to see what would be done');
    return EXIT.usage;
  }
  const { withClusterOf } = await import('./open-cluster.ts');
  return await withClusterOf(
    config,
    around,
    'there is no cluster: give --cluster-kubeconfig, KUBECONFIG or --cluster-directory',
    (cluster) => uninstallFrom(cluster, config, options, around),
  );
}

async function uninstallFrom(
  cluster: Cluster,
  config: Config,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const { output } = options;
  const [yes, native] = [options.yes === true, options.native === true];
  const [
    { endedPolicies, planUninstall, runningInstaller, uninstall },
    { IDENTITY_CONFIGURATION },
    { POLICIES_CONFIGURATION },
    { DELIVERY_CONFIGURATION },
  ] = await Promise.all([
    import('../install/uninstall.ts'),
    import('../policies/identity/entries.ts'),
    import('../policies/vap/entries.ts'),
    import('../policies/delivery/entries.ts'),
  ]);
  const namespace = gateNamespaceOf(config);
  const plan = await planUninstall(
    cluster,
    [POLICIES_CONFIGURATION, IDENTITY_CONFIGURATION, DELIVERY_CONFIGURATION],
    [DELIVERY_CONFIGURATION],
  );
  const installer =
    namespace === undefined ? undefined : await runningInstaller(cluster, namespace, around.clock.now());
  if (namespace === undefined)
    say(
      around,
      `whether an installer runs is not known: give --installer-namespace, where its Lease ${INSTALLER_LEASE} is`,
    );
  if (installer !== undefined) {
    const message = `the installer ${installer} runs, and would fill the configurations again: stop it first (scale its Deployment to 0)`;
    say(around, message);
    if (yes) return EXIT.no;
  }
  if (yes) await uninstall(cluster, plan, native, around.clock.now());
  const left = leftOver(plan, native);
  const ended = endedPolicies(plan, native);
  const done = { done: yes, ...plan, removesNative: native, left };
  await show(around, output, done, plain(textOf(plan, { yes, native, ended, left })));
  return EXIT.ok;
}

/** On everything that `generate rbac` writes. */
const RBAC_SELECTOR = 'app.kubernetes.io/name=pacto-gate';

/** What others made, and others delete. */
function leftOver({ configurations, mutating, natives }: UninstallPlan, native: boolean): readonly string[] {
  const crds = [GATE_POLICY, GATE_POLICY_BINDING].map(({ resource }) => `${resource}.${GATE_GROUP}`);
  return [
    ...configurations.map(({ name }) => `kubectl delete validatingwebhookconfiguration ${name}`),
    ...mutating.map(({ name }) => `kubectl delete mutatingwebhookconfiguration ${name}`),
    ...(natives.length > 0 && !native ? ['pacto-gate uninstall --native --yes'] : []),
    `kubectl delete clusterrole,clusterrolebinding,role,rolebinding --all-namespaces --selector ${RBAC_SELECTOR}`,
    `kubectl delete customresourcedefinition --ignore-not-found ${crds.join(' ')}`,
  ];
}

function textOf(
  { configurations, mutating, natives }: UninstallPlan,
  {
    yes,
    native,
    ended,
    left,
  }: {
    readonly yes: boolean;
    readonly native: boolean;
    readonly ended: readonly string[];
    readonly left: readonly string[];
  },
): string {
  const verb = (did: string, would: string): string => (yes ? did : would);
  const named = [
    ...configurations,
    ...mutating.map(({ name, entries: held }) => ({ name: `${name} (mutating)`, entries: held })),
  ];
  const entries = named.flatMap(({ name, entries: held }) =>
    held.length === 0
      ? [`${name} is empty already`]
      : [
          `${verb('emptied', 'would empty')} ${name} (${count(held.length, 'entry', 'entries')}):`,
          ...held.map((one) => `  ${one}`),
        ],
  );
  return [
    ...(named.length === 0 ? ['there is no webhook configuration of the gate'] : entries),
    ...(natives.length === 0 ? [] : nativeLines(natives, native, verb)),
    ...(ended.length === 0
      ? []
      : [
          `${verb('wrote', 'would write')} enforcedBy None into the status of ${count(ended.length, 'policy', 'policies')}:`,
          ...ended.map((one) => `  ${one}`),
        ]),
    ...(yes ? [] : ['nothing was written: give --yes to do it']),
    'Left to delete, once the servers are gone, with the Deployments and the namespace of the gate:',
    ...left.map((line) => `  ${line}`),
  ].join('\n');
}

function nativeLines(
  natives: readonly string[],
  native: boolean,
  verb: (did: string, would: string) => string,
): readonly string[] {
  const objects = count(natives.length, 'native object', 'native objects');
  const head = native
    ? `${verb('removed', 'would remove')} ${objects}:`
    : `${natives.length === 1 ? `${objects} stays, and goes` : `${objects} stay, and go`} on enforcing:`;
  return [head, ...natives.map((one) => `  ${one}`)];
}

function count(number: number, one: string, many: string): string {
  return `${String(number)} ${number === 1 ? one : many}`;
}
