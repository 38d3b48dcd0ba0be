/** What a decision of the gate has to see of the cluster; asked again with what was found (the room stays pure). */
import type { KubeObject } from '../../cluster/objects.ts';
import type { ObjectRef, StageName } from './change.ts';
import type { GateWorld, LoadedPolicy } from './world.ts';

export type DeliveryNeed =
  /** The Stage and all that its gate depends on. */
  | { readonly need: 'world'; readonly stage: StageName }
  /** Stages of a namespace that gate workloads; each with its world. */
  | { readonly need: 'workload-worlds'; readonly namespace: string }
  /** What `spec.sourceRef` or `spec.chartRef` names. */
  | { readonly need: 'source'; readonly object: ObjectRef }
  /** The Kustomization that applies the object. */
  | { readonly need: 'parent'; readonly object: ObjectRef };

/** A member that is left out was not looked up yet. */
export interface DeliveryEvidence {
  readonly world?: WorldFound;
  readonly workloadWorlds?: readonly GateWorld[];
  readonly source?: { readonly object: KubeObject | undefined };
  readonly parent?: { readonly object: KubeObject | undefined };
}

export type WorldFound =
  | { readonly isThere: true; readonly world: GateWorld }
  /** There is no such Stage. */
  | { readonly isThere: false; readonly policy: LoadedPolicy };

/** From the configuration. */
export interface DeliverySettings {
  /** Who alone moves pointers, by a warrant; undefined where nobody does: then everybody's moves are judged by the tables. */
  readonly promoterUsername: string | undefined;
  /** Hex digest of a text: the room has no cryptography of its own. */
  readonly sha256: (text: string) => string;
}
