/** What the live entries should be, for `preflight`: from the configuration, the policies that it names, and a cluster. */
import { entriesOf } from '../app/entries.ts';
import { policyNamespaces, wantsPolicies } from '../app/policy-settings.ts';
import { openPolicySources } from '../app/policy-sources.ts';
import { targetOf } from '../app/target.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CONFIG_MAP, GATE_POLICY, GATE_POLICY_BINDING, type Kind } from '../cluster/kinds.ts';
import type { Config } from '../config.ts';
import { GateError, messageOf } from '../errors.ts';
import type { LiveEntry } from '../install/preflight/live-entry.ts';
import type { Wanted } from '../install/preflight/preflight.ts';
import { finding, type Finding, type Unknown } from '../install/preflight/preflight-finding.ts';
import { silentLog } from '../log.ts';
import type { ClientTarget } from '../policies/entry.ts';
import { IDENTITY_CONFIGURATION } from '../policies/identity/entries.ts';
import { POLICIES_CONFIGURATION, type PolicyReach, type ServedResource } from '../policies/vap/entries.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { bundleOf } from './entry-target.ts';

export interface WantedParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

/** Where nothing says where the server is, and nothing is compared with it. */
const NOWHERE: ClientTarget = { url: 'https://gate.invalid' };

/** @throws GateError GATE_INPUT_FILE, GATE_POLICY_FILE; what cannot be found out of the cluster is in `unknown`. */
export async function wantedEntries(
  given: Config,
  parts: WantedParts,
  namespace: string | undefined,
  live: readonly LiveEntry[],
): Promise<Wanted> {
  const config = withNamespace(given, namespace);
  const said = targetOf(config);
  const caBundle = await bundleOf({}, config);
  const kubeMinor = await minorOf(parts.cluster);
  if (typeof kubeMinor !== 'number')
    return {
      configurations: [],
      incomparable: [IDENTITY_CONFIGURATION, POLICIES_CONFIGURATION],
      incomplete: [],
      comparesTarget: false,
      comparesBundle: false,
      findings: [],
      unknown: [{ what: 'what the entries should be', why: kubeMinor.why }],
      sources: sourceKinds(config),
    };
  const read = await policiesOf(config, parts, live);
  const served = await servedBy(parts.cluster);
  // With what was given alone, as whoever wrote the entries had it.
  const entries = entriesOf(given, {
    target: said ?? liveTarget(live) ?? NOWHERE,
    timeoutSeconds: config.installer.timeoutSeconds,
    kubeMinor,
    ...(caBundle !== undefined && { caBundle }),
    ...(served !== undefined && { served }),
    ...(read.policies !== undefined && { policies: read.policies }),
  });
  const isKnown = read.policies !== undefined || read.unknown.length === 0;
  return {
    configurations: [entries.identity.configuration, ...(isKnown ? [entries.policies.configuration] : [])],
    incomparable: isKnown ? [] : [POLICIES_CONFIGURATION],
    incomplete: read.unknown.length === 0 ? [] : [POLICIES_CONFIGURATION],
    comparesTarget: said !== undefined,
    comparesBundle: caBundle !== undefined,
    findings: [
      ...notCompared(said, caBundle),
      ...(read.policies === undefined ? [] : policyFindings(read.policies, entries.policies.reach)),
    ],
    unknown: read.unknown,
    sources: sourceKinds(config),
  };
}

/** What entries leave out follows from the Service that they point to. */
function liveTarget(live: readonly LiveEntry[]): ClientTarget | undefined {
  const [first] = live.filter(({ ours }) => ours).map(({ client }) => client);
  if (first?.service !== undefined) {
    const { namespace, name, port } = first.service;
    return { service: { namespace, name, port } };
  }
  const url = first?.url === undefined ? null : URL.parse(first.url);
  return url === null ? undefined : { url: url.origin };
}

function sourceKinds({ policies: { sources } }: Config): readonly Kind[] {
  return [
    ...(sources.includes('customResources') ? [GATE_POLICY, GATE_POLICY_BINDING] : []),
    ...(sources.includes('configMaps') ? [CONFIG_MAP] : []),
  ];
}

/** Where the gate is counts as if this ran there: its own namespace holds ConfigMaps by default, and is left out. */
function withNamespace(config: Config, namespace: string | undefined): Config {
  const { environment } = config;
  const podNamespace = namespace ?? environment.podNamespace;
  return { ...config, environment: { ...environment, podNamespace } };
}

/** @returns none where nobody says which: what reads the sources says so. */
export function namespacesOf(config: Config, namespace: string | undefined): readonly string[] {
  try {
    return policyNamespaces(withNamespace(config, namespace));
  } catch (error) {
    if (error instanceof GateError) return [];
    throw error;
  }
}

async function minorOf(cluster: Cluster): Promise<number | { readonly why: string }> {
  try {
    return (await cluster.serverVersion()).minor;
  } catch (error) {
    return { why: messageOf(error) };
  }
}

function notCompared(target: ClientTarget | undefined, caBundle: string | undefined): readonly Finding[] {
  const left = [
    ...(target === undefined ? ['their address (installer.service or installer.url)'] : []),
    ...(caBundle === undefined ? ['their caBundle (installer.caFile)'] : []),
  ];
  if (left.length === 0) return [];
  return [
    finding(
      'PREFLIGHT_NOT_COMPARED',
      'the configuration',
      `the entries were compared without ${left.join(' and ')}`,
      'an entry that asks another server, or trusts another CA, is not noticed',
      'give these keys as the installer or generate webhooks has them',
    ),
  ];
}

interface PoliciesRead {
  readonly policies?: SourcedPolicies;
  readonly unknown: readonly Unknown[];
}

async function policiesOf(
  config: Config,
  parts: WantedParts,
  live: readonly LiveEntry[],
): Promise<PoliciesRead> {
  const what = `what the entries of ${POLICIES_CONFIGURATION} should be`;
  if (!wantsPolicies(config)) {
    // A command that was not given the server's configuration must not call its entries wrong, nor right.
    const isThere = live.some(({ configuration }) => configuration === POLICIES_CONFIGURATION);
    const why =
      'the configuration names no policies: give that of the server by --config, or delete the entries if it has none';
    return { unknown: isThere ? [{ what, why }] : [] };
  }
  const { policies, doubts, incomplete } = await readPolicies(config, parts);
  const unknown = (whys: readonly string[]): readonly Unknown[] => whys.map((why) => ({ what, why }));
  if (doubts.length > 0) return { unknown: unknown(doubts) };
  return { policies, unknown: unknown(incomplete) };
}

async function readPolicies(
  config: Config,
  { cluster, clock }: WantedParts,
): Promise<{
  readonly policies: SourcedPolicies;
  readonly doubts: readonly string[];
  readonly incomplete: readonly string[];
}> {
  // Listed once and not watched.
  const sources = await openPolicySources({ ...config, state: 'live' }, { cluster, clock, log: silentLog() });
  try {
    const unsynced = sources.unsynced();
    const doubt = sources.doubt();
    const doubts = [
      ...(unsynced === undefined ? [] : [unsynced]),
      ...(doubt === undefined ? [] : [doubt.message]),
    ];
    const incomplete = sources.incomplete().map((source) => `${source} cannot be read`);
    return { policies: sources.current(), doubts, incomplete };
  } finally {
    await sources.close();
  }
}

/** It makes what is told more exact, and before Kubernetes 1.28 wildcards are written out by it. */
async function servedBy(cluster: Cluster): Promise<readonly ServedResource[] | undefined> {
  try {
    return (await cluster.resources()).resources;
  } catch (error) {
    if (error instanceof GateError) return undefined;
    throw error;
  }
}

function policyFindings({ problems }: SourcedPolicies, reach: readonly PolicyReach[]): readonly Finding[] {
  const left = reach
    .filter(({ entry }) => entry === undefined)
    .flatMap(({ policy, notEnforced }) => notEnforced.map((why) => ({ where: `policy ${policy}`, why })));
  const wrong = problems.map(({ kind, name, message }) => ({ where: `${kind} ${name}`, why: message }));
  return [...wrong, ...left].map(({ where, why }) =>
    finding(
      'PREFLIGHT_POLICY',
      where,
      why,
      'webhooks do not enforce it as it is written',
      'see what pacto-gate lint says of it',
    ),
  );
}
