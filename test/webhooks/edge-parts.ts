/** What a test of the edge needs around it: a log and metrics that remember, and a reader of nothing. */
import type { Reader } from '../../src/cluster/cluster.ts';
import { createLog } from '../../src/log.ts';
import type { DecisionFacts } from '../../src/metrics.ts';
import { createEdge, type Edge, type RawRequest } from '../../src/webhooks/edge.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';
import { FakeClock } from '../support/fake-clock.ts';

export interface EdgeUnderTest {
  readonly edge: Edge;
  readonly clock: FakeClock;
  /** As written, one for each line. */
  readonly lines: readonly string[];
  readonly decisions: readonly DecisionFacts[];
  readonly refusals: readonly string[];
}

export const emptyReader: Reader = {
  get: () => Promise.resolve(undefined),
  list: () => Promise.resolve([]),
};

export function edgeOf(webhooks: readonly Webhook[], reader: Reader = emptyReader): EdgeUnderTest {
  const clock = new FakeClock();
  const lines: string[] = [];
  const decisions: DecisionFacts[] = [];
  const refusals: string[] = [];
  const edge = createEdge({
    webhooks,
    readerFor: () => reader,
    clock,
    log: createLog({
      level: 'debug',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    }),
    metrics: {
      decision: (facts) => void decisions.push(facts),
      refusal: (code) => void refusals.push(code),
    },
  });
  return { edge, clock, lines, decisions, refusals };
}

/** A POST of a body to a path, just received. */
export function rawRequest(path: string, body: unknown, more: Partial<RawRequest> = {}): RawRequest {
  return {
    method: 'POST',
    path,
    query: 'timeout=10s',
    headers: { 'content-type': 'application/json' },
    body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
    receivedMs: 0,
    ...more,
  };
}
