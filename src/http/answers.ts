/** Short answers of our own, for everything that is no answer of a handler: `message [GATE_…]`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock } from '../clock.ts';
import type { Disposition, ErrorCode, GateError } from '../errors.ts';
import type { OnRefusal } from './refusals.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Told of each answer that no handler gave. */
    onRefusal: OnRefusal;
  }
}

export interface Answer {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** HTTP status of the codes that a listener answers by itself; the others follow their disposition. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  GATE_REVIEW_TOO_LARGE: 413,
  GATE_REVIEW_MEDIA_TYPE: 415,
  GATE_REVIEW_ENCODING: 415,
  GATE_REVIEW_SLOW: 408,
  GATE_OVERLOADED: 429,
  GATE_CALLER_UNAUTHENTICATED: 401,
  GATE_CALLER_FORBIDDEN: 403,
};

const STATUS_OF_DISPOSITION: Record<Disposition, number> = {
  input: 400,
  retry: 503,
  configuration: 503,
  internal: 500,
};

/** Seconds that an overloaded server asks its caller to stay away (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = '1';

export function answerOf(error: GateError): Answer {
  const headers: Record<string, string> = {};
  if (error.code === 'GATE_OVERLOADED') headers['retry-after'] = RETRY_AFTER_SECONDS;
  if (error.code === 'GATE_CALLER_UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer';
  return {
    status: STATUS[error.code] ?? STATUS_OF_DISPOSITION[error.disposition],
    code: error.code,
    message: error.message,
    headers,
  };
}

/** The API server shows its user the body of such an answer only if it is text, and says `unknown` otherwise. */
export const TEXT = 'text/plain; charset=utf-8';

export function bodyOf(answer: Answer): string {
  return `${answer.message} [${answer.code}]\n`;
}

/** Answers in the ordinary way: the request's body was read, or there is none. */
export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.server.onRefusal(answer);
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .header('content-type', TEXT)
    .send(bodyOf(answer));
}

/**
 * How long a refused upload is read and thrown away before the connection is closed. Closing at once would reset the
 * connection, and a caller that is still writing would often see the reset instead of the answer.
 */
const LINGER_MS = 1_000;

/**
 * Answers without having read the body, at once, and closes the connection behind it: what follows on it is the rest
 * of a body that nobody will read.
 */
export function refuseUnread(request: FastifyRequest, reply: FastifyReply, answer: Answer): void {
  if (!hasBody(request)) {
    void sendAnswer(reply, answer);
    return;
  }
  const { raw: incoming } = request;
  const { raw: outgoing } = reply;
  // Its caller has left: writing now would raise an error that nobody waits for.
  if (outgoing.destroyed || incoming.socket.destroyed) return;
  reply.server.onRefusal(answer);
  const body = bodyOf(answer);
  reply.hijack();
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    'content-type': TEXT,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  outgoing.write(body);
  // The answer is complete for its reader by its length; ending it is what closes the connection.
  const finish = (): void => {
    timer.cancel();
    outgoing.end();
  };
  const timer = systemClock.setTimer(LINGER_MS, finish);
  incoming.once('end', finish).once('close', finish).once('error', finish);
  incoming.resume();
}

/** Whether a body follows the head of this request (RFC 9112 §6.3). */
export function hasBody(request: FastifyRequest): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
