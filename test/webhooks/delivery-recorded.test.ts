/** What real clients sent, asked of the delivery gate: test/golden/reviews with the rows of review-rows.json. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import type { AdmissionReview } from '../support/builders.ts';
import { API, identityPolicy, pacto, POINTERS, siteWith, stage, WORKLOADS } from './delivery-site.ts';

interface Recorded {
  readonly id: string;
  readonly review: AdmissionReview;
}

const GOLDEN = new URL('../golden/', import.meta.url);
const ROWS = JSON.parse(readFileSync(new URL('review-rows.json', GOLDEN), 'utf8')) as Readonly<
  Record<string, number | undefined>
>;
const recorded = readdirSync(new URL('reviews/', GOLDEN))
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(`reviews/${name}`, GOLDEN), 'utf8')) as Recorded);

/** Never held: stop, status, nothing, clean-up, finalizers, whatever is deleted, rollbacks and Secrets of Helm. */
const ALWAYS: ReadonlySet<number> = new Set([8, 10, 19, 22, 23, 26, 28, 30, 32, 33]);
const PATHS = [POINTERS, WORKLOADS, API];

/** A Stage of the namespace and name that a recorded pointer names, enforcing while its contract is not kept. */
function worldOf({ review }: Recorded): Parameters<typeof siteWith>[0] {
  const { namespace = '' } = review.request;
  const place = { metadata: { namespace, name: 'prod', uid: 'stage-uid' } };
  const verdict = pacto();
  return [stage(place), { ...verdict, metadata: { ...verdict.metadata, namespace } }, identityPolicy()];
}

describe('recorded reviews', () => {
  it('are allowed where nothing may hold them, on every path that might be asked', async () => {
    const refused: string[] = [];
    for (const one of recorded) {
      if (!ALWAYS.has(ROWS[one.id] ?? 0)) continue;
      for (const path of PATHS) {
        // Nothing of Helm is a pointer, and its Deployments are gated at the HelmRelease (row 27).
        const { allowed, message } = await siteWith(worldOf(one)).ask(path, one.review);
        if (!allowed) refused.push(`${one.id} at ${path}: ${message}`);
      }
    }
    expect(refused).toEqual([]);
  });

  it('have the same bytes as a dry-run', async () => {
    const different: string[] = [];
    for (const one of recorded) {
      const { request, ...rest } = one.review;
      const twin = { ...rest, request: { ...request, dryRun: request.dryRun !== true } };
      for (const path of PATHS) {
        const site = siteWith(worldOf(one));
        const [first, second] = [await site.ask(path, one.review), await site.ask(path, twin)];
        if (first.text !== second.text) different.push(`${one.id} at ${path}`);
      }
    }
    expect(different).toEqual([]);
  });

  it('are refused with 403 Forbidden and one line, if they are', async () => {
    const wrong: string[] = [];
    let refusals = 0;
    for (const one of recorded)
      for (const path of PATHS) {
        const { allowed, status, message } = await siteWith(worldOf(one)).ask(path, one.review);
        if (allowed) continue;
        refusals++;
        const isSafe = !/is\simmutable|immutable\sfield|\n/.test(message) && message.startsWith('[');
        if (status.code !== 403 || status.reason !== 'Forbidden' || !isSafe)
          wrong.push(`${one.id} at ${path}`);
      }
    expect(wrong).toEqual([]);
    expect(refusals).toBeGreaterThan(0);
  });
});
