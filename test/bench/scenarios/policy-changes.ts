/** Policies of the cluster changed one a second under load: whether every answer is right, and what it costs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATE_POLICY, GATE_POLICY_BINDING, NAMESPACE } from '../../../src/cluster/kinds.ts';
import { startFakeApiServer, type FakeApiServer } from '../../support/fake-api-server.ts';
import { pause, startServer, type Bench } from '../bench.ts';
import type { KeptAnswer, StreamResult } from '../load-job.ts';
import { benchPolicies, bindingOf, pathsOf, type PolicyObject } from '../policies/policy-objects.ts';
import { checkAnswers, copiesOf, versionOf, type Change } from '../policy-changes/versions.ts';
import type { BenchResult, PolicyChangesResult } from '../result.ts';
import { REVIEWED_NAMESPACE, type BenchServer, type Setting } from '../servers.ts';
import { longestStall } from '../stalls.ts';
import { median } from '../statistics.ts';

const POLICIES = 64;
const RATE_PER_SECOND = 500;
const CHANGE_EVERY_MS = 1_000;
/** After a change that long, requests have to meet it: the way of the watch, and a compilation. */
const DELAY_LIMIT_MS = 1_000;
/** Between changed policies: neighbours share their expressions with every sixteenth. */
const STRIDE = 7;
/** API servers send one each minute, and a watch that is silent for 150 s counts as broken (design decision 12). */
const BOOKMARK_EVERY = 30;

export async function policyChanges(bench: Bench): Promise<Pick<BenchResult, 'policyChanges'>> {
  const api = await startFakeApiServer();
  const policies = copiesOf(benchPolicies(), POLICIES);
  const stallFile = join(bench.scratch, 'stalls');
  writeFileSync(stallFile, '');
  try {
    api.put(NAMESPACE, REVIEWED_NAMESPACE);
    const first = policies.map((_, policy): Change => ({ policy, version: 0, allowed: true, atMs: 0 }));
    for (const change of first) write(api, policies, change);
    for (const policy of policies) api.put(GATE_POLICY_BINDING, bindingOf(policy));
    const setting = settingOf(bench, api, policies, stallFile);
    const server = await startServer(bench, 'ours', { setting });
    try {
      return { policyChanges: await underLoad(bench, server, { api, policies, first, stallFile }) };
    } finally {
      await server.process.end('SIGKILL');
    }
  } finally {
    await api.stop();
  }
}

function settingOf(
  bench: Bench,
  api: FakeApiServer,
  policies: readonly PolicyObject[],
  stallFile: string,
): Setting {
  const kubeconfigFile = join(bench.scratch, 'policy-changes.kubeconfig');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server: api.url } }],
    users: [{ name: 'bench', user: {} }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  };
  writeFileSync(kubeconfigFile, JSON.stringify(kubeconfig));
  return {
    flags: {
      'cluster-source': 'kubeconfig',
      'cluster-kubeconfig': kubeconfigFile,
      'policies-sources': 'customResources',
      // It would ask this API server for more than policies.
      'identity-enabled': 'false',
    },
    podPaths: pathsOf(policies),
    nodeFlags: ['--import', bench.starter.stallProbe(stallFile)],
  };
}

function write(api: FakeApiServer, policies: readonly PolicyObject[], change: Change): void {
  const policy = policies[change.policy];
  if (policy !== undefined) api.put(GATE_POLICY, versionOf(policy, change));
}

interface Parts {
  readonly api: FakeApiServer;
  readonly policies: readonly PolicyObject[];
  readonly first: readonly Change[];
  readonly stallFile: string;
}

async function underLoad(bench: Bench, server: BenchServer, parts: Parts): Promise<PolicyChangesResult> {
  const { seconds, warmupSeconds, memoryWarmupSeconds, partSeconds } = bench.pace.policyChanges;
  const startMs = wallMs();
  const load = bench.loader.run({
    endpoint: server.endpoint,
    streams: [
      {
        name: 'policies',
        body: 'pod-create-4k',
        paths: server.podPaths,
        expectAllowed: undefined,
        arrivals: { ratePerSecond: RATE_PER_SECOND, seconds: seconds - warmupSeconds, warmupSeconds },
        connections: 8,
        keepsAnswers: true,
      },
    ],
  });
  const [results, { changes, resident }] = await Promise.all([load, changeEachSecond(bench, server, parts)]);
  const [result] = results;
  if (result === undefined) throw new Error('the load generator gave no result');
  const part = (from: number): number => median(resident.slice(from, from + partSeconds));
  return {
    ...loadOf(result),
    policies: POLICIES,
    seconds,
    ratePerSecond: RATE_PER_SECOND,
    changes: changes.length,
    ...judge([...parts.first, ...changes], result.answers),
    delayLimitMs: DELAY_LIMIT_MS,
    memory: {
      firstBytes: part(memoryWarmupSeconds),
      lastBytes: part(resident.length - partSeconds),
      partSeconds,
    },
    stall: longestStall(parts.stallFile, startMs + warmupSeconds * 1000),
  };
}

const wallMs = (): number => performance.timeOrigin + performance.now();

const judge = (
  changes: readonly Change[],
  answers: readonly KeptAnswer[],
): Pick<PolicyChangesResult, 'wrong' | 'delayMs'> => checkAnswers(changes, answers, DELAY_LIMIT_MS);

function loadOf({ requests, failed, failures, latency }: StreamResult) {
  return {
    requests,
    failed,
    failures,
    p50Ms: latency.p50Ms,
    p99Ms: latency.p99Ms,
    maxMs: latency.maxMs,
  };
}

/** @returns what was written, and what the server kept resident at each change. */
async function changeEachSecond(
  bench: Bench,
  server: BenchServer,
  { api, policies, first }: Parts,
): Promise<{ readonly changes: readonly Change[]; readonly resident: readonly number[] }> {
  const changes: Change[] = [];
  const resident: number[] = [];
  const latest = first.slice();
  const startMs = wallMs();
  for (let n = 1; n < bench.pace.policyChanges.seconds; n += 1) {
    await pause(startMs + n * CHANGE_EVERY_MS - wallMs());
    const policy = (n * STRIDE) % policies.length;
    const change: Change = { policy, version: n, allowed: latest[policy]?.allowed === false, atMs: wallMs() };
    write(api, policies, change);
    latest[policy] = change;
    changes.push(change);
    resident.push(bench.numbers.residentBytes(server.pid));
    if (n % BOOKMARK_EVERY === 0) api.bookmark();
  }
  return { changes, resident };
}
