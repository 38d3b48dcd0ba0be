/** `/livez`, `/readyz` and `/metrics`: what a kubelet and a scraper ask. */
import type { FastifyInstance } from 'fastify';
import { GateError, messageOf } from '../errors.ts';
import type { Guard } from './callers.ts';
import type { TlsSource } from './tls.ts';
import type { DrainSignal, Listener } from './server.ts';

/** A named reason to be ready or not. Only our own faults and what is needed before the first answer belong here. */
export interface Check {
  readonly name: string;
  /** @returns undefined when all is well, else a reason without a full stop. A throw is a reason too. */
  run(): string | undefined | Promise<string | undefined>;
}

export interface Readiness {
  add(check: Check): void;
  /** Runs every check, in the order they were added. */
  check(): Promise<readonly { readonly name: string; readonly reason: string | undefined }[]>;
}

/** @param drain readiness falls as soon as the way down has begun. */
export function createReadiness(drain?: DrainSignal): Readiness {
  const checks: Check[] = [];
  if (drain !== undefined) {
    checks.push({ name: 'serving', run: () => (drain.draining ? 'shutting down' : undefined) });
  }
  return {
    add(check) {
      checks.push(check);
    },
    check: () =>
      Promise.all(checks.map(async (check) => ({ name: check.name, reason: await reasonOf(check) }))),
  };
}

async function reasonOf(check: Check): Promise<string | undefined> {
  try {
    return await check.run();
  } catch (error) {
    return messageOf(error);
  }
}

/** Ready while the served certificate is valid and vouched for by what is published. */
export function certificateCheck(source: TlsSource): Check {
  return {
    name: 'certificate',
    run() {
      const health = source.health();
      return health.ok ? undefined : health.reason;
    },
  };
}

/**
 * Serves `/livez` and `/readyz`; with `?verbose` every check is named. Liveness says only that the event loop turns:
 * were it to depend on the API server, its outage would restart every replica (webhook-operations.md R5).
 */
export function registerProbes(app: FastifyInstance, readiness: Readiness): void {
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.get('/readyz', async (request, reply) => {
    const results = await readiness.check();
    const ready = results.every((result) => result.reason === undefined);
    const verbose = Object.hasOwn(request.query as object, 'verbose');
    const lines = results.map(({ name, reason }) =>
      reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`,
    );
    const shown = verbose || !ready ? lines : [];
    return reply
      .code(ready ? 200 : 503)
      .type('text/plain')
      .send([...shown, ready ? 'ok' : 'not ready', ''].join('\n'));
  });
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/**
 * Serves `/metrics`.
 * @param provide the text in Prometheus's format and its media type.
 * @throws GateError GATE_CONFIG_INVALID for a listener that others can reach, when it is plain or has no guard: plain
 *   and open metrics are for loopback alone (design §5).
 */
export function registerMetrics(
  listener: Listener,
  provide: () => Promise<string>,
  options: { readonly guard?: Guard; readonly mediaType: string },
): void {
  if (!LOOPBACK.test(listener.host) && (!listener.secure || options.guard === undefined)) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `listener ${listener.name}: metrics on ${listener.host} need TLS and callers who prove themselves: set both, or listen on 127.0.0.1`,
    );
  }
  listener.app.get('/metrics', async (request, reply) => {
    await options.guard?.(request.headers.authorization);
    return reply.type(options.mediaType).send(await provide());
  });
}
