/** What a listener answers where no handler does: unknown paths and methods, unreadable requests, our own faults. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GateError, quote } from '../errors.ts';
import { answerOf, hasBody, refuseUnread, sendAnswer, type Answer } from './answers.ts';

type OnError = (error: unknown) => void;

/** For what the router itself refuses: a path that cannot be decoded, a parameter that is too long. */
export function answerRouterFaults(
  onError: OnError,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => answerFault(error, request, reply, onError);
}

/** For unknown paths and methods, and for whatever a hook or a handler throws. */
export function answerFaults(app: FastifyInstance, onError: OnError): void {
  const routes: Route[] = [];
  app.addHook('onRoute', (route) => {
    routes.push({ methods: [route.method].flat(), pattern: patternOf(route.url) });
  });
  // RFC 9112 §3.2 demands it of HTTP/1.1.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion !== '1.0')
      refuseUnread(request, reply, MALFORMED);
    else done();
  });
  // Before the body is read: a body sent to a path that nobody serves is not worth its memory.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuseUnread(request, reply, unknownTarget(request, routes));
    else done();
  });
  app.setErrorHandler((error, request, reply) => {
    answerFault(error, request, reply, onError);
  });
}

interface Route {
  readonly methods: readonly string[];
  readonly pattern: RegExp;
}

/** A route's URL as a pattern: `:name` is one segment, `*` is the rest. */
function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':')
        ? '[^/]+'
        : segment === '*'
          ? '.*'
          : segment.replaceAll(/[^\w-]/g, String.raw`\$&`),
    )
    .join('/');
  return new RegExp(`^${source}$`);
}

function unknownTarget(request: FastifyRequest, routes: readonly Route[]): Answer {
  const path = request.url.split('?', 1)[0] ?? '';
  const allowed = routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods);
  if (allowed.length === 0) {
    return { status: 404, code: 'GATE_HTTP_NOT_FOUND', message: `${quote(path)}: nothing is served here` };
  }
  const methods = [...new Set(allowed)].toSorted().join(', ');
  return {
    status: 405,
    code: 'GATE_HTTP_METHOD',
    message: `${quote(path)}: ${quote(request.method)} is not served here: use ${methods}`,
    headers: { allow: methods },
  };
}

function answerFault(error: unknown, request: FastifyRequest, reply: FastifyReply, onError: OnError): void {
  const answer = answerTo(error);
  if (answer.status >= 500) onError(error);
  // A connection whose request is not read to its end cannot carry another one.
  if (hasBody(request) && !request.raw.complete) refuseUnread(request, reply, answer);
  else void sendAnswer(reply, answer);
}

function answerTo(error: unknown): Answer {
  if (error instanceof GateError) {
    return error.disposition === 'internal' ? INTERNAL : answerOf(error);
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return {
      status: 415,
      code: 'GATE_REVIEW_MEDIA_TYPE',
      message: 'content-type: not a media type: send application/json',
    };
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return { ...MALFORMED, status: statusCode };
  }
  return INTERNAL;
}

const MALFORMED: Answer = {
  status: 400,
  code: 'GATE_HTTP_MALFORMED',
  message: 'request: cannot be read: check its path and header fields',
};

/** Says nothing of its cause: that is for the log. */
const INTERNAL: Answer = {
  status: 500,
  code: 'GATE_INTERNAL',
  message: 'internal error: see the log of pacto-gate',
};
