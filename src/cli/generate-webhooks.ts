import { InvalidArgumentError, Option, type Command } from 'commander';
import { entriesOf, type Entries } from '../app/entries.ts';
import { wantsPolicies } from '../app/policy-settings.ts';
import type { Cluster, ServedResource } from '../cluster/cluster.ts';
import { RULE_SECTIONS } from '../config-keys.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { PolicyReach } from '../policies/vap/entries.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { readDiscovery } from './discovery-file.ts';
import { showDocuments } from './documents.ts';
import { addTargetOptions, bundleOf, targetOf, type TargetOptions } from './entry-target.ts';
import { openNamedCluster, readNamedPolicies, sourceProblems } from './named-policies.ts';
import { addOutputOption, EXIT, plain, say, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends TargetOptions {
  readonly kubeVersion?: number;
  readonly fromCluster?: boolean;
  readonly discovery?: string;
  readonly timeoutSeconds?: number;
  readonly output: OutputFormat;
}

/** The API server's own bound (webhook-operations.md W04). */
const MAX_TIMEOUT_SECONDS = 30;
/**
 * Every entry selects namespaces by the label kubernetes.io/metadata.name. Before this minor a cluster may not set it
 * (KEP-2161: stable in 1.22), and an entry would then select nothing and enforce nothing.
 */
const FIRST_MINOR = 22;
const LAST_MINOR = 99;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  addTargetOptions(command);
  command
    .addOption(
      new Option(
        '--kube-version <version>',
        `of the API server, for example 1.29; 1.${String(FIRST_MINOR)} at least (default: 1.28 or later, or that of --from-cluster)`,
      ).argParser(parseVersion),
    )
    .option(
      '--from-cluster',
      'reads policies of policies.sources, the version and what is served from the cluster of the configuration',
    )
    .option(
      '--discovery <file>',
      'what an API server before 1.28 serves, without which its entries cannot have wildcards',
    )
    .option(
      '--timeout-seconds <number>',
      `how long the API server waits, 1 to ${String(MAX_TIMEOUT_SECONDS)} (default: installer.timeoutSeconds, or 10)`,
      parseTimeout,
    );
  const given = addConfigOptions(command, ['cluster', ...RULE_SECTIONS]);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Writes ValidatingWebhookConfigurations: that of node identity, where the configuration names policies that of policies
with an entry for each that has a binding, and where it has the delivery gate that of delivery, with a
MutatingWebhookConfiguration for who asked and who approved. The same input gives the same bytes. Apply them when the server is
ready, not before: entries with failure policy Fail and no server behind them refuse what they select. What the entries
cannot enforce of a policy is said on standard error.

Examples:
  pacto-gate generate webhooks --service pacto-system/pacto-gate --ca-file ca.crt \\
    | kubectl apply --server-side --field-manager pacto-gate -f -
  pacto-gate generate webhooks --url https://10.0.0.7:9443 --ca-file ca.crt --from-cluster \\
    --policies-sources customResources
  pacto-gate generate webhooks --url https://10.0.0.7:9443 --ca-file ca.crt --policies-files policies.yaml \\
    --kube-version 1.27 --discovery discovery.json, where discovery.json is what this prints:
      for v in $(kubectl api-versions); do
        kubectl get --raw "/$([ "$v" = v1 ] && echo api || echo apis)/$v"
      done`,
  );
  command.action(async (options: Options) => {
    finish(await generate(command, given, options, around));
  });
}

async function generate(
  command: Command,
  given: GivenConfig,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const config = await given.read(around, command, (read) => problemsOf(options, read));
  if (config === undefined) return EXIT.usage;
  const target = targetOf(options, config);
  const caBundle = await bundleOf(options, config);
  const known = await readWorld(config, options, around);
  const entries = entriesOf(config, {
    target,
    timeoutSeconds: options.timeoutSeconds ?? config.installer.timeoutSeconds,
    ...(caBundle === undefined ? {} : { caBundle }),
    ...known,
  });
  if (caBundle === undefined)
    say(
      around,
      'no --ca-file: the API server then trusts only what its own machine trusts. Give the CA of the server',
    );
  return await write(config, entries, options.output, around);
}

function problemsOf(
  { service, url, discovery, fromCluster = false }: Options,
  config: Config | undefined,
): readonly string[] {
  const isNamed = service !== undefined || url !== undefined || config?.installer.service !== undefined;
  return [
    ...(service !== undefined && url !== undefined ? ['--service and --url: need one of them'] : []),
    ...(isNamed || config?.installer.url !== undefined ? [] : ['need --service or --url']),
    ...(discovery !== undefined && fromCluster ? ['--discovery and --from-cluster: need one of them'] : []),
    ...(config === undefined ? [] : sourceProblems(config, fromCluster)),
  ];
}

interface World {
  readonly kubeMinor?: number;
  readonly served?: readonly ServedResource[];
  readonly policies?: SourcedPolicies;
}

/** What is to be known of the cluster, and the policies. */
async function readWorld(config: Config, options: Options, around: Surroundings): Promise<World> {
  const { kubeVersion, discovery, fromCluster = false } = options;
  const cluster = fromCluster ? await openNamedCluster(config, around) : undefined;
  try {
    const policies = await readNamedPolicies(config, cluster, around);
    const kubeMinor = kubeVersion ?? (cluster === undefined ? undefined : await minorOf(cluster));
    const served = discovery === undefined ? await servedBy(cluster, around) : await readDiscovery(discovery);
    return {
      ...(kubeMinor === undefined ? {} : { kubeMinor }),
      ...(served === undefined ? {} : { served }),
      ...(policies === undefined ? {} : { policies }),
    };
  } finally {
    await cluster?.close();
  }
}

async function minorOf(cluster: Cluster): Promise<number> {
  const { minor, gitVersion } = await cluster.serverVersion();
  if (minor >= FIRST_MINOR) return minor;
  throw new GateError(
    'GATE_CLUSTER_UNSUPPORTED',
    `the API server is ${gitVersion}, need 1.${String(FIRST_MINOR)} or later: ${TOO_OLD}`,
  );
}

async function servedBy(
  cluster: Cluster | undefined,
  around: Surroundings,
): Promise<readonly ServedResource[] | undefined> {
  if (cluster === undefined) return undefined;
  const { resources, unknown } = await cluster.resources();
  for (const groupVersion of unknown)
    say(around, plain(`${groupVersion}: its server does not answer, so what it serves is not known`));
  return resources;
}

const HEADER =
  '# Made by pacto-gate generate webhooks. Apply it when the server is ready, and delete it before the server.\n';

async function write(
  config: Config,
  { identity, policies, delivery }: Entries,
  format: OutputFormat,
  around: Surroundings,
): Promise<ExitCode> {
  const isIdentity = identity.configuration.webhooks.length > 0;
  const documents = [
    ...(isIdentity ? [identity.configuration] : []),
    // With no entry in it, too: whoever applies it means that there is to be none.
    ...(wantsPolicies(config) ? [policies.configuration] : []),
    ...(config.delivery.enabled ? [delivery.configuration, delivery.stamps] : []),
  ];
  const { enabled } = config.identity;
  if (!isIdentity && (!enabled || documents.length === 0))
    say(
      around,
      enabled
        ? 'nothing needs an entry'
        : `identity.enabled is false, which switches off all three rules of node identity: ${documents.length === 0 ? 'nothing needs an entry' : 'it needs no entry'}`,
    );
  for (const note of [...identity.notes, ...policies.notes]) say(around, note);
  for (const line of reachLines(policies.reach)) say(around, plain(line));
  if (documents.length === 0) return EXIT.usage;
  await showDocuments(around, format, documents, HEADER);
  return EXIT.ok;
}

/** Names in one line; what is beyond is counted. */
const NAMES_SHOWN = 5;

/** What is not enforced, a line for each sentence and the policies that it is true of. */
function reachLines(reach: readonly PolicyReach[]): readonly string[] {
  const bySentence = new Map<string, string[]>();
  for (const { policy, notEnforced } of reach) {
    for (const sentence of notEnforced) {
      const names = bySentence.get(sentence);
      if (names === undefined) bySentence.set(sentence, [policy]);
      else names.push(policy);
    }
  }
  return [...bySentence].map(([sentence, names]) => {
    const shown = names.slice(0, NAMES_SHOWN).map((name) => JSON.stringify(name));
    const more = names.length - shown.length;
    const tail = more > 0 ? ` and ${String(more)} more` : '';
    return `${names.length === 1 ? 'policy' : 'policies'} ${shown.join(', ')}${tail}: ${sentence}`;
  });
}

const TOO_OLD =
  'before that, namespaces need not have the label kubernetes.io/metadata.name, by which every entry selects, so that nothing would be enforced';

function parseVersion(text: string): number {
  const [, minor] = /^v?1\.(\d{1,2})(?:[.+-].*)?$/.exec(text) ?? [];
  if (minor === undefined || Number(minor) > LAST_MINOR)
    throw new InvalidArgumentError('need a version like 1.29');
  if (Number(minor) < FIRST_MINOR)
    throw new InvalidArgumentError(`need 1.${String(FIRST_MINOR)} or later: ${TOO_OLD}`);
  return Number(minor);
}

function parseTimeout(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > MAX_TIMEOUT_SECONDS)
    throw new InvalidArgumentError(`need a whole number from 1 to ${String(MAX_TIMEOUT_SECONDS)}`);
  return Number(text);
}
