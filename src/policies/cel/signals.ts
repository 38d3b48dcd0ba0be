/**
 * What an evaluation may throw. Everything else is a CelError value: an error is absorbed by `||`, `&&`, `?:` and
 * macros, and these two must not be.
 */
import type { Value } from './values.ts';

/**
 * The expression ends here, whatever stands around: it costs more than it may (vap.md B01), or it is one that the
 * API server's code does not survive (`internal error: …`). The program makes it the error of the expression.
 */
export class EvaluationCancelled {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/**
 * `check()` asked what is not known yet. Whoever evaluates finds the answer out, and evaluates again from the start
 * with an `Authorize` that knows it (cel.md §5.6).
 */
export class AuthorizationPending {
  readonly query: AuthorizationQuery;
  constructor(query: AuthorizationQuery) {
    this.query = query;
  }
}

export interface AuthorizationUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** One requirement of a selector. */
export interface SelectorTerm {
  readonly key: string;
  /** As the Kubernetes API spells it: `In`, `NotIn`, `Exists`, `DoesNotExist`. */
  readonly operator: string;
  readonly values: readonly string[];
  /** As Kubernetes prints the requirement. */
  readonly text: string;
}

/** A selector of a question: what it parsed to, or why it did not parse. */
export interface AuthorizationSelector {
  readonly terms: readonly SelectorTerm[];
  readonly error?: string;
}

/** A question to the authorizer. Attributes that were not set are empty strings. */
export type AuthorizationQuery =
  | {
      readonly kind: 'path';
      readonly user: AuthorizationUser;
      readonly verb: string;
      readonly path: string;
    }
  | {
      readonly kind: 'resource';
      readonly user: AuthorizationUser;
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      readonly fieldSelector?: AuthorizationSelector;
      readonly labelSelector?: AuthorizationSelector;
    };

export interface AuthorizationAnswer {
  readonly decision: 'allow' | 'deny' | 'noopinion';
  readonly reason: string;
  /** Of an authorizer that failed; a failed decision is not allowed. */
  readonly error?: string;
}

/** @returns undefined where the answer is not known yet: the check throws AuthorizationPending. */
export type Authorize = (query: AuthorizationQuery) => AuthorizationAnswer | undefined;

/** The values of `authorizer` and `authorizer.requestResource` in one evaluation. */
export interface AuthorizerBinding {
  readonly authorizer: Value;
  readonly requestResource: Value;
}
