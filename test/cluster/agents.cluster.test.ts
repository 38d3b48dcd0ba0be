/** A hundred agents at once: each renews its own Lease and tries one of another node. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { summarize } from '../bench/statistics.ts';
import { kubeletToken, LEASES, leaseObject } from './support/agents.ts';
import type { ApiAnswer } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubernetesVersion } from './support/control-plane.ts';
import { startSite, type Site } from './support/site.ts';

const AGENTS = 100;
const RENEWALS = 10;
const NODES = Array.from({ length: AGENTS }, (_, n) => `node-${n}`);
const LAST_RENEWAL = renewTime(RENEWALS - 1);

/** MicroTime, as in `spec.renewTime` of a Lease. */
function renewTime(renewal: number): string {
  return `2026-01-01T00:00:${String(renewal).padStart(2, '0')}.000000Z`;
}

function suiteOf(version: KubernetesVersion, proof: string): void {
  clusterSuite(`a hundred agents on ${version}, proved by ${proof}`, { versions: [version] }, () => {
    let site: Site;
    let tokens: readonly string[] = [];

    beforeAll(async () => {
      site = await startSite({
        plane: { version },
        nodes: NODES,
        async beforeEntries({ api }) {
          await Promise.all(
            NODES.map((node) => api.demand({ method: 'POST', path: LEASES, body: leaseObject(node) })),
          );
        },
      });
      tokens = await Promise.all(NODES.map((node) => kubeletToken(site.api, node)));
    });
    afterAll(() => site?.stop());

    const verdicts = async (): Promise<{ allowed: number; denied: number; failed: number }> => {
      const of = (verdict: string): Promise<number> =>
        site.gate.decisions({ webhook: 'node-identity', verdict });
      const failed = (await of('failed-open')) + (await of('failed-closed'));
      return { allowed: await of('allowed'), denied: await of('denied'), failed };
    };

    it('allows 1,000 renewals of the own Lease and denies 100 of another node’s', async () => {
      const before = await verdicts();
      const tookMs: number[] = [];
      const renew = async (token: string, node: string, renewal: number): Promise<ApiAnswer> => {
        const startMs = performance.now();
        const answer = await site.api.request({
          method: 'PATCH',
          path: `${LEASES}/${node}`,
          token,
          contentType: 'application/merge-patch+json',
          body: { spec: { renewTime: renewTime(renewal) } },
        });
        tookMs.push(performance.now() - startMs);
        return answer;
      };
      /** One agent's life: its foreign try comes at a different time in each. */
      const live = async (agent: number): Promise<{ own: ApiAnswer[]; foreign: ApiAnswer | undefined }> => {
        const [token = '', node = '', other = ''] = [
          tokens[agent],
          NODES[agent],
          NODES[(agent + 1) % AGENTS],
        ];
        const own: ApiAnswer[] = [];
        let foreign: ApiAnswer | undefined;
        for (let renewal = 0; renewal < RENEWALS; renewal++) {
          own.push(await renew(token, node, renewal));
          if (renewal === agent % RENEWALS) foreign = await renew(token, other, RENEWALS);
        }
        return { own, foreign };
      };
      const startMs = performance.now();
      const lives = await Promise.all(NODES.map((_, agent) => live(agent)));
      const seconds = (performance.now() - startMs) / 1000;

      expect(lives.flatMap(({ own }) => own).filter(({ status }) => status !== 200)).toEqual([]);
      expect(lives.map(({ foreign }) => foreign?.status)).toEqual(NODES.map(() => 403));
      expect(lives.map(({ foreign }) => foreign?.body.message)).toEqual(
        NODES.map((node, agent) =>
          expect.stringContaining(
            `the agent on node "${node}" may not update "${NODES[(agent + 1) % AGENTS]}"`,
          ),
        ),
      );
      const { allowed, denied, failed } = await verdicts();
      // The API server asks again where its own copy of the Lease turns out to be old.
      expect(allowed - before.allowed).toBeGreaterThanOrEqual(AGENTS * RENEWALS);
      expect(denied - before.denied).toBeGreaterThanOrEqual(AGENTS);
      expect(failed).toBe(0);
      const { p50Ms, p99Ms } = summarize(tookMs);
      process.stdout.write(
        `${version}: ${tookMs.length} writes by ${AGENTS} agents in ${seconds.toFixed(1)} s, 16 at a time, seen by the agents: ` +
          `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms\n`,
      );
    });

    it('leaves each Lease as its own agent wrote it last', async () => {
      const { items } = (await site.api.demand({ method: 'GET', path: LEASES })) as unknown as {
        items: { metadata: { name: string }; spec: { renewTime: string; holderIdentity: string } }[];
      };
      expect(items).toHaveLength(AGENTS);
      expect(items.filter(({ spec }) => spec.renewTime !== LAST_RENEWAL)).toEqual([]);
      expect(items.filter(({ metadata, spec }) => metadata.name !== spec.holderIdentity)).toEqual([]);
    });
  });
}

suiteOf('1.36', 'node claims');
suiteOf('1.29', 'Pods');
