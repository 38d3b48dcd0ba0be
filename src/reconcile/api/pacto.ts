/** A `Pacto` as this program reads and writes it (operator.md §1.1). The CustomResourceDefinition is in pacto-crd.ts. */
import type { ContractStatus } from '../../policies/contract/status-ladder.ts';

export interface PactoSpec {
  readonly contractRef: {
    /** Empty where none is given; `inline` wins over it. */
    readonly oci: string;
    readonly inline: string | undefined;
    readonly pullSecretRef: string | undefined;
  };
  readonly target:
    | {
        readonly serviceName?: string | undefined;
        readonly workloadRef?: { readonly name: string; readonly kind?: string | undefined } | undefined;
        readonly interfaceBindings: readonly {
          readonly interface: string;
          readonly servicePort: number | string;
        }[];
        readonly configBindings: readonly {
          readonly configuration: string;
          readonly kind: 'ConfigMap' | 'Secret';
          readonly name: string;
          readonly key?: string;
          readonly format?: string;
        }[];
      }
    | undefined;
  /** Of `overrides.configurations`. */
  readonly overrides: readonly { readonly name: string; readonly values: Readonly<Record<string, string>> }[];
  /** At least 1; 300 where none or a senseless one is given. */
  readonly checkIntervalSeconds: number;
}

export interface Condition {
  readonly type: 'ContractValid' | 'RuntimeObserved' | 'ReadinessSatisfied';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export interface ObservationWindow {
  readonly kind: 'interface' | 'dependency' | 'configuration' | 'capability';
  readonly subject: string;
  /** RFC 3339, whole seconds. */
  readonly firstObservedNegativeAt: string;
}

export interface StatusFinding {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'info' | 'unknown';
  readonly category: string;
  /** `interface/api`; left out for a structural one. */
  readonly subject?: string;
  readonly contractPath?: string;
  readonly message: string;
  readonly evidenceRefs?: readonly { readonly source: string; readonly observedAt: string }[];
}

export interface Property {
  readonly key: string;
  readonly type?: string;
  readonly value?: string;
}

export interface StatusIssue {
  readonly code?: string;
  readonly path?: string;
  readonly message: string;
}

export interface Summary {
  readonly errorCount: number;
  readonly warningCount: number;
  readonly infoCount: number;
  readonly unknownCount: number;
}

export type ResolutionPolicy = 'Latest' | 'PinnedTag' | 'PinnedDigest';

/** What of a status comes from the contract alone. */
export interface ContractProjection {
  readonly contractVersion?: string;
  readonly contract?: {
    readonly serviceName: string;
    readonly version: string;
    readonly resolvedRef?: string;
    readonly owner?: {
      readonly team?: string;
      readonly dri?: string;
      readonly contacts?: readonly {
        readonly type: string;
        readonly value: string;
        readonly purpose?: string;
      }[];
    };
    readonly ownerDisplay?: string;
  };
  readonly interfaces?: readonly {
    readonly name: string;
    readonly type: string;
    readonly ref?: string;
    readonly visibility?: string;
  }[];
  readonly capabilities?: readonly { readonly type: string; readonly ref?: string }[];
  readonly configurations?: readonly {
    readonly name: string;
    readonly hasSchema: boolean;
    readonly ref?: string;
    readonly valueKeys?: readonly string[];
    readonly secretKeys?: readonly string[];
    readonly overriddenKeys?: readonly string[];
    readonly properties?: readonly Property[];
  }[];
  readonly dependencies?: readonly {
    readonly name: string;
    readonly ref: string;
    readonly required: boolean;
    readonly compatibility?: string;
  }[];
  readonly policies?: readonly {
    readonly name: string;
    readonly hasSchema: boolean;
    readonly schema?: string;
    readonly ref?: string;
    readonly title?: string;
    readonly description?: string;
    readonly properties?: readonly Property[];
  }[];
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ObservedRuntime {
  readonly workloadKind?: string;
  readonly deploymentStrategy?: string;
  readonly podManagementPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly containerImages?: readonly string[];
  readonly hasPVC: boolean;
  readonly hasEmptyDir: boolean;
  readonly healthProbeInitialDelaySeconds?: number;
}

/** What is zero, false or empty is left out, as upstream writes it. */
export interface StatusReadiness {
  readonly score?: number;
  readonly minScore?: number;
  readonly passing?: boolean;
  readonly totalWeight?: number;
  readonly earnedWeight?: number;
  /** `YYYY-MM-DD`. */
  readonly expires?: string;
  readonly expired?: boolean;
  /** Whole days; not there once expired. */
  readonly daysRemaining?: number;
  readonly doneCount?: number;
  readonly partialCount?: number;
  readonly notDoneCount?: number;
  readonly deferredCount?: number;
  readonly claims?: readonly Readonly<Record<string, unknown>>[];
  readonly revisions?: readonly Readonly<Record<string, unknown>>[];
}

export interface PactoStatus extends ContractProjection {
  readonly contractStatus?: ContractStatus;
  readonly resolutionPolicy?: ResolutionPolicy;
  readonly currentRevision?: string;
  readonly observedGeneration?: number;
  readonly lastReconciledAt?: string;
  readonly validation?: {
    readonly valid: boolean;
    readonly errors?: readonly StatusIssue[];
    readonly warnings?: readonly StatusIssue[];
  };
  readonly summary?: Summary;
  readonly findings?: readonly StatusFinding[];
  readonly evaluationCoverage?: { readonly evaluated: number; readonly required: number };
  readonly observationWindows?: readonly ObservationWindow[];
  readonly resources?: {
    readonly service?: { readonly name: string; readonly exists: boolean };
    readonly workload?: { readonly name: string; readonly kind?: string; readonly exists: boolean };
  };
  readonly observedRuntime?: ObservedRuntime;
  readonly readiness?: StatusReadiness;
  readonly conditions?: readonly Condition[];
}

/** One that was read, its spec made whole; what a status lacks or has wrong is not there. */
export interface Pacto {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly spec: PactoSpec;
  readonly status: PactoStatus;
}
