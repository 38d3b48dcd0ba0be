/** What the rules for Stages, Operations and Approvals have to see; asked again with what was found (the room stays pure). */
import type { KubeObject } from '../../cluster/objects.ts';
import type { ObjectRef, StageName } from './change.ts';
import type { WorldFound } from './evidence.ts';
import type { Approval, Operation } from './operation.ts';
import type { Stage } from './stage.ts';

export type ApiNeed =
  /** The Stage and all that its gate depends on, or the identity policy alone. */
  | { readonly need: 'world'; readonly stage: StageName }
  | { readonly need: 'pacto'; readonly namespace: string; readonly name: string }
  | { readonly need: 'operation'; readonly namespace: string; readonly name: string }
  /** All of an Operation. */
  | { readonly need: 'approvals'; readonly namespace: string; readonly uid: string }
  /** All of a namespace. */
  | { readonly need: 'stages'; readonly namespace: string }
  /** Objects that name the Stage by their label. */
  | { readonly need: 'pointers'; readonly stage: StageName }
  /** Whether the caller may `approve stages/<name>`, by RBAC. */
  | { readonly need: 'access'; readonly stage: StageName }
  /** Whether the namespace is going away. */
  | { readonly need: 'namespace'; readonly name: string };

/** A member that is left out was not looked up yet. */
export interface ApiEvidence {
  readonly world?: WorldFound;
  readonly pacto?: { readonly object: KubeObject | undefined };
  readonly operation?: { readonly operation: Operation | undefined };
  readonly approvals?: readonly Approval[];
  readonly stages?: readonly Stage[];
  readonly pointers?: readonly ObjectRef[];
  readonly access?: boolean;
  readonly namespace?: { readonly isTerminating: boolean };
}

/** From the configuration. */
export interface ApiSettings {
  /** How long an absence must last before it is a violation. */
  readonly stabilizationMs: number;
  /** Wall clock. */
  readonly nowMs: number;
}
