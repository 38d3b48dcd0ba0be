/** Webhooks on a real HTTPS listener of loopback, with limits, as the program serves them. */
import { Agent } from 'node:https';
import { onTestFinished } from 'vitest';

import { systemClock } from '../../src/clock.ts';
import type { Reader } from '../../src/cluster/cluster.ts';
import { limitBodies } from '../../src/http/limit-bodies.ts';
import { createLimits, type LimitOptions } from '../../src/http/limits.ts';
import { createListener } from '../../src/http/server.ts';
import { silentLog, type Log } from '../../src/log.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { createEdge } from '../../src/webhooks/edge.ts';
import { registerWebhooks } from '../../src/webhooks/routes.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';
import { ask, type Answered, type Ask } from '../support/http-client.ts';
import { testTls } from '../support/tls.ts';
import { emptyReader } from './edge-parts.ts';

export interface Served {
  readonly url: string;
  /** Asks over kept connections, with the test CA. */
  ask(pathAndQuery: string, options: Ask): Promise<Answered>;
}

export interface ServeOptions {
  readonly reader?: Reader;
  readonly limits?: LimitOptions;
  /** Waiting for room and for a turn. */
  readonly waitMs?: number;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

/** Serves until the test ends. */
export async function serveWebhooks(
  webhooks: readonly Webhook[],
  options: ServeOptions = {},
): Promise<Served> {
  const tls = await testTls();
  const errors: unknown[] = [];
  const listener = await createListener({
    name: 'admission',
    host: '127.0.0.1',
    port: 0,
    tls: tls.source,
    clock: systemClock,
    closeGraceMs: 200,
    onError: (error) => errors.push(error),
  });
  const edge = createEdge({
    webhooks,
    readerFor: () => options.reader ?? emptyReader,
    clock: systemClock,
    log: options.log ?? silentLog(),
    metrics:
      options.metrics ?? createMetrics({ webhooks: [], codes: [], build: { version: '0', revision: '0' } }),
  });
  registerWebhooks(listener.app, { edge, webhooks, clock: systemClock });
  const { waitMs } = options;
  limitBodies(listener.app, createLimits(options.limits), {
    clock: systemClock,
    ...(waitMs !== undefined && { waitMs: () => waitMs }),
  });
  const { url } = await listener.listen();
  const agent = new Agent({ keepAlive: true, ca: tls.ca });
  onTestFinished(async () => {
    agent.destroy();
    await listener.close();
    if (errors.length > 0) throw new AggregateError(errors, 'the listener reported faults of its own');
  });
  return { url, ask: (pathAndQuery, ask_) => ask(`${url}${pathAndQuery}`, { agent, ca: tls.ca, ...ask_ }) };
}
