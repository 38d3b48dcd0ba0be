/** What policies look things up in: a cluster in memory, read live or through watches. */
import { expect, onTestFinished } from 'vitest';
import { createReader } from '../../src/cluster/cache.ts';
import type { Reader } from '../../src/cluster/cluster.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { createReflector, type Reflector } from '../../src/cluster/watch.ts';
import type { LiveCallFacts } from '../../src/metrics.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { edgeOf, rawRequest } from './edge-parts.ts';
import { responseIn, type PolicyResponse } from './policy-webhook.ts';

export type SiteMode = 'cached' | 'live';

export interface PolicySite {
  readonly memory: MemoryCluster;
  readonly reader: () => Reader;
  readonly reflectors: readonly Reflector[];
  /** Live calls that have ended. */
  readonly calls: readonly LiveCallFacts['call'][];
}

/** @param watched what is watched in cached mode; synced when this resolves. */
export async function policySite(
  mode: SiteMode,
  objects: readonly (readonly [Kind, KubeObject])[],
  watched: readonly Kind[],
): Promise<PolicySite> {
  const clock = new FakeClock();
  const memory = createMemoryCluster({ clock });
  for (const [kind, object] of objects) memory.load(kind, object);
  const kinds = mode === 'live' ? [] : watched;
  const reflectors = kinds.map((kind) =>
    createReflector({
      cluster: memory,
      kind,
      clock,
      random: Math.random,
      whole: true,
      report: () => undefined,
    }),
  );
  onTestFinished(async () => {
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
  });
  for (const reflector of reflectors) reflector.start();
  await until('all is synced', () => reflectors.every((reflector) => reflector.synced()));
  const calls: LiveCallFacts['call'][] = [];
  const report = ({ call }: LiveCallFacts): void => void calls.push(call);
  const source = createReader({ mode, cluster: memory, reflectors, clock, report });
  return { memory, reflectors, calls, reader: () => source.forRequest() };
}

/** What policy `p` says to a review, and the line of the log about it. */
export async function answered(
  webhook: Webhook,
  { reader }: Pick<PolicySite, 'reader'>,
  review: object,
): Promise<{ readonly response: PolicyResponse; readonly line: Readonly<Record<string, unknown>> }> {
  const { edge, lines } = edgeOf([webhook], reader());
  const { body } = await edge.answer(rawRequest('/validate/policies/p', review));
  expect(lines).toHaveLength(1);
  return { response: responseIn(body), line: JSON.parse(lines[0] ?? '') as Record<string, unknown> };
}
