/** Puts a listener's requests under limits: room for a body before it is read, a turn before it is decided on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { answerOf, hasBody, refuseUnread } from './answers.ts';
import { declaredLength } from './body.ts';
import { SMALL_BODY_BYTES, type Limits, type Slot } from './limits.ts';

/** Half of our own budget for a review of 8 s (webhook-operations.md R6): the other half is for the decision. */
const WAIT_MS = 4_000;

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
 * `request.overload` set, so that the handler can say so in its own words; any other is answered 429 at once.
 */
export function limitBodies(app: FastifyInstance, limits: Limits, options: LimitBodiesOptions): void {
  const waitMs = options.waitMs ?? (() => WAIT_MS);

  app.addHook('onRequest', (request, reply, done) => {
    const bytes = declaredLength(request) ?? 0;
    const free = limits.tryEnter(bytes);
    if (free !== undefined) {
      hold(request, reply, free);
      done();
      return;
    }
    void waitForRoom(request, reply, limits, patienceOf(options.clock, waitMs(request), reply), done);
  });

  app.addHook('preHandler', (request, reply, done) => {
    const { slot } = request;
    if (slot === null || slot.tryStart()) {
      done();
      return;
    }
    void waitForTurn(request, slot, patienceOf(options.clock, waitMs(request), reply), done);
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
  const bytes = declaredLength(request) ?? 0;
  try {
    hold(request, reply, await limits.enter(bytes, patience.signal));
  } catch (error) {
    const overload = overloadOf(error);
    const undeclared = bytes === 0 && hasBody(request);
    if (bytes > SMALL_BODY_BYTES || undeclared) {
      refuseUnread(request, reply, answerOf(overload));
      return;
    }
    request.overload = overload;
  } finally {
    patience.end();
  }
  done();
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

/** A wait that ends with its time, or with the caller. */
interface Patience {
  readonly signal: AbortSignal;
  end(): void;
}

function patienceOf(clock: Clock, waitMs: number, reply: FastifyReply): Patience {
  const controller = new AbortController();
  const gone = (): void => controller.abort(overloaded('the caller went away while it waited'));
  const timer = clock.setTimer(waitMs, () =>
    controller.abort(overloaded(`no room or turn came within ${String(waitMs)} ms`)),
  );
  reply.raw.once('close', gone);
  return {
    signal: controller.signal,
    end() {
      timer.cancel();
      reply.raw.removeListener('close', gone);
    },
  };
}

function overloaded(what: string): GateError {
  return new GateError('GATE_OVERLOADED', `pacto-gate is overloaded: ${what}: send again in a second`);
}

function overloadOf(error: unknown): GateError {
  return error instanceof GateError
    ? error
    : new GateError('GATE_INTERNAL', 'limits: failed', { cause: error });
}
