/** Fixed arrival rates, the highest rate that holds, every body of the corpus, and bursts. */
import { loadRound, pairedRounds, SIDES, startServer, withPair, type Bench, type Load } from '../bench.ts';
import { BODY_NAMES, reviewBody } from '../corpus.ts';
import type { BenchResult, BodyResult, BurstResult, HighestRate, Pair, RateResult } from '../result.ts';
import { proveEvaluation, type BenchServer, type Setting, type Side } from '../servers.ts';
import { buildPeer } from '../peer.ts';
import { BuildError } from '../../../scripts/controlplane/go-build.ts';

/** The p99 that a rate must keep to count as held (design §6). */
const HELD_P99_MS = 10;
/** Less than this share of the rate answered means that requests pile up. */
const HELD_SHARE = 0.97;
/** One noisy second of a shared machine must not end the climb. */
const ATTEMPTS = 2;
/** Where figures only stand beside each other. */
const SHORT_WARMUP_SECONDS = 3;
/** Cases beside the budgets' own: enough for a median. */
const FEW_ROUNDS = 3;
const BODY_PER_SECOND = 200;
const BODY_SECONDS = 1.5;
const LARGEST_OF_BODIES = 128 * 1024;

async function warmUp(bench: Bench, servers: Pair<BenchServer>, seconds: number): Promise<void> {
  const arrivals = { ratePerSecond: 500, seconds };
  for (const side of SIDES) {
    await proveEvaluation(servers[side]);
    await loadRound(bench, servers[side], [{ body: 'pod-create-4k', arrivals, connections: 8 }]);
  }
}

export async function rates(bench: Bench): Promise<Pick<BenchResult, 'rates'>> {
  const cases: readonly Omit<RateResult, 'rounds'>[] = [
    ...bench.pace.rates.map((ratePerSecond) => ({
      ratePerSecond,
      connections: 8,
      body: 'pod-create-4k' as const,
    })),
    { ratePerSecond: 500, connections: 8, body: 'lease-update-own' },
    { ratePerSecond: 500, connections: 1, body: 'pod-create-4k' },
    { ratePerSecond: 200, connections: 'each', body: 'pod-create-4k' },
  ];
  return await withPair(bench, async (servers) => {
    await warmUp(bench, servers, bench.pace.warmupSeconds);
    const results: RateResult[] = [];
    for (const one of cases) {
      const arrivals = {
        ratePerSecond: one.ratePerSecond,
        seconds: bench.pace.roundSeconds,
        warmupSeconds: bench.pace.roundWarmupSeconds,
      };
      const isOfBudget = one.connections === 8 && one.body === 'pod-create-4k';
      const count = isOfBudget ? bench.pace.rounds : Math.min(FEW_ROUNDS, bench.pace.rounds);
      const [rounds] = await pairedRounds(bench, servers, [{ ...one, arrivals }], count);
      if (rounds !== undefined) results.push({ ...one, rounds });
      bench.say(`  ${one.ratePerSecond}/s, connections: ${one.connections}`);
    }
    return { rates: results };
  });
}

export async function highest(bench: Bench): Promise<Pick<BenchResult, 'highest'>> {
  const peer = await peerProgram(bench);
  if ('leftOut' in peer) bench.say(`  LEFT OUT: ${peer.leftOut}`);
  const { sixteen, together } = bench.starter;
  const climbs = async (setting: Setting): Promise<{ ours: HighestRate; go?: HighestRate }> => {
    const ours = await climbAlone(bench, 'ours', { setting });
    return 'leftOut' in peer
      ? { ours }
      : { ours, go: await climbAlone(bench, 'go', { setting, program: peer.program }) };
  };
  const one = await climbs(sixteen);
  bench.say('  one policy a request');
  const all = await climbs(together);
  bench.say('  sixteen policies a request');
  const bare = await climbAlone(bench, 'bare', {});
  return { highest: { one, all, bare, ...('leftOut' in peer && { leftOut: peer.leftOut }) } };
}

async function peerProgram(bench: Bench): Promise<{ program: string } | { leftOut: string }> {
  try {
    return { program: await buildPeer((line) => bench.say(line)) };
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    return { leftOut: `the webhook in Go: ${error.message}` };
  }
}

async function climbAlone(
  bench: Bench,
  side: Side,
  options: { readonly setting?: Setting; readonly program?: string },
): Promise<HighestRate> {
  const server = await startServer(bench, side, options);
  try {
    await proveEvaluation(server);
    const arrivals = {
      ratePerSecond: 200,
      seconds: Math.min(SHORT_WARMUP_SECONDS, bench.pace.warmupSeconds),
    };
    await loadRound(bench, server, [{ body: 'pod-create-4k', arrivals, connections: 8 }]);
    return await climb(bench, server);
  } finally {
    await server.process.end('SIGKILL');
  }
}

async function climb(bench: Bench, server: BenchServer): Promise<HighestRate> {
  const trials: HighestRate['trials'][number][] = [];
  const holds = async (ratePerSecond: number): Promise<boolean> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const arrivals = {
        ratePerSecond,
        seconds: Math.min(2, bench.pace.roundSeconds),
        warmupSeconds: bench.pace.roundWarmupSeconds,
      };
      const [round] = await loadRound(bench, server, [{ body: 'pod-create-4k', arrivals, connections: 8 }]);
      if (round === undefined) return false;
      const held =
        round.failed === 0 &&
        round.p99Ms < HELD_P99_MS &&
        round.achievedPerSecond >= HELD_SHARE * ratePerSecond;
      trials.push({ ratePerSecond, p99Ms: round.p99Ms, held });
      if (held) return true;
    }
    return false;
  };
  let low = 0;
  let high: number | undefined;
  for (const ratePerSecond of bench.pace.ladder) {
    if (await holds(ratePerSecond)) {
      low = ratePerSecond;
    } else {
      high = ratePerSecond;
      break;
    }
  }
  for (let n = 0; high !== undefined && low > 0 && n < bench.pace.bisections; n += 1) {
    const middle = Math.round((low + high) / 2);
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  return { perSecond: low, atBound: high === undefined, trials };
}

/** Every body up to 128 KiB; the larger ones have a scenario of their own. */
export async function bodies(bench: Bench): Promise<Pick<BenchResult, 'bodies'>> {
  return await withPair(bench, async (servers) => {
    await warmUp(bench, servers, Math.min(SHORT_WARMUP_SECONDS, bench.pace.warmupSeconds));
    const results: BodyResult[] = [];
    for (const body of BODY_NAMES) {
      const bytes = reviewBody(body).bytes.length;
      if (bytes > LARGEST_OF_BODIES) continue;
      const load: Load = {
        body,
        arrivals: {
          ratePerSecond: BODY_PER_SECOND,
          seconds: Math.min(BODY_SECONDS, bench.pace.roundSeconds),
          warmupSeconds: bench.pace.roundWarmupSeconds,
        },
        connections: 8,
      };
      const [rounds] = await pairedRounds(bench, servers, [load], Math.min(2, bench.pace.rounds));
      if (rounds !== undefined) results.push({ body, bytes, ratePerSecond: BODY_PER_SECOND, rounds });
    }
    return { bodies: results };
  });
}

/** 500 requests at one instant, over few kept connections and over as many as requests. */
export async function bursts(bench: Bench): Promise<Pick<BenchResult, 'bursts'>> {
  return await withPair(bench, async (servers) => {
    await warmUp(bench, servers, Math.min(SHORT_WARMUP_SECONDS, bench.pace.warmupSeconds));
    const results: BurstResult[] = [];
    for (const connections of [8, 500]) {
      const load: Load = { body: 'pod-create-4k', arrivals: { burst: 500 }, connections };
      const [rounds] = await pairedRounds(bench, servers, [load], Math.min(3, bench.pace.rounds));
      if (rounds !== undefined) results.push({ requests: 500, connections, rounds });
    }
    return { bursts: results };
  });
}
