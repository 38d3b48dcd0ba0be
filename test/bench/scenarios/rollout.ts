/** Two processes behind a proxy that follows readiness, under load: ended in turn, and given a new certificate. */
import { X509Certificate } from 'node:crypto';
import { connect, createSecureContext } from 'node:tls';
import { pause, startServer, type Bench } from '../bench.ts';
import type { StreamJob, StreamResult } from '../load-job.ts';
import { ReadinessProxy } from '../proxy.ts';
import type { BenchResult, RolloutRun } from '../result.ts';
import { pathsFor, type BenchServer } from '../servers.ts';

const RATE_PER_SECOND = 500;
/** Of those, how many come on a connection of their own: a handshake each. */
const SINGLE_PER_SECOND = 50;
/** The load ends when the events are over; this is only its bound. */
const MOST_SECONDS = 90;
const SEEN_TIMEOUT_MS = 15_000;
/** Load before the first and after the last event. */
const QUIET_MS = 1_500;
/** A server must be gone within the Pod's usual grace. */
const GRACE_MS = 30_000;

const streamsTo = (server: BenchServer): readonly StreamJob[] => [
  {
    name: 'kept',
    body: 'pod-create-4k',
    paths: pathsFor(server, 'pod-create-4k'),
    expectAllowed: true,
    arrivals: { ratePerSecond: RATE_PER_SECOND - SINGLE_PER_SECOND, seconds: MOST_SECONDS },
    connections: 8,
  },
  {
    name: 'single',
    body: 'lease-update-own',
    paths: pathsFor(server, 'lease-update-own'),
    expectAllowed: true,
    arrivals: { ratePerSecond: SINGLE_PER_SECOND, seconds: MOST_SECONDS },
    connections: 'each',
  },
];

interface Ended {
  readonly ending: string;
  readonly afterMs: number;
}

/** What happens while the load runs. */
type Events = (proxy: ReadinessProxy, servers: BenchServer[]) => Promise<readonly Ended[]>;

export async function sigterm(bench: Bench): Promise<Pick<BenchResult, 'rollout'>> {
  return await runs(bench, 'sigterm', async (proxy, servers) => {
    const ended: Ended[] = [];
    for (const old of servers.slice()) {
      ended.push(await endByTerm(old));
      proxy.remove(old.backend);
      const next = await startServer(bench, 'ours');
      servers.push(next);
      proxy.add(next.backend);
      await proxy.seen(next.backend, true, SEEN_TIMEOUT_MS);
    }
    return ended;
  });
}

export async function certificate(bench: Bench): Promise<Pick<BenchResult, 'rollout'>> {
  let leaf = 0;
  return await runs(bench, 'certificate', async (_, servers) => {
    leaf = 1 - leaf;
    const pair = bench.leaves[leaf === 1 ? 1 : 0];
    bench.mount.publish(pair);
    const wanted = new X509Certificate(pair.certPem).fingerprint256;
    for (const server of servers) await presents(bench, server, wanted);
    return [];
  });
}

async function runs(
  bench: Bench,
  kind: RolloutRun['kind'],
  events: Events,
): Promise<Pick<BenchResult, 'rollout'>> {
  const rollout: RolloutRun[] = [];
  for (let n = 0; n < bench.pace.rolloutRuns; n += 1) {
    const run = await oneRun(bench, kind, events);
    bench.say(`  ${kind} ${n + 1}: ${run.failed} of ${run.requests} failed`);
    rollout.push(run);
  }
  return { rollout };
}

async function oneRun(bench: Bench, kind: RolloutRun['kind'], events: Events): Promise<RolloutRun> {
  const proxy = await ReadinessProxy.start();
  const servers: BenchServer[] = [];
  try {
    for (let n = 0; n < 2; n += 1) servers.push(await startServer(bench, 'ours'));
    for (const { backend } of servers) proxy.add(backend);
    for (const { backend } of servers) await proxy.seen(backend, true, SEEN_TIMEOUT_MS);
    const first = servers[0];
    if (first === undefined) throw new Error('no server was started');
    const endpoint = { ...first.endpoint, port: proxy.port };
    const load = bench.loader.run({ endpoint, streams: streamsTo(first) });
    const happened = duringLoad(bench, () => events(proxy, servers));
    const [results, ended] = await Promise.all([load, happened]);
    return summary(kind, results, ended, proxy.refused);
  } finally {
    await proxy.close();
    await Promise.all(servers.map((server) => server.process.end('SIGKILL')));
  }
}

async function duringLoad<T>(bench: Bench, events: () => Promise<T>): Promise<T> {
  try {
    await pause(QUIET_MS);
    const result = await events();
    await pause(QUIET_MS);
    return result;
  } finally {
    bench.loader.stop();
  }
}

async function endByTerm(server: BenchServer): Promise<Ended> {
  const startMs = performance.now();
  await server.process.end('SIGTERM', GRACE_MS);
  return { ending: server.process.ending() ?? 'still running', afterMs: performance.now() - startMs };
}

/** Resolves when a new connection to `server` meets the wanted certificate. */
async function presents(bench: Bench, server: BenchServer, fingerprint: string): Promise<void> {
  const secureContext = createSecureContext({ ca: [...bench.ca] });
  const startMs = performance.now();
  while ((await peerFingerprint(server, secureContext)) !== fingerprint) {
    if (performance.now() - startMs > SEEN_TIMEOUT_MS) {
      throw new Error(`${server.backend.name} did not take up the new certificate`);
    }
    await pause(100);
  }
}

function peerFingerprint(
  server: BenchServer,
  secureContext: ReturnType<typeof createSecureContext>,
): Promise<string | undefined> {
  const { host, port, serverName } = server.endpoint;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername: serverName, secureContext }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function summary(
  kind: RolloutRun['kind'],
  results: readonly StreamResult[],
  ended: readonly Ended[],
  refused: number,
): RolloutRun {
  const failures: Record<string, number> = {};
  const certificates = new Set<string>();
  for (const result of results) {
    for (const [reason, count] of Object.entries(result.failures)) {
      failures[reason] = (failures[reason] ?? 0) + count;
    }
    for (const fingerprint of Object.keys(result.certificates)) certificates.add(fingerprint);
  }
  return {
    kind,
    ratePerSecond: RATE_PER_SECOND,
    requests: results.reduce((sum, result) => sum + result.requests, 0),
    failed: results.reduce((sum, result) => sum + result.failed, 0),
    failures,
    p99Ms: Math.max(...results.map((result) => result.latency.p99Ms)),
    maxMs: Math.max(...results.map((result) => result.latency.maxMs)),
    refused,
    certificates: certificates.size,
    endings: ended.map((one) => one.ending),
    endedAfterMs: ended.map((one) => one.afterMs),
  };
}
