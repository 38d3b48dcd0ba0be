/**
 * What an evaluation may have to know from outside. It never looks anything up: it says what it needs, and goes on
 * when it has the answer. A look-up that fails is no answer: whoever looks up gives the evaluation up then, and
 * answers by the failure policy (design decision 13).
 */
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../../cluster/objects.ts';
import type { AuthorizationAnswer, AuthorizationQuery } from '../cel/signals.ts';
import type { LabelSelector, ParamKind } from './types.ts';

export interface NamespaceNeed {
  readonly need: 'namespace';
  readonly name: string;
}

/** What is served for a paramKind. */
export interface ParamKindNeed extends ParamKind {
  readonly need: 'paramKind';
}

/** Objects of a paramKind: that of this name, or those that the selector selects. */
export interface ParamsNeed extends ParamKind {
  readonly need: 'params';
  /** Left out for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name?: string;
  readonly selector?: LabelSelector;
}

export interface AuthorizeNeed {
  readonly need: 'authorize';
  readonly query: AuthorizationQuery;
}

/**
 * The objects of the request in the version that the policy matched (vap.md M09). Never asked where the review
 * already holds them in that version, as it does for a webhook entry with the policy's own rules (vap.md F6).
 */
export interface ConversionNeed {
  readonly need: 'conversion';
  readonly to: GroupVersionKind;
}

export type Need = NamespaceNeed | ParamKindNeed | ParamsNeed | AuthorizeNeed | ConversionNeed;

export type Conversion =
  { readonly object: unknown; readonly oldObject: unknown } | { readonly error: string };

/** What answers each need. */
export interface Answers {
  /** Null: there is none. */
  readonly namespace: KubeObject | null;
  /** Null: nobody serves that kind. */
  readonly paramKind: { readonly namespaced: boolean } | null;
  /** More than the selector selects do no harm: what it does not select is dropped. */
  readonly params: readonly KubeObject[];
  readonly authorize: AuthorizationAnswer;
  readonly conversion: Conversion;
}

export type AnswerTo<N extends Need> = Answers[N['need']];

/** A place to let others work: a good deal was done since the last one. It wants no answer. */
export interface Pause {
  readonly need: 'pause';
}

export const PAUSE: Pause = { need: 'pause' };

/** What is known already. Undefined means: not yet. */
export interface Evidence {
  readonly namespace: (name: string) => Answers['namespace'] | undefined;
  readonly paramKind: (kind: ParamKind) => Answers['paramKind'] | undefined;
  readonly params: (query: ParamsNeed) => Answers['params'] | undefined;
  readonly authorize: (query: AuthorizationQuery) => Answers['authorize'] | undefined;
  readonly conversion: (to: GroupVersionKind) => Answers['conversion'] | undefined;
}

/** The answer to a need out of what is known. */
export function answerFrom(known: Evidence, need: Need): Answers[keyof Answers] | undefined {
  switch (need.need) {
    case 'namespace':
      return known.namespace(need.name);
    case 'paramKind':
      return known.paramKind(need);
    case 'params':
      return known.params(need);
    case 'authorize':
      return known.authorize(need.query);
    case 'conversion':
      return known.conversion(need.to);
  }
}

/** Another version of a resource, under which the API server stores the same objects. */
export interface Equivalent {
  readonly resource: GroupVersionResource;
  /** Of the subresource, where the request has one. Undefined: not known. */
  readonly kind: GroupVersionKind | undefined;
}

/** Equivalents of a resource, in the API server's order; itself may be among them. */
export type EquivalentsOf = (resource: GroupVersionResource, subresource: string) => readonly Equivalent[];
