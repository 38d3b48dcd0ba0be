/** Senders of events prove themselves: by a signature over the body, by a token, or by one of the cluster (design §5). */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { GateError } from '../../errors.ts';

/** What a file holds just now; undefined where there is none. The newline that editors leave does not count. */
export type Secret = () => string | undefined;

export interface SentEvent {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** `X-Signature: sha256=<hex>` of the body (flux-facts.md FF-123). */
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** Whether the body carries a signature by the key. Takes the same time for every wrong one. */
export function isSigned({ headers, body }: SentEvent, key: Secret): boolean {
  const secret = key();
  const given = SIGNATURE.exec(headerOf(headers, 'x-signature') ?? '')?.[1];
  if (secret === undefined || secret === '' || given === undefined) return false;
  const wanted = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(wanted, Buffer.from(given, 'hex'));
}

/** Whether `Authorization: Bearer` has the token. */
export function hasToken({ headers }: Pick<SentEvent, 'headers'>, token: Secret): boolean {
  const secret = token();
  const given = /^Bearer +(\S+)$/i.exec(headerOf(headers, 'authorization') ?? '')?.[1];
  if (secret === undefined || secret === '' || given === undefined) return false;
  return timingSafeEqual(sha256(given), sha256(secret));
}

export function unproved(what: string): GateError {
  return new GateError('GATE_CALLER_UNAUTHENTICATED', `event: not accepted: ${what}`);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function headerOf(headers: SentEvent['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
