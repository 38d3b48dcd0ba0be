/**
 * A contract's file in the two views that the rules look at (contract.md §2.2). They can disagree; layer 1, which looks at
 * the generic view, then wins because it runs first.
 */
import type { Contract } from './contract.ts';
import type { JsonValue } from './json-value.ts';

export interface ContractDocument {
  /** As it was read; after overrides, as it was written back. */
  readonly text: string;
  readonly generic: GenericView;
}

export type GenericView =
  | { readonly ok: true; readonly value: JsonValue }
  /** The text is no YAML, or holds what JSON cannot (contract.md §2.3 m). */
  | { readonly ok: false; readonly reason: string };

/** What a load gives: a load failure never reaches the layers (contract.md §2.1). */
export type Loaded =
  | { readonly ok: true; readonly contract: Contract; readonly document: ContractDocument }
  | ({ readonly ok: false; readonly document: ContractDocument } & LoadFailure);

/** Why a contract does not load, and where, as far as it is known. */
export interface LoadFailure {
  /** Without the place, which stands beside it. */
  readonly reason: string;
  /** `interfaces[0].ref` */
  readonly path?: string;
  /** In the text, from 1. */
  readonly line?: number;
}
