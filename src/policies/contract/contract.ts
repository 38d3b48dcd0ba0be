/**
 * The typed view of a contract v2.0 (contract.md §1), as the loader decodes it: a null list is an empty one, and every
 * value is one that Go's decoder would have given the field (contract.md §2.3). Layer 1 looks at the generic view instead.
 */
import type { JsonObject } from './json-value.ts';

export interface Contract {
  readonly pactoVersion: string;
  readonly service: Service;
  readonly interfaces: readonly Interface[];
  readonly configurations: readonly Configuration[];
  readonly policies: readonly PolicyReference[];
  readonly dependencies: readonly Dependency[];
  readonly workload?: string;
  readonly state?: State;
  readonly capabilities: readonly Capability[];
  readonly readiness?: Readiness;
  readonly metadata?: JsonObject;
  readonly extensions?: JsonObject;
}

export interface Service {
  readonly name: string;
  readonly version: string;
  readonly owner?: Owner;
}

export interface Owner {
  readonly team?: string;
  readonly dri?: string;
  readonly contacts: readonly Contact[];
}

export interface Contact {
  readonly type: string;
  readonly value: string;
  readonly purpose?: string;
}

export interface Interface {
  readonly name: string;
  readonly type: string;
  readonly ref: string;
  /** Absent means `internal`. */
  readonly visibility?: string;
}

export interface Configuration {
  readonly name: string;
  readonly required: boolean;
  readonly schema?: string;
  readonly ref?: string;
  readonly values?: JsonObject;
}

export interface PolicyReference {
  readonly name: string;
  readonly schema?: string;
  readonly ref?: string;
  readonly target?: string;
}

export interface Dependency {
  readonly name: string;
  readonly ref: string;
  readonly required: boolean;
  readonly compatibility: string;
}

export interface State {
  readonly type: string;
  readonly persistence: { readonly scope: string; readonly durability: string };
  readonly dataCriticality: string;
}

export interface Capability {
  /** `health`, `metrics` or `extension`. */
  readonly type: string;
  readonly ref?: string;
  readonly binding?: CapabilityBinding;
}

export interface CapabilityBinding {
  readonly type: string;
  readonly interface: string;
  readonly path?: string;
}

export interface Readiness {
  /** `YYYY-MM-DD`, unchecked. */
  readonly expires: string;
  readonly claims: readonly Claim[];
  /** 0 to 100; absent means 100. */
  readonly minScore?: number;
  /** 0 to 1; absent means 0.5. */
  readonly partialCredit?: number;
  readonly history: readonly Revision[];
}

export interface Claim {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly evidence: string;
  readonly weight: number;
  readonly category?: string;
  readonly description?: string;
}

export interface Revision {
  readonly date: string;
  readonly version: string;
  readonly author: string;
  readonly description: string;
}

/** What a capability is matched and counted by: `ref` of an extension, else its type (contract.md §1.9). */
export function assertionKey(capability: Capability): string {
  return capability.type === 'extension' ? (capability.ref ?? '') : capability.type;
}
