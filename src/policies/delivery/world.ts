/** What the gate knows when it decides: objects as read, and the time (invariant 3 of delivery.md §3.7). */
import type { KubeObject } from '../../cluster/objects.ts';
import type { IdentityPolicy } from './identity-policy.ts';
import type { Approval, Operation } from './operation.ts';
import type { Stage } from './stage.ts';

export interface GateWorld {
  readonly nowMs: number;
  readonly stage: Stage;
  /** Of `spec.pacto`; undefined where there is none. */
  readonly pacto: KubeObject | undefined;
  /** One for each upstream in the cluster, in the order of the spec; a member is undefined where there is none. */
  readonly upstreams: readonly {
    readonly stage: Stage | undefined;
    readonly pacto: KubeObject | undefined;
  }[];
  /** All of this Stage that are not terminal. */
  readonly operations: readonly Operation[];
  /** All of these operations. */
  readonly approvals: readonly Approval[];
  readonly policy: LoadedPolicy;
  /** `reconciler.stabilizationSeconds`: how long an absence must last. */
  readonly stabilizationMs: number;
}

/** The identity policy as it is served (delivery.md §3.4). */
export interface LoadedPolicy {
  /** The newest that could be read; undefined where there never was one: deny by default. */
  readonly policy: IdentityPolicy | undefined;
  /** Of its text, hex; empty where there is none. */
  readonly sha256: string;
  /** What is wrong with the ConfigMap of now; undefined where `policy` is of now. */
  readonly invalid: string | undefined;
}
