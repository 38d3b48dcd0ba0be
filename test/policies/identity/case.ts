import type { AdmissionRequest, KubeObject } from '../../../src/cluster/objects.ts';
import type { FindingCode } from '../../../src/policies/finding.ts';
import type { IdentityInput } from '../../../src/policies/identity/settings.ts';
import { anAdmissionRequest, type ReviewOptions } from '../../support/builders.ts';

/** How a client brings the request about; by default POST, PUT or DELETE of the one object, as the operation says. */
type Way = 'put' | 'apply' | 'patch' | 'delete-collection' | 'generate-name';

export interface IdentityCase {
  /** Rule, verdict, and what it is about: the name of the test. */
  readonly name: string;
  readonly webhook: 'node-identity' | 'tokens' | 'pods';
  readonly request: AdmissionRequest;
  readonly way?: Way;
  /** Empty: allowed. */
  readonly codes: readonly FindingCode[];
  /**
   * Differences from the default settings. The native policy takes `requirePodClaims` and `requireNodeUid` by its
   * variables of these names; a case with another difference is `webhookOnly`.
   */
  readonly settings?: Partial<IdentityInput>;
  /** What the look-ups find. */
  readonly cluster?: readonly KubeObject[];
  /** Of the API server; by default 1.36. */
  readonly minor?: number;
  /** Why CEL cannot tell. */
  readonly webhookOnly?: string;
  /** Why no API server sends this to a webhook or policy: then the pure decision alone is tested. */
  readonly unitOnly?: string;
}

/** A row: name, codes, review, and the rest. */
export type Row = readonly [
  name: string,
  codes: readonly FindingCode[],
  review: ReviewOptions,
  more?: Partial<IdentityCase>,
];

export function casesOf(webhook: IdentityCase['webhook'], rows: readonly Row[]): readonly IdentityCase[] {
  return rows.map(([name, codes, review, more]) => ({
    name,
    webhook,
    codes,
    request: anAdmissionRequest(review),
    ...more,
  }));
}
