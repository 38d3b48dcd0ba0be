/** The limits of a listener for a Fetch API Request: room, a body that ends, and a turn, each waited for as there. */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { endedEarly, watchPace } from './body.ts';
import {
  BODY_LIMIT_BYTES,
  BodyCollector,
  HEAD_BYTES,
  tooLarge,
  UNREAD_LIMIT_BYTES,
  type HeadTest,
} from './body-collector.ts';
import { SMALL_BODY_BYTES, type Limits, type Slot } from './limits.ts';
import { overloadOf, patienceOf, WAIT_MS } from './patience.ts';

/** From the head of a request to the end of its body, as on a listener. */
const REQUEST_MS = 10_000;

export interface RequestLimits {
  readonly limits: Limits;
  readonly keepsHead: HeadTest;
  readonly clock: Clock;
}

export interface ReadRequest {
  /** All of it, or its beginning where `unread` is set. */
  readonly body: Uint8Array;
  readonly unread: GateError | undefined;
  /** Set where there was no room or turn. */
  readonly overload: GateError | undefined;
  /** Gives back what is held for it; call it once it is answered. */
  leave(): void;
}

/**
 * @param receivedMs `clock.monotonic()` when the request came.
 * @throws GateError GATE_REVIEW_TOO_LARGE, GATE_REVIEW_SLOW for a body that does not end; nothing is held then.
 */
export async function readRequest(
  request: Request,
  receivedMs: number,
  options: RequestLimits,
): Promise<ReadRequest> {
  const { clock, keepsHead } = options;
  const declared = declaredLength(request);
  if ((declared ?? 0) > UNREAD_LIMIT_BYTES) throw tooLarge(UNREAD_LIMIT_BYTES);
  const large = (declared ?? 0) > BODY_LIMIT_BYTES ? tooLarge(BODY_LIMIT_BYTES) : undefined;
  const room = await waitForRoom(request, large === undefined ? (declared ?? 0) : HEAD_BYTES, options);
  const slot = room instanceof GateError ? undefined : room;
  const noRoom = room instanceof GateError ? room : undefined;
  const headOnly = large ?? (declared === undefined || declared > SMALL_BODY_BYTES ? noRoom : undefined);
  try {
    const collector = new BodyCollector({
      room: slot ?? null,
      limitBytes: BODY_LIMIT_BYTES,
      keepsHead,
      ...(declared !== undefined && { declared }),
      ...(headOnly !== undefined && { unread: headOnly }),
    });
    await collect(request, collector, receivedMs + REQUEST_MS, clock);
    const noTurn = await waitForTurn(request, slot, options);
    return {
      body: collector.body(),
      unread: collector.unread,
      overload: noRoom ?? collector.overload ?? noTurn,
      leave: () => slot?.leave(),
    };
  } catch (error) {
    slot?.leave();
    throw error;
  }
}

function declaredLength(request: Request): number | undefined {
  const header = request.headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

async function waitForRoom(
  request: Request,
  bytes: number,
  { limits, clock }: RequestLimits,
): Promise<Slot | GateError> {
  const free = limits.tryEnter(bytes);
  if (free !== undefined) return free;
  const patience = patienceOf(clock, WAIT_MS, (gone) => onAbort(request.signal, gone));
  try {
    return await limits.enter(bytes, patience.signal);
  } catch (error) {
    return overloadOf(error);
  } finally {
    patience.end();
  }
}

async function waitForTurn(
  request: Request,
  slot: Slot | undefined,
  { clock }: RequestLimits,
): Promise<GateError | undefined> {
  if (slot === undefined || slot.tryStart()) return undefined;
  const patience = patienceOf(clock, WAIT_MS, (gone) => onAbort(request.signal, gone));
  try {
    await slot.start(patience.signal);
    return undefined;
  } catch (error) {
    return overloadOf(error);
  } finally {
    patience.end();
  }
}

/** A runtime may lie about the length and may never end the body: neither is believed. */
async function collect(
  request: Request,
  collector: BodyCollector,
  untilMs: number,
  clock: Clock,
): Promise<void> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
  const timer = clock.setTimer(untilMs - clock.monotonic(), () => {
    giveUp(new GateError('GATE_REVIEW_SLOW', 'request body: it did not end in time: send it without pauses'));
  });
  const pace = watchPace(collector, clock, giveUp);
  const forget = onAbort(request.signal, () => giveUp(endedEarly(request.signal.reason)));
  const readAll = async (): Promise<void> => {
    pace.start();
    for (let chunk = await next(reader); chunk !== undefined; chunk = await next(reader)) {
      collector.add(chunk);
      pace.start();
    }
  };
  try {
    // Once and not for each chunk: a promise remembers every race that it is in.
    await Promise.race([given, readAll()]);
  } catch (error) {
    // Nobody waits for what its source says to that.
    reader.cancel(error).catch(() => undefined);
    throw error;
  } finally {
    timer.cancel();
    pace.stop();
    forget();
  }
}

/** @returns undefined at the end, which a cancelled body has reached too. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (error) {
    throw endedEarly(error);
  }
}

function onAbort(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener('abort', run, { once: true });
  if (signal.aborted) run();
  return () => signal.removeEventListener('abort', run);
}
