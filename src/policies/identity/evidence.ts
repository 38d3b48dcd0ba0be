/**
 * The room stays pure: a decision that needs an object of the cluster says so, and is asked again with what was found.
 */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Verdict } from '../verdict.ts';

export type Need = (
  | { readonly need: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly need: 'node'; readonly name: string }
  | { readonly need: 'daemonset'; readonly namespace: string; readonly name: string }
  /** Whoever asks knows it or does not: there is nothing to be read. */
  | { readonly need: 'server-version' }
) & {
  /** Whether a copy of the object that may be behind is enough; left out: always. Nobody is refused on an old one. */
  readonly settles?: (copy: KubeObject) => boolean;
};

/** The outcome of one look-up: `object` is undefined where there is no such object. */
export interface Found {
  readonly object: KubeObject | undefined;
}

/** What is known so far; a member that is left out was not looked up yet. */
export interface Evidence {
  /** Of the API server; undefined while nobody could tell. */
  readonly serverVersion?: { readonly major: number; readonly minor: number } | undefined;
  readonly pod?: Found;
  readonly node?: Found;
  readonly daemonset?: Found;
}

export function isNeed(answer: Verdict | Need): answer is Need {
  return 'need' in answer;
}
