/** Reading a body whole, as bytes: no media type is parsed here, and nothing is kept beyond the limit. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GateError } from '../errors.ts';
import { answerOf, refuseUnread } from './answers.ts';
import type { Slot } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request holds of the listener's limits; null where none are set. */
    slot: Slot | null;
    /** Set where the limits had no room and the body was small enough to be read all the same. */
    overload: GateError | null;
  }
}

/**
 * An UPDATE review carries object and oldObject of up to 3 MiB each beside its envelope
 * (webhook-operations.md W05, platform.md §3.4).
 */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

export function tooLarge(limitBytes: number): GateError {
  return new GateError(
    'GATE_REVIEW_TOO_LARGE',
    `request body: more than ${String(limitBytes)} bytes: no review of the API server is larger, send a smaller one`,
  );
}

/** The length that the caller declared, undefined where it is chunked. Node has refused what is no number. */
export function declaredLength(request: FastifyRequest): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** Makes every body reach its handler as a Buffer, whatever its media type. */
export function readBodiesAsBytes(app: FastifyInstance, limitBytes: number): void {
  app.decorateRequest('slot', null);
  app.decorateRequest('overload', null);
  // By its declared length, before a byte of it is read.
  app.addHook('onRequest', (request, reply, done) => {
    if ((declaredLength(request) ?? 0) > limitBytes)
      refuseUnread(request, reply, answerOf(tooLarge(limitBytes)));
    else done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload: NodeJS.ReadableStream, done) => {
    const reader = new BodyReader(request.slot, declaredLength(request), limitBytes);
    const onData = (chunk: Buffer): void => {
      try {
        reader.add(chunk);
      } catch (error) {
        stop();
        done(error as Error);
      }
    };
    const onEnd = (): void => {
      stop();
      done(null, reader.body());
    };
    // The caller went away, or was too slow and has had its 408.
    const onAbort = (cause?: Error): void => {
      stop();
      done(
        new GateError('GATE_REVIEW_SLOW', 'request body: the connection ended before the body did', {
          cause,
        }),
      );
    };
    const stop = (): void => {
      payload.removeListener('data', onData);
      payload.removeListener('end', onEnd);
      payload.removeListener('error', onAbort);
      payload.removeListener('close', onAbort);
    };
    payload.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

/** Collects chunks; a declared length is filled in place, so that a large body is in memory once and not twice. */
class BodyReader {
  readonly #slot: Slot | null;
  readonly #declared: number | undefined;
  readonly #limitBytes: number;
  #chunks: Buffer[] = [];
  #whole: Buffer | undefined;
  #received = 0;

  constructor(slot: Slot | null, declared: number | undefined, limitBytes: number) {
    this.#slot = slot;
    this.#declared = declared;
    this.#limitBytes = limitBytes;
  }

  /** @throws GateError GATE_REVIEW_TOO_LARGE, and GATE_OVERLOADED where an undeclared body finds no more room. */
  add(chunk: Buffer): void {
    const before = this.#received;
    this.#received += chunk.byteLength;
    if (this.#received > this.#limitBytes) throw tooLarge(this.#limitBytes);
    if (this.#declared === undefined) {
      this.#slot?.grow(chunk.byteLength);
      this.#chunks.push(chunk);
      return;
    }
    if (before === 0 && chunk.byteLength === this.#declared) {
      this.#chunks.push(chunk);
      return;
    }
    this.#whole ??= Buffer.allocUnsafeSlow(this.#declared);
    chunk.copy(this.#whole, before);
  }

  body(): Buffer {
    if (this.#whole !== undefined) return this.#whole;
    const [only] = this.#chunks;
    return only !== undefined && this.#chunks.length === 1
      ? only
      : Buffer.concat(this.#chunks, this.#received);
  }
}
