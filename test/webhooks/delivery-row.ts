/** A row of the event table of delivery.md §2.3, as a request with what the gate says of it. */
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { AdmissionReview } from '../support/builders.ts';
import type { StageParts } from './delivery-site.ts';

export interface Row {
  readonly row: number;
  readonly what: string;
  readonly review: AdmissionReview;
  readonly path?: string;
  readonly allowed: boolean;
  readonly code: string;
  readonly stage?: StageParts;
  readonly more?: readonly KubeObject[];
  /** What is refused in mode Warn too; else it is allowed there. */
  readonly warnCode?: string;
  readonly promoter?: string;
}
