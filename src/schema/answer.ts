/**
 * What the pool and its worker say to each other. The answers have the shape of `SchemaChecks` in the contract rules,
 * which this room may not import (design §3); a test assigns one to the other.
 */

/** A value as JSON has it, and integers beyond 2^53 as bigint. */
export type Json =
  null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

export interface Leaf {
  /** JSON Pointer into the instance; empty for its root. */
  readonly instancePath: string;
  /** Names properties and what the schema wants, never a value of the instance, which may be secret. */
  readonly message: string;
}

export type Refusal = { readonly outcome: 'refused'; readonly reason: string };

export type Answer =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly leaves: readonly Leaf[] }
  | { readonly outcome: 'not-json'; readonly reason: string }
  | { readonly outcome: 'not-a-schema'; readonly reason: string }
  | Refusal;

export interface Job {
  readonly id: number;
  readonly schemaText: string;
  /** In a list, so that `null` is a value; absent where the schema is only compiled. */
  readonly instance?: readonly [Json];
}

/** What happened, and the processor time that the worker had taken until then, in milliseconds. */
export type Report = { readonly usedMs: number } & Happened;

export type Happened =
  /** The worker has loaded and may be given jobs. */
  | { readonly kind: 'ready' }
  /** It begins to compile the schema of its job, which it did not know yet. */
  | { readonly kind: 'compiling' }
  /** It has compiled it, and begins to validate. */
  | { readonly kind: 'compiled' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer };

export function refused(reason: string): Refusal {
  return { outcome: 'refused', reason };
}
