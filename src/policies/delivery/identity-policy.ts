/** The identity policy: who may do what to which Stage (delivery.md §3.4). */

export interface Subject {
  readonly group?: string;
  readonly user?: string;
  /** `namespace/name`. */
  readonly serviceAccount?: string;
}

export interface Role {
  readonly subjects: readonly Subject[];
  readonly mayApprove: boolean;
  /** Of break-glass: what a ticket must match; undefined where any will do. */
  readonly ticketPattern: string | undefined;
  /** Of break-glass, at most one hour. */
  readonly maxDurationMs: number;
}

export type StageAction = 'promote' | 'approve' | 'rollback' | 'breakGlass' | 'admin';

/** The first rule that matches counts. */
export interface PolicyRule {
  /** Globs: `*` is any text. */
  readonly namespaces: readonly string[];
  readonly stages: readonly string[];
  /** Names of roles. */
  readonly roles: Readonly<Record<StageAction, readonly string[]>>;
}

export interface IdentityPolicy {
  readonly roles: ReadonlyMap<string, Role>;
  readonly rules: readonly PolicyRule[];
  readonly crossNamespace: readonly { readonly fromStage: string; readonly toNamespace: string }[];
}
