/** A case of the parity test: policies, the request that meets them, and how it is sent. */
import type { PolicyCase } from '../policy-cases.ts';

export interface ParityCase extends PolicyCase {
  /** Its namespace is being deleted when the request comes. */
  readonly terminating?: boolean;
  /** Verdict that was recorded, or that the case is there for: a request that comes to another one is not this case. */
  readonly allowed: boolean;
}

/** Cases that are sent by one kubectl, one document each, or one case alone. */
export interface Sending {
  readonly id: string;
  readonly cases: readonly ParityCase[];
  /** What kubectl does with the objects of several; undefined where a case is sent as its own request says. */
  readonly batch: 'create' | 'replace' | undefined;
}

export function policyNames(one: ParityCase): readonly string[] {
  return (one.policies as readonly { readonly metadata: { readonly name: string } }[]).map(
    ({ metadata }) => metadata.name,
  );
}
