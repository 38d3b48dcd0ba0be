/** A `Stage` as the gate reads it: one service in one environment (delivery.md §3.1). */

/** Which value of the target a pointer holds; never a path that somebody else chose. */
export const POINTER_FIELDS = [
  'ociDigest',
  'gitCommit',
  'chartVersion',
  'kustomizeImageDigest',
  'configKey',
] as const;
export type PointerField = (typeof POINTER_FIELDS)[number];

export interface StagePointer {
  readonly name: string;
  readonly target: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    /** Left out: the Stage's own. */
    readonly namespace: string | undefined;
  };
  readonly field: PointerField;
  /** Image name or ConfigMap key, for the last two fields; else empty. */
  readonly key: string;
  /** `oci://…`: what the target's URL must be; empty where the Stage does not say. */
  readonly artifact: string;
}

export interface StageConsumer {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

export type StageUpstream =
  | { readonly stage: string; readonly namespace: string | undefined; readonly minCompliantForMs: number }
  | { readonly remote: string; readonly stage: string; readonly maxRecordAgeMs: number };

export type GateMode = 'Enforce' | 'Warn' | 'Off';
export type GateScope = 'Pointer' | 'Workload' | 'Strict';
export type GateTarget = 'AllowCures' | 'Block' | 'Ignore';
export type OnUnknown = 'Wait' | 'Deny' | 'Allow';

/** A recurring span of time in which moves are allowed, or are not. */
export interface StageWindow {
  readonly kind: 'Allow' | 'Deny';
  /** Five fields, as cron has them. */
  readonly schedule: string;
  /** IANA name; empty is UTC. */
  readonly timeZone: string;
  readonly durationMs: number;
}

/** Durations are milliseconds; what a Stage leaves out or has wrong reads as its default, or as what opens least. */
export interface StageSpec {
  readonly pacto: { readonly name: string; readonly namespace: string | undefined };
  readonly pointers: readonly StagePointer[];
  readonly consumers: readonly StageConsumer[];
  readonly upstreams: { readonly strategy: 'All' | 'Any'; readonly from: readonly StageUpstream[] };
  readonly gate: {
    readonly mode: GateMode;
    readonly scope: GateScope;
    readonly target: GateTarget;
    readonly onUnknown: OnUnknown;
    readonly maxVerdictAgeMs: number;
    readonly requireReadiness: boolean;
  };
  readonly approvals: {
    readonly required: readonly { readonly role: string; readonly count: number }[];
    readonly separationOfDuties: 'None' | 'Requester' | 'RequesterAndAuthor';
    readonly validForMs: number;
    readonly onVerdictChange: 'Invalidate' | 'Keep';
  };
  readonly verification: { readonly soakMs: number; readonly deadlineMs: number };
  /** Frozen while `untilMs` is in the future; undefined (`until: null`): not frozen. */
  readonly freeze: {
    readonly untilMs: number | undefined;
    readonly reason: string;
    readonly allowCures: boolean;
  };
  readonly windows: readonly StageWindow[];
  readonly historyLimit: number;
  readonly suspend: boolean;
}

/** The Pod template of a workload, by what it hashes to. */
export interface TemplateHash {
  readonly kind: string;
  readonly name: string;
  readonly sha256: string;
}

export interface StageRelease {
  readonly digest: string;
  readonly tag: string | undefined;
  /** When the verdict had been Compliant for the soak. */
  readonly verifiedAtMs: number | undefined;
  readonly templates: readonly TemplateHash[];
}

export interface StageCurrent extends StageRelease {
  /** Since when the pointers stand on it. */
  readonly sinceMs: number | undefined;
  /** Since when the consumers run it; undefined while they do not. */
  readonly convergedAtMs: number | undefined;
  /** Since when a fresh verdict about it has been Compliant without a break, as the keeper saw it. */
  readonly compliantSinceMs: number | undefined;
}

export interface StageStatus {
  readonly observedGeneration: number | undefined;
  readonly current: StageCurrent | undefined;
  /** Newest first. */
  readonly lastGood: readonly StageRelease[];
  readonly holdDigests: readonly string[];
  readonly activeOperation: { readonly name: string; readonly uid: string } | undefined;
  /** The value that a pointer stands on without having been allowed (condition UngatedMove). */
  readonly ungated: { readonly digest: string; readonly sinceMs: number } | undefined;
}

export interface Stage {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly spec: StageSpec;
  readonly status: StageStatus;
}
