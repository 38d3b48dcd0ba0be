/** Large updates, alone at a time with small requests beside them, and sixteen at once. */
import { loadRound, pairedRounds, SIDES, startServer, withPair, type Bench, type Load } from '../bench.ts';
import { reviewBody, type BodyName } from '../corpus.ts';
import type { BenchResult, LargeResult, ParallelRun } from '../result.ts';

/** Rates at which the baseline is busy less than half of the time. */
const CASES: readonly { readonly body: BodyName; readonly ratePerSecond: number }[] = [
  { body: 'configmap-update-1m', ratePerSecond: 5 },
  { body: 'resource-update-3m', ratePerSecond: 2 },
  { body: 'resource-update-3m-decimals', ratePerSecond: 2 },
];
const BESIDES_PER_SECOND = 100;
const PARALLEL = 16;
/** The second and third wave show whether memory of the first is used again. */
const WAVES = 3;

export async function large(bench: Bench): Promise<Pick<BenchResult, 'large'>> {
  return await withPair(bench, async (servers) => {
    const results: LargeResult[] = [];
    for (const { body, ratePerSecond } of CASES) {
      const seconds = bench.pace.largeSeconds;
      const loads: readonly Load[] = [
        {
          body,
          arrivals: { ratePerSecond, seconds, warmupSeconds: bench.pace.roundWarmupSeconds },
          connections: 2,
        },
        {
          body: 'pod-create-4k',
          arrivals: {
            ratePerSecond: BESIDES_PER_SECOND,
            seconds,
            warmupSeconds: bench.pace.roundWarmupSeconds,
          },
          connections: 8,
        },
      ];
      const [rounds, besides] = await pairedRounds(bench, servers, loads, Math.min(3, bench.pace.rounds));
      if (rounds === undefined || besides === undefined) continue;
      const bytes = reviewBody(body).bytes.length;
      results.push({ body, bytes, ratePerSecond, besidesPerSecond: BESIDES_PER_SECOND, rounds, besides });
      bench.say(`  ${body}`);
    }
    return { large: results };
  });
}

export async function parallel(bench: Bench): Promise<Pick<BenchResult, 'parallel'>> {
  const body: BodyName = 'resource-update-3m';
  const runs = {} as Record<'ours' | 'bare', ParallelRun>;
  for (const side of SIDES) {
    const server = await startServer(bench, side);
    try {
      const before = bench.numbers.residentBytes(server.pid);
      const failures: Record<string, number> = {};
      let failed = 0;
      let maxMs = 0;
      for (let wave = 0; wave < WAVES; wave += 1) {
        const [round] = await loadRound(bench, server, [
          { body, arrivals: { burst: PARALLEL }, connections: PARALLEL },
        ]);
        if (round === undefined) continue;
        failed += round.failed;
        maxMs = Math.max(maxMs, round.maxMs);
        for (const [reason, count] of Object.entries(round.failures)) {
          failures[reason] = (failures[reason] ?? 0) + count;
        }
      }
      runs[side] = { before, peak: bench.numbers.peakResidentBytes(server.pid), failed, failures, maxMs };
    } finally {
      await server.process.end('SIGKILL');
    }
  }
  return { parallel: { body, requests: PARALLEL, runs } };
}
