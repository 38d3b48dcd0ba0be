/** The admission edge on a listener. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type { Edge } from './edge.ts';
import type { Webhook } from './webhook.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** `clock.monotonic()` when the head of this request arrived. */
    arrivedMs: number;
  }
}

export interface WebhookRoutes {
  readonly edge: Edge;
  /** The same list as the edge's. */
  readonly webhooks: readonly Webhook[];
  readonly clock: Clock;
}

/**
 * Registers one POST route for each webhook on a listener that hands over bodies as Buffers (http/server.ts). Call it
 * before `limitBodies`: the deadline of a request counts from its head, so waiting for room must count too.
 */
export function registerWebhooks(app: FastifyInstance, { edge, webhooks, clock }: WebhookRoutes): void {
  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedMs = clock.monotonic();
    done();
  });
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [path, query] = splitOnce(request.raw.url ?? '', '?');
    // Of http/body.ts, where limits are set.
    const { overload, unread } = request;
    const { status, headers, body } = await edge.answer({
      method: request.method,
      path,
      query,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
      receivedMs: request.arrivedMs,
      signal: whenGone(reply),
      ...(overload instanceof GateError && { overload }),
      ...(unread instanceof GateError && { unread }),
    });
    return reply.code(status).headers(headers).send(body);
  };
  for (const { path } of webhooks) app.post(routeOf(path), handler);
}

/**
 * A last parameter becomes the rest of the path: the router refuses parameters of more than 100 characters, and a
 * policy's name may have 253. What does not match after all the edge refuses.
 */
function routeOf(path: string): string {
  return path.replace(/\{\w+\}$/, '*').replaceAll(/\{(\w+)\}/g, ':$1');
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Aborts when the connection goes before the answer is out: nobody waits for the decision any more. */
function whenGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    controller.abort(
      new GateError('GATE_CALLER_GONE', 'the caller closed the connection before the answer: nothing to do'),
    );
  });
  return controller.signal;
}
