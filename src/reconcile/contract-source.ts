/** Where a Pacto's contract comes from, and what came of it. */
import type { BundleFiles } from '../policies/contract/bundle-files.ts';
import type { Contract } from '../policies/contract/contract.ts';
import type { ContractDocument } from '../policies/contract/document.ts';
import type { Pacto } from './api/pacto.ts';
import type { View } from './view.ts';

export interface ObtainedContract {
  readonly ok: true;
  readonly contract: Contract;
  readonly document: ContractDocument;
  /** Of the contract's own text, as it came: what a revision is named by. */
  readonly sha256: string;
  /** Undefined for an inline contract. */
  readonly files: BundleFiles | undefined;
  /** As resolved, without `oci://`; empty for an inline contract. */
  readonly resolvedRef: string;
  /** Of the manifest; empty for an inline contract. */
  readonly digest: string;
}

export interface NoContract {
  readonly ok: false;
  /** operator.md §3.2, step 6. */
  readonly failure: 'unavailable' | 'broken';
  readonly message: string;
  /** Where `failure` is `broken`: a path in the contract or in the spec. */
  readonly path?: string;
}

export interface ContractSource {
  /**
   * The contract that a Pacto names, before its overrides.
   * @param view reads the pull secret
   * @param fresh no result that is kept counts, but for bundles by digest
   * @returns never throws but the signal's reason
   */
  obtain(
    pacto: Pacto,
    options: {
      readonly view: Pick<View, 'pullSecret'>;
      readonly signal: AbortSignal;
      readonly fresh?: boolean;
    },
  ): Promise<ObtainedContract | NoContract>;
}
