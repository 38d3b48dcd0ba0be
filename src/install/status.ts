/** Writes the status of policies that are custom resources: each at most once for a change, and nothing that is there. */
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { GATE_POLICY } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { CompileProblem } from '../policies/vap/compile.ts';
import { policyStatus, type PolicyStatus } from '../policies/vap/policy-status.ts';
import type { SourcedPolicy } from '../policies/vap/sources.ts';
import type { ExpressionWarning } from '../policies/vap/typecheck.ts';
import type { Desired } from './desired.ts';
import type { Enforced } from './round.ts';

/** What does not depend on the cluster: found out once for each version of a policy. */
export interface PolicyFacts {
  readonly compileErrors: readonly CompileProblem[];
  readonly typeWarnings: readonly ExpressionWarning[];
}

export interface StatusParts {
  readonly clock: Clock;
  readonly factsOf: (policy: SourcedPolicy) => Promise<PolicyFacts>;
  readonly onError: (name: string, error: unknown) => void;
}

type StatusCluster = Pick<Cluster, 'get' | 'replaceStatus'>;

/** Reasons by which an object takes part in nothing. */
const LEFT_OUT = { duplicate: 'Duplicate', reserved: 'Reserved', unreadable: 'Unreadable' } as const;

export class StatusWriter {
  readonly #parts: StatusParts;
  /** By uid, the version that was last written upon and what was said: a copy of that version is older than we know. */
  readonly #written = new Map<string, string>();

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  async write(
    desired: Desired,
    enforced: ReadonlyMap<string, Enforced>,
    cluster: StatusCluster,
    signal: AbortSignal,
  ): Promise<void> {
    const notEnforced = new Map(desired.reach.map((one) => [one.policy, one.notEnforced]));
    const seen = new Set<string>();
    for (const sourced of desired.policies.policies) {
      if (sourced.source.source !== 'customResource') continue;
      signal.throwIfAborted();
      seen.add(sourced.object.metadata.uid ?? '');
      const { name } = sourced.policy;
      const point = enforced.get(name) ?? { by: 'None' };
      const status = await this.#statusOf(sourced, point, {
        notEnforced: point.by === 'Webhook' ? (notEnforced.get(name) ?? []) : [],
        faults: faultsOf(desired, name),
      });
      await this.#put(sourced.object, status, cluster, signal);
    }
    for (const one of desired.policies.problems) {
      // It takes part in nothing: whoever reads it should find that there.
      if (one.source.source !== 'customResource' || one.kind !== 'ValidatingAdmissionPolicy') continue;
      if (one.cause !== 'duplicate' && one.cause !== 'unreadable' && one.cause !== 'reserved') continue;
      const object = await cluster.get(GATE_POLICY, { name: one.name }, { signal });
      if (object === undefined) continue;
      seen.add(object.metadata.uid ?? '');
      await this.#put(object, this.#leftOut(object, one.cause, one.message), cluster, signal);
    }
    for (const uid of this.#written.keys()) if (!seen.has(uid)) this.#written.delete(uid);
  }

  async #statusOf(
    sourced: SourcedPolicy,
    { by, entry, because }: Enforced,
    more: { readonly notEnforced: readonly string[]; readonly faults: readonly string[] },
  ): Promise<PolicyStatus> {
    const { compileErrors, typeWarnings } = await this.#parts.factsOf(sourced);
    return policyStatus({
      generation: sourced.object.metadata.generation ?? 1,
      compileErrors,
      typeWarnings,
      enforcedBy: by,
      entry,
      ...(because !== undefined && { because }),
      ...more,
      previous: sourced.object['status'],
      now: this.#now(),
    });
  }

  #leftOut(object: KubeObject, cause: keyof typeof LEFT_OUT, message: string): PolicyStatus {
    return policyStatus({
      generation: object.metadata.generation ?? 1,
      compileErrors: [],
      typeWarnings: [],
      notEnforced: [],
      enforcedBy: 'None',
      faults: [message],
      because: { reason: LEFT_OUT[cause], message },
      previous: object['status'],
      now: this.#now(),
    });
  }

  async #put(
    object: KubeObject,
    status: PolicyStatus,
    cluster: StatusCluster,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid = '', name = '' } = object.metadata;
    if (status === object['status']) return;
    const written = `${object.metadata.resourceVersion ?? ''} ${textOf(status)}`;
    if (this.#written.get(uid) === written) return;
    try {
      await cluster.replaceStatus(GATE_POLICY, { ...object, status }, { signal });
      this.#written.set(uid, written);
    } catch (error) {
      signal.throwIfAborted();
      // Moved on, or gone: its watch wakes the next round.
      const passes =
        error instanceof GateError &&
        (error.code === 'GATE_CLUSTER_CONFLICT' || error.code === 'GATE_CLUSTER_NOT_FOUND');
      if (!passes) this.#parts.onError(name, error);
    }
  }

  /** Whole seconds, as metav1.Time. */
  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

/** Times left out: what else is the same is the same. */
function textOf(status: PolicyStatus): string {
  return JSON.stringify(status, (key, value: unknown) => (key === 'lastTransitionTime' ? undefined : value));
}

function faultsOf({ policies }: Desired, name: string): readonly string[] {
  return policies.problems
    .filter(
      (one) => one.kind === 'ValidatingAdmissionPolicy' && one.name === name && one.cause === 'param-kind',
    )
    .map(({ message }) => message);
}
