/** What a case of bad input is, and what it is sent to. */
import { quote } from '../../../src/errors.ts';
import { allow, deny } from '../../../src/policies/verdict.ts';
import type { Webhook } from '../../../src/webhooks/webhook.ts';
import { aLease, aReview, type ReviewOptions } from '../../support/builders.ts';

export const FAIL_ENTRY = 'closed.gate.example.com';
export const IGNORE_ENTRY = 'open.gate.example.com';

/** Denies an object called `denied…` and quotes its name; allows the rest. Once under Fail, once under Ignore. */
export function namingWebhooks(): readonly Webhook[] {
  const webhook = (name: string, entryName: string, failurePolicy: 'Fail' | 'Ignore'): Webhook => ({
    name,
    path: `/validate/${name}`,
    entry: () => ({
      name: entryName,
      failurePolicy,
      decide: ({ name: subject = '' }) =>
        subject.startsWith('denied')
          ? deny([
              { code: 'NAME_DENIED', where: 'metadata.name', message: `not liked (found ${quote(subject)})` },
            ])
          : allow(),
    }),
  });
  return [webhook('closed', FAIL_ENTRY, 'Fail'), webhook('open', IGNORE_ENTRY, 'Ignore')];
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** `response` of the AdmissionReview, without its uid. */
export type Response = Readonly<Record<string, unknown>>;

export interface BadInputCase {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => Uint8Array;
  readonly refused?: Refusal;
  readonly response?: Response;
  /** Of the answer; by default that of the builder. */
  readonly uid?: string;
  readonly apiVersion?: string;
  /** Where the listener answers before the edge is asked, in words of its own: status and code only. */
  readonly listenerAnswers?: boolean;
}

/** Bodies: any value, a good review with changes, one with fields of `request` replaced, one with its text changed. */
export const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
export const review = (options: ReviewOptions = {}): Uint8Array =>
  json(aReview({ object: aLease(), ...options }));
export const withRequest = (fields: Readonly<Record<string, unknown>>): (() => Uint8Array) => {
  return () => review({ with: fields });
};
export const text = (change: (body: string) => string, options?: ReviewOptions): (() => Uint8Array) => {
  return () => Buffer.from(change(Buffer.from(review(options)).toString()));
};

/** The uid that every good review here has. */
export const GOOD_UID = aReview({ object: aLease() }).request.uid;

/** Path, query, headers and body to send. */
export function requestOf(badInput: BadInputCase): {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
} {
  return {
    method: badInput.method ?? 'POST',
    path: badInput.path ?? '/validate/closed',
    query: badInput.query ?? 'timeout=10s',
    headers: { 'content-type': 'application/json', ...badInput.headers },
    body: (badInput.body ?? review)(),
  };
}
