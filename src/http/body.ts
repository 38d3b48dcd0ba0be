/** Reading a body whole, as bytes: no media type is parsed here, and nothing is kept beyond the limit. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { answerOf, refuseUnread } from './answers.ts';
import { BodyCollector, tooLarge, UNREAD_LIMIT_BYTES, type HeadTest } from './body-collector.ts';
import { SMALL_BODY_BYTES, type Slot } from './limits.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Null where a body that cannot be kept is refused. */
    keepsHead: HeadTest | null;
  }
  interface FastifyRequest {
    /** What this request holds of the listener's limits; null where none are set. */
    slot: Slot | null;
    /** Set where the limits had no room and the body was small enough to be read all the same, or its head is. */
    overload: GateError | null;
    /** Set where `body` is only the beginning of what was sent: why. */
    unread: GateError | null;
  }
}

/** How often the pace of a large body is looked at. */
const PACE_CHECK_MS = 1_000;

/** The length that the caller declared, undefined where it is chunked. Node has refused what is no number. */
export function declaredLength(request: FastifyRequest): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

export interface BodyOptions {
  readonly limitBytes: number;
  /** Where given, the beginning of a body that cannot be kept whole reaches its handler, marked by `unread`. */
  readonly keepsHead?: HeadTest;
  readonly clock: Clock;
}

/** Makes every body reach its handler as a Buffer, whatever its media type. */
export function readBodiesAsBytes(app: FastifyInstance, options: BodyOptions): void {
  const { limitBytes, keepsHead } = options;
  app.decorate('keepsHead', keepsHead ?? null);
  app.decorateRequest('slot', null);
  app.decorateRequest('overload', null);
  app.decorateRequest('unread', null);
  // By its declared length, before a byte of it is read.
  app.addHook('onRequest', (request, reply, done) => {
    const declared = declaredLength(request) ?? 0;
    const most = keepsHead === undefined ? limitBytes : UNREAD_LIMIT_BYTES;
    if (declared > most) {
      refuseUnread(request, reply, answerOf(tooLarge(most)));
      return;
    }
    if (declared > limitBytes) request.unread = tooLarge(limitBytes);
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload: NodeJS.ReadableStream, done) => {
    const declared = declaredLength(request);
    const collector = new BodyCollector({
      room: request.slot,
      limitBytes,
      ...(declared !== undefined && { declared }),
      ...(keepsHead !== undefined && { keepsHead }),
      ...(request.unread !== null && { unread: request.unread }),
    });
    collect(payload, collector, options.clock, (error) => {
      if (error !== undefined) {
        done(error);
        return;
      }
      request.unread = collector.unread ?? null;
      request.overload ??= collector.overload ?? null;
      done(null, collector.body());
    });
  });
}

function collect(
  payload: NodeJS.ReadableStream,
  collector: BodyCollector,
  clock: Clock,
  done: (error?: Error) => void,
): void {
  const pace = watchPace(collector, clock, (error) => {
    stop();
    done(error);
  });
  const onData = (chunk: Buffer): void => {
    try {
      collector.add(chunk);
      pace.start();
    } catch (error) {
      stop();
      done(error as Error);
    }
  };
  const onEnd = (): void => {
    stop();
    done();
  };
  // The caller went away, or was too slow and has had its 408.
  const onAbort = (cause?: Error): void => {
    stop();
    done(endedEarly(cause));
  };
  const stop = (): void => {
    pace.stop();
    payload.removeListener('data', onData);
    payload.removeListener('end', onEnd);
    payload.removeListener('error', onAbort);
    payload.removeListener('close', onAbort);
  };
  pace.start();
  payload.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
}

export function endedEarly(cause: unknown): GateError {
  return new GateError('GATE_REVIEW_SLOW', 'request body: the connection ended before the body did', {
    cause,
  });
}

/** Looks each second whether a body that holds much room still comes fast enough for it. */
export function watchPace(
  collector: BodyCollector,
  clock: Clock,
  onSlow: (error: GateError) => void,
): { start(): void; stop(): void } {
  const beganMs = clock.monotonic();
  let timer: ReturnType<Clock['setTimer']> | undefined;
  let stopped = false;
  const isSlow = (): boolean => !stopped && collector.isBehind(clock.monotonic() - beganMs);
  const look = (): void => {
    timer = clock.setTimer(PACE_CHECK_MS, look);
    if (!isSlow()) return;
    // Where it is us who were busy, its bytes wait in the socket: they are read before this runs.
    setImmediate(() => {
      if (!isSlow()) return;
      const message = 'request body: it comes too slowly for its size: send it without pauses';
      onSlow(new GateError('GATE_REVIEW_SLOW', message));
    });
  };
  return {
    start() {
      if (timer === undefined && !stopped && collector.roomBytes > SMALL_BODY_BYTES) {
        timer = clock.setTimer(PACE_CHECK_MS, look);
      }
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
