/**
 * The admission edge, free of any HTTP framework: one request in, one answer out, and never an error. Whatever fails
 * between the two is answered by the failure policy of the entry that was asked (design decision 13).
 */
import { abortable } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import type { Reader } from '../cluster/cluster.ts';
import { GateError, quote } from '../errors.ts';
import type { Log, LogFields } from '../log.ts';
import type { DecisionVerdict, Metrics } from '../metrics.ts';
import type { Verdict, Violation } from '../policies/verdict.ts';
import { answerReview, failureVerdict, refuse, type RawAnswer } from './answer.ts';
import { budgetOf, startDeadline } from './deadline.ts';
import { createPaths } from './paths.ts';
import { idAtStart, type ReviewId } from './layout.ts';
import {
  LARGE_REVIEW_BYTES,
  readReview,
  readReviewInSteps,
  readUnread,
  type Headers,
  type Review,
} from './review.ts';
import { StepQueue } from './step-queue.ts';
import type { Webhook, WebhookEntry } from './webhook.ts';

export interface RawRequest {
  readonly method: string;
  /** As sent, percent-encoding included, without the query. */
  readonly path: string;
  /** As sent, without `?`; empty where there is none. */
  readonly query: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** `clock.monotonic()` when the head of the request arrived: the deadline counts from there. */
  readonly receivedMs: number;
  /** Set where there is no room to decide: answered at once, by the failure policy. */
  readonly overload?: GateError;
  /** Set where `body` is only the beginning of what was sent: why the rest was not kept. */
  readonly unread?: GateError;
  /** Aborts with a GateError when the caller is gone. */
  readonly signal?: AbortSignal;
}

export interface Edge {
  /** Never rejects. */
  answer(raw: RawRequest): Promise<RawAnswer>;
}

export interface EdgeOptions {
  readonly webhooks: readonly Webhook[];
  /** A reader for one request. */
  readonly readerFor: () => Reader;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'decision' | 'refusal'>;
}

export function createEdge(options: EdgeOptions): Edge {
  return new AdmissionEdge(options);
}

/** One request on its way: who is asked, and what is known of it so far. */
interface Call {
  readonly raw: RawRequest;
  readonly webhook: Webhook;
  readonly entry: WebhookEntry;
}

class AdmissionEdge implements Edge {
  readonly #options: EdgeOptions;
  readonly #match: ReturnType<typeof createPaths>;
  readonly #large = new StepQueue();

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#match = createPaths(options.webhooks);
  }

  async answer(raw: RawRequest): Promise<RawAnswer> {
    try {
      return await this.#answer(raw);
    } catch (error) {
      // No entry is known, so no failure policy either: the API server decides.
      return this.#refuse(raw, 500, hidden(error), { err: error });
    }
  }

  async #answer(raw: RawRequest): Promise<RawAnswer> {
    const match = this.#match(raw.path);
    if (match === undefined) {
      return this.#refuse(
        raw,
        404,
        new GateError(
          'GATE_HTTP_NOT_FOUND',
          `${quote(raw.path)}: no webhook here: check the path of the webhook entry`,
        ),
      );
    }
    if (raw.method !== 'POST') {
      const message = `${quote(raw.path)}: ${quote(raw.method)} is not answered here: use POST`;
      return this.#refuse(raw, 405, new GateError('GATE_HTTP_METHOD', message), {}, { allow: 'POST' });
    }
    const { webhook } = match;
    const preparation = webhook.prepare?.();
    if (preparation !== undefined) await this.#withinDeadline(raw, preparation);
    const entry = webhook.entry(match.parameters);
    if (entry === undefined) {
      const message = `${quote(raw.path)}: not known to this server: load what the webhook entry asks for, or remove the entry`;
      return this.#refuse(raw, 503, new GateError('GATE_WEBHOOK_UNKNOWN', message), {
        webhook: webhook.name,
      });
    }
    return this.#answerEntry({ raw, webhook, entry });
  }

  /** However it ends, the entry is asked next: it knows what is missing, and its own deadline counts from the same moment. */
  async #withinDeadline(raw: RawRequest, preparation: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    let deadline: ReturnType<typeof startDeadline> | undefined;
    try {
      deadline = startDeadline({
        clock,
        receivedMs: raw.receivedMs,
        ...budgetOf(raw.query),
        ...(raw.signal !== undefined && { signal: raw.signal }),
      });
      await abortable(preparation, deadline.signal);
    } catch {
      preparation.catch(() => undefined);
    } finally {
      deadline?.clear();
    }
  }

  async #answerEntry(call: Call): Promise<RawAnswer> {
    const { raw, webhook } = call;
    let budget: ReturnType<typeof budgetOf>;
    try {
      budget = budgetOf(raw.query);
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      return this.#refuse(raw, 400, error, { webhook: webhook.name });
    }
    // What is too large is answered without being read, so overload is no reason to leave it to the failure policy.
    const isOverload = raw.overload !== undefined && raw.unread?.code !== 'GATE_REVIEW_TOO_LARGE';
    if (isOverload && call.entry.decidePlain === undefined) {
      const id = idAtStart(raw.body);
      if (id !== undefined) return this.#fail(call, id, raw.overload);
    }
    const review = await this.#read(raw);
    if (review.kind === 'refused') {
      const id = isOverload ? idAtStart(raw.body) : undefined;
      if (id !== undefined) return this.#fail(call, id, raw.overload);
      return this.#refuse(raw, review.status, review.error, { webhook: webhook.name });
    }
    if (review.kind === 'unreadable') return this.#answerUnread(call, review);
    const { id, request } = review;
    try {
      const plain = call.entry.decidePlain?.(request);
      if (plain === undefined && raw.overload !== undefined) throw raw.overload;
      const verdict = plain ?? (await this.#decide(call, request, budget));
      const answer = answerReview(id, verdict, call.entry.isVerbatim);
      this.#record(call, id, request, verdict.allowed ? 'allowed' : 'denied', {
        codes: verdict.allowed ? [] : verdict.codes,
        ...(verdict.violations !== undefined && { violations: verdict.violations }),
      });
      return answer;
    } catch (error) {
      return this.#fail(call, id, error, request);
    }
  }

  #read({ body, headers, unread }: RawRequest): Review | Promise<Review> {
    if (unread !== undefined) return readUnread(body, headers, unread);
    if (body.byteLength <= LARGE_REVIEW_BYTES) return readReview(body, headers);
    return this.#large.run(readReviewInSteps(body, headers));
  }

  #answerUnread(call: Call, { id, request, error }: Review & { readonly kind: 'unreadable' }): RawAnswer {
    try {
      const verdict = request && call.entry.decideUnread?.(request, error);
      if (verdict === undefined) return this.#fail(call, id, error, request);
      const answer = answerReview(id, verdict);
      this.#record(call, id, request, verdict.allowed ? 'allowed' : 'denied', {
        codes: verdict.allowed ? [error.code] : verdict.codes,
        err: error,
        level: 'warn',
      });
      return answer;
    } catch (fault) {
      return this.#fail(call, id, fault, request);
    }
  }

  async #decide(
    { raw, entry }: Call,
    request: AdmissionRequest,
    budget: ReturnType<typeof budgetOf>,
  ): Promise<Verdict> {
    const { clock, readerFor } = this.#options;
    const deadline = startDeadline({
      clock,
      receivedMs: raw.receivedMs,
      ...budget,
      ...(raw.signal !== undefined && { signal: raw.signal }),
    });
    try {
      deadline.signal.throwIfAborted();
      const verdict = entry.decide(request, {
        signal: deadline.signal,
        reader: readerFor(),
        share: (mostMs, expired) => deadline.share(mostMs, expired),
      });
      // One that does not heed its signal is left behind; whatever comes of it is not needed any more.
      return verdict instanceof Promise ? await abortable(verdict, deadline.signal) : verdict;
    } finally {
      deadline.clear();
    }
  }

  #fail(call: Call, id: ReviewId, error: unknown, request?: AdmissionRequest): RawAnswer {
    const { failurePolicy, name } = call.entry;
    const shown = error instanceof GateError ? error : hidden(error);
    const verdict = failureVerdict(failurePolicy, name, shown);
    this.#record(call, id, request, verdict.allowed ? 'failed-open' : 'failed-closed', {
      codes: [shown.code],
      err: error,
      level: LEVELS[shown.disposition],
    });
    return answerReview(id, verdict);
  }

  /** The one line and the one count of a decision. */
  #record(
    { raw, webhook, entry }: Call,
    id: ReviewId,
    request: AdmissionRequest | undefined,
    verdict: DecisionVerdict,
    outcome: {
      codes: readonly string[];
      violations?: readonly Violation[];
      err?: unknown;
      level?: 'warn' | 'error';
    },
  ): void {
    const { clock, log, metrics } = this.#options;
    const durationMs = clock.monotonic() - raw.receivedMs;
    const { codes, violations, err, level = 'info' } = outcome;
    const [code] = codes;
    log[level]('admission decision', {
      webhook: webhook.name,
      ...(entry.name !== webhook.name && { entry: entry.name }),
      uid: id.uid,
      ...(request !== undefined && subjectOf(request)),
      verdict,
      codes,
      ...(violations !== undefined && violationFields(violations)),
      durationMs: Math.round(durationMs * 1_000) / 1_000,
      ...(err !== undefined && { err }),
    });
    metrics.decision({
      webhook: webhook.name,
      operation: request?.operation ?? 'other',
      verdict,
      ...(code !== undefined && { code }),
      durationSeconds: durationMs / 1_000,
      ...(violations !== undefined && { violations }),
    });
  }

  #refuse(
    raw: RawRequest,
    status: number,
    error: GateError,
    fields: LogFields = {},
    headers: Readonly<Record<string, string>> = {},
  ): RawAnswer {
    const { clock, log, metrics } = this.#options;
    const durationMs = Math.round((clock.monotonic() - raw.receivedMs) * 1_000) / 1_000;
    const level = status >= 500 ? LEVELS[error.disposition] : 'warn';
    log[level]('admission request refused', { ...fields, status, code: error.code, durationMs });
    metrics.refusal(error.code);
    return refuse(status, error, headers);
  }
}

/** `error` is for what a person must mend; the rest passes, or is the caller's to mend. */
const LEVELS = { input: 'warn', retry: 'warn', configuration: 'error', internal: 'error' } as const;

/** Details of an error that nobody foresaw may hold anything: they are for the log, the user gets this. */
function hidden(cause: unknown): GateError {
  return new GateError('GATE_INTERNAL', 'internal error: see the log of pacto-gate', { cause });
}

/** In one line of the log; the metric counts all. */
const VIOLATIONS_SHOWN = 20;

/** An entry has one policy: which binding of it, where, and what came of it. No message: it may hold values. */
function violationFields(violations: readonly Violation[]): LogFields {
  return {
    policy: violations[0]?.policy,
    violations: violations.slice(0, VIOLATIONS_SHOWN).map(({ binding, field, evaluation, actions }) => {
      const where = [binding, field, evaluation].filter((part) => part !== undefined).join(' ');
      return `${where}: ${actions.length === 0 ? 'ignored' : actions.join(', ')}`;
    }),
  };
}

function subjectOf(request: AdmissionRequest): LogFields {
  return {
    operation: request.operation,
    kind: request.kind.kind,
    subResource: request.subResource,
    namespace: request.namespace,
    name: request.name,
    user: request.userInfo.username,
    dryRun: request.dryRun ?? false,
  };
}
