/**
 * What an operator should know before entries are applied, after an upgrade, and before a night's sleep: whether the
 * live entries are what they should be, and whether gate and cluster would come back if no process of the gate ran
 * (webhook-operations.md R2). It reads, and writes nothing.
 */
import type { Cluster } from '../../cluster/cluster.ts';
import type { Kind } from '../../cluster/kinds.ts';
import type { WebhookConfiguration } from '../../policies/entry.ts';
import type { Labels } from '../../policies/vap/label-selector.ts';
import { diffConfigurations } from './configuration-diff.ts';
import { LiveCluster, preflightRights, type Right } from './live-cluster.ts';
import { policyOf, type LiveEntry } from './live-entry.ts';
import { namespaceOf, readGate, type LiveGate } from './live-gate.ts';
import { CANARY_NAME } from '../names.ts';
import { checkNatives } from './native-lock.ts';
import { checkNamespaces } from './namespace-checks.ts';
import type { Finding, Unknown } from './preflight-finding.ts';
import { foreignFindings, recoveryFindings } from './recovery-findings.ts';
import { recoverySteps } from './recovery-steps.ts';
import { checkCallers, checkCertificates, checkServices, type ShakeHands } from './service-checks.ts';
import { simulate, type Outcome, type SimulatedStep } from './simulate.ts';

export interface PreflightInput {
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'doubt'>;
  /** Wall-clock time. */
  readonly nowMs: number;
  /** Of the gate, where the configuration says it. */
  readonly namespace: string | undefined;
  /** Namespaces whose ConfigMaps hold policies, for a gate in that namespace. */
  readonly policyNamespaces: (namespace: string | undefined) => readonly string[];
  readonly excludedNamespaces: readonly string[];
  /** Namespaces that entries of node identity select by name. */
  readonly agentNamespaces: readonly string[];
  /** `webhooks.auth` is none, and no NetworkPolicy is declared. */
  readonly asksForNetworkPolicy: boolean;
  /** Policies are or may be enforced natively: entries may be missing where native objects are. */
  readonly mayBeNative: boolean;
  /**
   * What the entries should be.
   * @param namespace of the gate, as it was found out.
   */
  readonly wanted: (namespace: string | undefined, live: readonly LiveEntry[]) => Promise<Wanted>;
  /** Undefined where there are no servers to shake hands with. */
  readonly shakeHands: ShakeHands | undefined;
}

export interface Wanted {
  readonly configurations: readonly WebhookConfiguration[];
  /** Names of those of which it is not known what they should be; `unknown` says why. */
  readonly incomparable: readonly string[];
  /** Names of those that may have more entries than are known. */
  readonly incomplete: readonly string[];
  readonly comparesTarget: boolean;
  readonly comparesBundle: boolean;
  readonly findings: readonly Finding[];
  readonly unknown: readonly Unknown[];
  /** Kinds that were listed for it. */
  readonly sources: readonly Kind[];
}

export interface ReportedStep {
  readonly id: string;
  readonly group: string;
  readonly need: string;
  readonly title: string;
  readonly outcome: Outcome;
  readonly by: readonly {
    readonly configuration: string;
    readonly entry: string;
    readonly policy?: string;
    readonly failurePolicy: string;
  }[];
}

export interface PreflightReport {
  /** Of the gate; undefined: it runs outside the cluster, or nobody knows. */
  readonly namespace: string | undefined;
  readonly findings: readonly Finding[];
  readonly steps: readonly ReportedStep[];
  readonly unknown: readonly Unknown[];
  /** What whoever runs it must be allowed to; empty unless something was unknown. */
  readonly rights: readonly Right[];
}

export async function preflight(input: PreflightInput): Promise<PreflightReport> {
  const live = new LiveCluster(input.cluster);
  const found = await live.entries();
  // An installer that proves something just now has an entry for that, which selects one object of its own.
  const entries = (found?.entries ?? []).filter(({ client }) => policyOf(client) !== CANARY_NAME);
  const namespace = input.namespace ?? namespaceOf(entries);
  const gate = await readGate(live, { namespace, policyNamespaces: input.policyNamespaces(namespace) });
  const wanted = await input.wanted(namespace, entries);
  // Without the live entries nothing can be said of them; what else could be read is still worth saying.
  const simulated = found === undefined ? undefined : simulateAll(entries, gate);
  const findings: Finding[] = [
    ...wanted.findings,
    ...(found === undefined
      ? []
      : diffConfigurations({
          wanted: wanted.configurations,
          present: found.present,
          live: entries,
          comparesTarget: wanted.comparesTarget,
          comparesBundle: wanted.comparesBundle,
          incomparable: new Set(wanted.incomparable),
          incomplete: new Set(wanted.incomplete),
          native: new Set((input.mayBeNative ? gate.natives : []).map(({ metadata }) => metadata.name ?? '')),
        })),
    ...(simulated === undefined
      ? []
      : [...recoveryFindings(simulated.ours), ...foreignFindings(simulated.foreign)]),
    ...(await checkNatives(live, gate.natives, recoverySteps(gate.site), gate.namespaces ?? new Map())),
    ...checkNamespaces({
      entries,
      wanted: wanted.configurations,
      namespaces: gate.namespaces,
      ownNamespace: namespace,
      excluded: input.excludedNamespaces,
      selected: input.agentNamespaces,
    }),
    ...(await checkServices(live, entries)),
    ...(input.asksForNetworkPolicy ? await checkCallers(live, namespace, gate.site.podLabels) : []),
    ...(await checkCertificates(entries, input.shakeHands, input.nowMs)),
  ];
  const unknown = [
    ...live.unknown,
    ...wanted.unknown,
    ...(simulated === undefined ? [] : unknownSteps(simulated.ours)),
  ];
  return {
    namespace,
    findings: findings.toSorted((one, other) => LEVELS[one.level] - LEVELS[other.level]),
    steps: simulated?.ours.map(reportOf) ?? [],
    unknown,
    rights: unknown.length === 0 ? [] : preflightRights(wanted.sources),
  };
}

const LEVELS = { problem: 0, warning: 1, note: 2 } as const;

function simulateAll(
  entries: readonly LiveEntry[],
  { site, namespaces = new Map<string, Labels>() }: LiveGate,
): { readonly ours: readonly SimulatedStep[]; readonly foreign: readonly SimulatedStep[] } {
  const steps = recoverySteps(site);
  const of = (ours: boolean): readonly SimulatedStep[] =>
    simulate(
      steps,
      entries.filter((entry) => entry.ours === ours),
      namespaces,
    );
  return { ours: of(true), foreign: of(false) };
}

function unknownSteps(steps: readonly SimulatedStep[]): readonly Unknown[] {
  return steps
    .filter(({ outcome, step }) => outcome === 'unknown' && step.need === 'necessary')
    .map(({ step, by }) => ({
      what: `whether ${step.title}`,
      why: `a match condition of ${by.map(({ entry }) => entry.name).join(', ')} asks the authorizer`,
    }));
}

function reportOf({ step, outcome, by }: SimulatedStep): ReportedStep {
  const { id, group, need, title } = step;
  return {
    id,
    group,
    need,
    title,
    outcome,
    by: by.map(({ entry, policy }) => ({
      configuration: entry.configuration,
      entry: entry.name,
      ...(policy !== undefined && { policy }),
      failurePolicy: entry.failurePolicy,
    })),
  };
}
