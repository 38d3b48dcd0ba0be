/** Cold start, resident memory and idle processor time of fresh processes. */
import { loadRound, pause, SIDES, startServer, withPair, type Bench } from '../bench.ts';
import { anyOf } from '../pinning.ts';
import type { BenchResult, MemoryRun, Pair } from '../result.ts';
import type { BenchServer } from '../servers.ts';

const LOAD_PER_SECOND = 1_000;
const LOAD_SECONDS = 10;

/** From spawn to the first right answer, in turn; on any processor, as nothing else loads the machine. */
export async function coldStart(bench: Bench): Promise<Pick<BenchResult, 'coldStart'>> {
  const milliseconds = { ours: [] as number[], bare: [] as number[] };
  for (let n = 0; n < bench.pace.coldStarts; n += 1) {
    for (const side of SIDES) {
      const server = await startServer(bench, side, { core: anyOf(bench.cores) });
      milliseconds[side].push(server.firstAnswerMs);
      await server.process.end('SIGKILL');
    }
  }
  return { coldStart: milliseconds };
}

export async function memory(bench: Bench): Promise<Pick<BenchResult, 'memory'>> {
  return await withPair(bench, async (servers) => {
    await pause(bench.pace.settleSeconds * 1000);
    const idleBytes = both(servers, (server) => bench.numbers.residentBytes(server.pid));
    const beforeMs = both(servers, (server) => bench.numbers.cpuMs(server.pid));
    const startMs = performance.now();
    await pause(bench.pace.idleSeconds * 1000);
    const wallMs = performance.now() - startMs;
    const idleMs = both(servers, (server) => bench.numbers.cpuMs(server.pid));
    const runs = {} as Record<'ours' | 'bare', MemoryRun>;
    for (const side of SIDES) {
      await loadRound(bench, servers[side], [
        {
          body: 'pod-create-4k',
          arrivals: {
            ratePerSecond: LOAD_PER_SECOND,
            seconds: Math.min(LOAD_SECONDS, bench.pace.idleSeconds),
          },
          connections: 8,
        },
      ]);
      await pause(bench.pace.settleSeconds * 1000);
      runs[side] = {
        idleBytes: idleBytes[side],
        afterLoadBytes: bench.numbers.residentBytes(servers[side].pid),
        idleCpuPercent: ((idleMs[side] - beforeMs[side]) / wallMs) * 100,
      };
    }
    return { memory: runs };
  });
}

function both<T>(servers: Pair<BenchServer>, read: (server: BenchServer) => T): Pair<T> {
  return { ours: read(servers.ours), bare: read(servers.bare) };
}

/** The generator at twice the highest rate against the baseline. */
export async function loaderCheck(bench: Bench): Promise<Pick<BenchResult, 'loader'>> {
  const neededPerSecond = 2 * Math.max(...bench.pace.rates);
  const server = await startServer(bench, 'bare');
  try {
    const arrivals = { ratePerSecond: neededPerSecond, seconds: bench.pace.roundSeconds, warmupSeconds: 1 };
    const [round] = await loadRound(bench, server, [{ body: 'pod-create-4k', arrivals, connections: 8 }]);
    return round === undefined ? {} : { loader: { neededPerSecond, round } };
  } finally {
    await server.process.end('SIGTERM');
  }
}
