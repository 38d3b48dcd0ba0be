/** Puts a listener's requests under limits: room for a body before it is read, a turn before it is decided on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { answerOf, hasBody, refuseUnread } from './answers.ts';
import { declaredLength } from './body.ts';
import { HEAD_BYTES } from './body-collector.ts';
import { SMALL_BODY_BYTES, type Limits, type Slot } from './limits.ts';
import { overloadOf, patienceOf, WAIT_MS, type Patience } from './patience.ts';

export interface LimitBodiesOptions {
  readonly clock: Clock;
  /** How long a request may wait, for room and for a turn each, in milliseconds. */
  readonly waitMs?: (request: FastifyRequest) => number;
}

/**
 * Reserves the declared length of each body before it is read (an undeclared one grows while it is read), and a turn
 * once it has been read. What was taken is given back once: when the response is out or its connection gone, and not
 * before the handler, once it runs, has answered.
 *
 * Without room or turn, a request whose body is small enough (64 KiB), or already read, reaches its handler with
 * `request.overload` set, so that the handler can say so in its own words. So does the beginning of any other on a
 * listener that keeps heads; elsewhere that is answered 429 at once.
 */
export function limitBodies(app: FastifyInstance, limits: Limits, options: LimitBodiesOptions): void {
  const patience = (request: FastifyRequest, reply: FastifyReply): Patience =>
    patienceOf(options.clock, options.waitMs?.(request) ?? WAIT_MS, (gone) => {
      reply.raw.once('close', gone);
      return () => reply.raw.removeListener('close', gone);
    });

  app.addHook('onRequest', (request, reply, done) => {
    const bytes = roomFor(request);
    const free = limits.tryEnter(bytes);
    if (free !== undefined) {
      hold(request, reply, free);
      done();
      return;
    }
    void waitForRoom(request, reply, limits, patience(request, reply), done);
  });

  app.addHook('preHandler', (request, reply, done) => {
    const { slot } = request;
    if (slot === null || slot.tryStart()) {
      done();
      return;
    }
    void waitForTurn(request, slot, patience(request, reply), done);
  });

  app.addHook('onSend', (request, _reply, payload, done) => {
    held(request)?.answered();
    done(null, payload);
  });
}

async function waitForRoom(
  request: FastifyRequest,
  reply: FastifyReply,
  limits: Limits,
  patience: Patience,
  done: () => void,
): Promise<void> {
  const bytes = roomFor(request);
  try {
    hold(request, reply, await limits.enter(bytes, patience.signal));
  } catch (error) {
    const overload = overloadOf(error);
    const undeclared = bytes === 0 && hasBody(request);
    if (bytes > SMALL_BODY_BYTES || undeclared) {
      if (request.server.keepsHead === null) {
        refuseUnread(request, reply, answerOf(overload));
        return;
      }
      request.unread ??= overload;
    }
    request.overload = overload;
  } finally {
    patience.end();
  }
  done();
}

/** Of what is too large to be kept the beginning is. */
function roomFor(request: FastifyRequest): number {
  return request.unread === null ? (declaredLength(request) ?? 0) : HEAD_BYTES;
}

async function waitForTurn(
  request: FastifyRequest,
  slot: Slot,
  patience: Patience,
  done: () => void,
): Promise<void> {
  try {
    await slot.start(patience.signal);
  } catch (error) {
    request.overload = overloadOf(error);
  } finally {
    patience.end();
  }
  done();
}

/** A slot that is left when the response is closed, and not while a handler still runs. */
class HeldSlot implements Slot {
  readonly #slot: Slot;
  #running = false;
  #closed = false;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  grow(bytes: number): void {
    this.#slot.grow(bytes);
  }

  shrink(bytes: number): void {
    this.#slot.shrink(bytes);
  }

  async start(signal?: AbortSignal): Promise<void> {
    await this.#slot.start(signal);
    this.#running = true;
  }

  tryStart(): boolean {
    this.#running = this.#slot.tryStart();
    return this.#running;
  }

  answered(): void {
    this.#running = false;
    if (this.#closed) this.#slot.leave();
  }

  leave(): void {
    this.#closed = true;
    if (!this.#running) this.#slot.leave();
  }
}

function hold(request: FastifyRequest, reply: FastifyReply, slot: Slot): void {
  const heldSlot = new HeldSlot(slot);
  request.slot = heldSlot;
  if (reply.raw.closed || reply.raw.destroyed) heldSlot.leave();
  else reply.raw.once('close', () => heldSlot.leave());
}

function held(request: FastifyRequest): HeldSlot | undefined {
  return request.slot instanceof HeldSlot ? request.slot : undefined;
}
