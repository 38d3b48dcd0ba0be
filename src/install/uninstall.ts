/**
 * Taking the gate out of a cluster without stopping it: entries go first, so that none asks a server that is no more
 * (design decision 22). Objects that others made (configurations, CRDs, the namespace) are left to them.
 */
import type { Cluster } from '../cluster/cluster.ts';
import {
  GATE_POLICY,
  LEASE,
  MUTATING_WEBHOOK_CONFIGURATION,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../cluster/kinds.ts';
import { GateError } from '../errors.ts';
import { endedStatus, type EnforcementPoint } from '../policies/vap/policy-status.ts';
import { fillConfiguration, readConfiguration } from './configuration.ts';
import { FIELD_MANAGER, INSTALLER_LEASE } from './names.ts';
import { listNamed, readNatives, removeNatives } from './native.ts';

type UninstallCluster = Pick<Cluster, 'get' | 'list' | 'replace' | 'replaceStatus' | 'apply' | 'delete'>;

export interface NamedEntries {
  readonly name: string;
  readonly entries: readonly string[];
}

export interface UninstallPlan {
  /** With the names of the entries that each holds now. */
  readonly configurations: readonly NamedEntries[];
  /** The same of MutatingWebhookConfigurations. */
  readonly mutating: readonly NamedEntries[];
  /** Native objects with our label, `ValidatingAdmissionPolicy/name`. */
  readonly natives: readonly string[];
  /** Custom resources of which the status says that something enforces them. */
  readonly policies: readonly { readonly name: string; readonly enforcedBy: EnforcementPoint }[];
}

/**
 * @param names of the configurations.
 * @param mutating of those that mutate.
 */
export async function planUninstall(
  cluster: Pick<Cluster, 'get' | 'list'>,
  names: readonly string[],
  mutating: readonly string[] = [],
): Promise<UninstallPlan> {
  const configurations: NamedEntries[] = [];
  for (const name of names) {
    const live = await readConfiguration(cluster, name);
    if (live !== undefined) configurations.push({ name, entries: [...live.entries.keys()] });
  }
  const natives = await readNatives(cluster);
  return {
    configurations,
    mutating: await mutatingOf(cluster, mutating),
    natives:
      natives === undefined
        ? []
        : [
            ...[...natives.bindings.keys()].map((name) => `${NATIVE_POLICY_BINDING.kind}/${name}`),
            ...[...natives.policies.keys()].map((name) => `${NATIVE_POLICY.kind}/${name}`),
          ],
    policies: await enforcedPolicies(cluster),
  };
}

async function mutatingOf(
  cluster: Pick<Cluster, 'get'>,
  names: readonly string[],
): Promise<readonly NamedEntries[]> {
  const found: NamedEntries[] = [];
  for (const name of names) {
    const live = await cluster.get(MUTATING_WEBHOOK_CONFIGURATION, { name });
    if (live === undefined) continue;
    const webhooks = Array.isArray(live['webhooks']) ? (live['webhooks'] as readonly { name: string }[]) : [];
    found.push({ name, entries: webhooks.map((entry) => entry.name) });
  }
  return found;
}

async function enforcedPolicies(cluster: Pick<Cluster, 'list'>): Promise<UninstallPlan['policies']> {
  const policies = await listNamed(cluster, GATE_POLICY).catch((error: unknown) => {
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_UNSUPPORTED') return new Map();
    throw error;
  });
  return [...policies].flatMap(([name, { status }]) => {
    const by = (status as { readonly enforcedBy?: unknown } | undefined)?.enforcedBy;
    return by === 'Native' || by === 'Webhook' ? [{ name, enforcedBy: by }] : [];
  });
}

/** @returns those of which the status is not true any more; native policies that stay go on enforcing. */
export function endedPolicies({ policies }: UninstallPlan, removesNative: boolean): readonly string[] {
  return policies
    .filter(({ enforcedBy }) => removesNative || enforcedBy === 'Webhook')
    .map(({ name }) => name);
}

/**
 * Empties the configurations, whoever filled them, and then removes the native objects with our label if asked to. The
 * status of policies says so at last, as nobody is left who would write it.
 * @param nowMs wall clock.
 * @throws GateError as the cluster does; what was done until then stays done, and a second run does the rest.
 */
export async function uninstall(
  cluster: UninstallCluster,
  plan: UninstallPlan,
  removesNative: boolean,
  nowMs: number,
): Promise<void> {
  for (const { name } of plan.configurations) await empty(cluster, name);
  for (const { name } of plan.mutating) await clear(cluster, MUTATING_WEBHOOK_CONFIGURATION, name);
  const natives = removesNative ? await readNatives(cluster) : undefined;
  if (natives !== undefined) await removeNatives(cluster, natives, () => false);
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  for (const name of endedPolicies(plan, removesNative)) {
    const policy = await cluster.get(GATE_POLICY, { name });
    if (policy === undefined) continue;
    const status = endedStatus(policy['status'], now);
    if (status !== undefined) await cluster.replaceStatus(GATE_POLICY, { ...policy, status });
  }
}

/** What we applied ourselves we give up; what others wrote, as a person with kubectl, is replaced. */
async function empty(cluster: UninstallCluster, name: string): Promise<void> {
  const live = await readConfiguration(cluster, name);
  if (live === undefined || live.entries.size === 0) return;
  await fillConfiguration(cluster, live, []);
  await clear(cluster, VALIDATING_WEBHOOK_CONFIGURATION, name);
}

async function clear(cluster: UninstallCluster, kind: Kind, name: string): Promise<void> {
  const live = await cluster.get(kind, { name });
  if (live === undefined || !Array.isArray(live['webhooks']) || live['webhooks'].length === 0) return;
  await cluster.replace(kind, { ...live, webhooks: [] }, { fieldManager: FIELD_MANAGER });
}

/**
 * @param nowMs wall clock.
 * @returns who writes as the installer just now, and would write the entries again; undefined where nobody does.
 */
export async function runningInstaller(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  nowMs: number,
): Promise<string | undefined> {
  const lease = await leaseOf(cluster, namespace);
  const { holderIdentity, renewTime, leaseDurationSeconds } = (lease?.['spec'] ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof holderIdentity !== 'string' || holderIdentity === '' || typeof renewTime !== 'string')
    return undefined;
  const lastsMs = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1_000 : 0;
  // Microseconds are more than Date.parse needs.
  return Date.parse(renewTime) + lastsMs > nowMs ? holderIdentity : undefined;
}

async function leaseOf(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
): Promise<Awaited<ReturnType<Cluster['get']>>> {
  try {
    return await cluster.get(LEASE, { namespace, name: INSTALLER_LEASE });
  } catch (error) {
    // The namespace is gone already, and the installer with it.
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_ANSWER') return undefined;
    throw error;
  }
}
