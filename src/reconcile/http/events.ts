/**
 * `POST /v1/events/flux|registry|cloudevents`: answered at once, worked on afterwards, because a slow receiver holds up the
 * sender's own work; never with 5xx for what a sender cannot help (flux-facts.md FF-121). Nobody is let in unproved.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GateError } from '../../errors.ts';
import type { Callers } from '../../http/callers.ts';
import { JsonError, readJson } from '../../json.ts';
import type { EventSink } from '../event-sink.ts';
import { cloudEventHints, fluxHints, registryHints, type EventHint } from './event-bodies.ts';
import { hasToken, headerOf, isSigned, unproved, type Secret, type SentEvent } from './event-senders.ts';

/** Of an event; those of Flux have some KiB. The listener reads no more (`bodyLimitBytes`). */
export const EVENT_BYTES = 1024 * 1024;
/** Senders nest a few levels. */
const DEPTH = 64;

export interface EventRoutes {
  readonly sink: EventSink;
  /** With the audience `pacto-gate-events`; undefined: nobody vouches, and there are no CloudEvents. */
  readonly callers: Callers | undefined;
  readonly fluxKey: Secret;
  readonly fluxToken: Secret;
  readonly registryToken: Secret;
}

type Prove = (event: SentEvent, request: FastifyRequest) => Promise<void> | void;

export function registerEvents(app: FastifyInstance, routes: EventRoutes): void {
  const { sink, callers, fluxKey, fluxToken, registryToken } = routes;
  const serve = (path: string, prove: Prove, hintsOf: (event: SentEvent) => readonly EventHint[]): void => {
    app.post(`/v1/events/${path}`, async (request, reply) => {
      if (request.overload instanceof GateError) throw request.overload;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const event = { headers: request.headers, body };
      await prove(event, request);
      return await accept(reply, sink, hintsOf(event));
    });
  };
  serve(
    'flux',
    (event) => {
      if (!isSigned(event, fluxKey) && !hasToken(event, fluxToken))
        throw unproved('sign it (provider generic-hmac) or send the token of api.fluxTokenFile');
    },
    ({ body }) => fluxHints(parse(body)),
  );
  serve(
    'registry',
    (event) => {
      if (!hasToken(event, registryToken)) throw unproved('send the token of api.registryTokenFile');
    },
    ({ body }) => registryHints(parse(body)),
  );
  serve(
    'cloudevents',
    async (_event, request) => {
      if (callers === undefined) throw unproved('nobody vouches for tokens here');
      await callers.authenticate(
        request.headers.authorization,
        request.raw.socket.remoteAddress ?? undefined,
      );
    },
    cloudEvent,
  );
}

async function accept(
  reply: FastifyReply,
  sink: EventSink,
  hints: readonly EventHint[],
): Promise<FastifyReply> {
  let woken = 0;
  for (const hint of hints)
    woken += await ('repository' in hint ? sink.repository(hint.repository) : sink.object(hint.object));
  return await reply
    .code(202)
    .headers({ 'content-type': 'application/json; charset=utf-8' })
    .send(`${JSON.stringify({ woken })}\n`);
}

/** Structured: the event is the body. Binary: its attributes are header fields, its data is the body. */
function cloudEvent({ headers, body }: SentEvent): readonly EventHint[] {
  const type = headerOf(headers, 'content-type') ?? '';
  if (type.startsWith('application/cloudevents+json')) {
    const { data, subject } = (parse(body) ?? {}) as { data?: unknown; subject?: unknown };
    return cloudEventHints({ data, subject: typeof subject === 'string' ? subject : undefined });
  }
  if (headerOf(headers, 'ce-id') === undefined)
    throw new GateError(
      'GATE_HTTP_MALFORMED',
      'event: no CloudEvent: need content-type application/cloudevents+json, or header fields ce-id, ce-source and ce-type',
    );
  return cloudEventHints({
    data: body.length === 0 ? undefined : parse(body),
    subject: headerOf(headers, 'ce-subject'),
  });
}

function parse(body: Uint8Array): unknown {
  try {
    return readJson(body, { maxDepth: DEPTH });
  } catch (error) {
    if (error instanceof JsonError) throw new GateError('GATE_HTTP_MALFORMED', `event: ${error.message}`);
    throw error;
  }
}
