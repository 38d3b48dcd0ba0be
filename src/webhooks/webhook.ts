/** What a webhook is: one file `<name>.webhook.ts` each, listed once in registry.ts. */
import type { Reader } from '../cluster/cluster.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import type { GateError } from '../errors.ts';
import type { FailurePolicy, Verdict } from '../policies/verdict.ts';

/** Time for one question; `clear` it when the answer is there. */
export interface Share {
  /** Aborts with the error that was given when the share is over, or as the whole. */
  readonly signal: AbortSignal;
  clear(): void;
}

export interface DecisionContext {
  /** Aborts when our own budget ends, some time before the API server stops waiting. */
  readonly signal: AbortSignal;
  /** Cluster reads of this one request: what was read once is not read again. */
  readonly reader: Reader;
  /** A part of the time for one question of several, as `Deadline.share` (deadline.ts). */
  readonly share: (mostMs: number, expired: (shareMs: number) => GateError) => Share;
}

/** What answers one path: for the policy webhook of a later day, one for each policy. */
export interface WebhookEntry {
  /** As the entry is called in the webhook configuration; for the log and the metric. */
  readonly name: string;
  /** The entry's own failure policy, by which the edge answers when `decide` throws (design decision 13). */
  readonly failurePolicy: FailurePolicy;
  /** The texts of its verdicts are somebody else's and reach the API server as they are, which cuts them itself. */
  readonly isVerbatim?: boolean;
  /**
   * Answers what can be told from the review alone, whatever else fails: overload and a deadline that is over are no
   * reason to refuse it (delivery.md §2.4 A; design decision 13 never applies to it).
   * @returns undefined, as an entry without this does, where more must be seen. Must not throw.
   */
  decidePlain?(request: AdmissionRequest): Verdict | undefined;
  /** @throws anything: the edge turns it into the answer of the failure policy. */
  decide(request: AdmissionRequest, context: DecisionContext): Verdict | Promise<Verdict>;
  /**
   * Answers where the objects are too large or too deep to be read, which whoever wrote them can bring about: an entry
   * that knows whom it is about must not leave that to its failure policy.
   * @param request with null for both objects, and without what API servers write after them (dryRun, options).
   * @returns undefined, as an entry without this does, for the answer of the failure policy.
   */
  decideUnread?(request: AdmissionRequest, error: GateError): Verdict | undefined;
}

export interface Webhook {
  /** Constant and low in cardinality: the metric label. */
  readonly name: string;
  /** Path below the listener; a segment `{name}` is a parameter. */
  readonly path: string;
  /**
   * Called for each request before `entry`; what it returns is waited for, within the deadline of the request. Its
   * failure is told by `decide`, whose failure policy is known.
   *
   * @returns undefined where nothing has to be found out first
   */
  prepare?(): Promise<void> | undefined;
  /** @returns undefined where no such entry is known: the edge answers 503, and the API server decides. */
  entry(parameters: Readonly<Record<string, string>>): WebhookEntry | undefined;
}
