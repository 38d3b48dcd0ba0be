/** Policies in this process: against the API server's own evaluator, against other engines, and what they cost here. */
import { BuildError } from '../../../scripts/controlplane/go-build.ts';
import { Cel } from '../../../src/policies/cel/cel.ts';
import type { Bench } from '../bench.ts';
import { buildPeer, Peer } from '../peer.ts';
import { compareEngines } from '../policies/engines.ts';
import { bytesPerExpression, longestStall, timeRequests } from '../policies/in-process.ts';
import { comparePolicy, readPolicyGroups, warmUp } from '../policies/kubescape.ts';
import type { BenchResult, PoliciesResult, PolicyTimes } from '../result.ts';

/** Policies of one request (design §6). */
const COUNTS = [16, 64];
const FEW_ROUNDS = 3;

export async function policies(bench: Bench): Promise<Pick<BenchResult, 'policies'>> {
  const { pace } = bench;
  const rounds = Math.min(FEW_ROUNDS, pace.rounds);
  // The memory first: what later parts leave behind is collected at a time of its own.
  const bytes = await bytesPerExpression();
  const requests = await timeRequests(COUNTS, FEW_ROUNDS, pace.policySamples);
  bench.say('  requests');
  const stall = longestStall();
  const engines = await compareEngines(pace.expressionMilliseconds);
  bench.say('  engines');
  const compared = await compareWithPeer(bench, rounds);
  if (compared.leftOut !== undefined) bench.say(`  LEFT OUT: ${compared.leftOut}`);
  return { policies: { ...compared, engines, requests, stall, bytesPerExpression: bytes } };
}

async function compareWithPeer(
  bench: Bench,
  rounds: number,
): Promise<Pick<PoliciesResult, 'peer' | 'leftOut'>> {
  const { kubescape, pace } = bench;
  if (kubescape === undefined)
    return { leftOut: 'real policies against Go, as no --kubescape DIR was given' };
  const cel = new Cel();
  const groups = await readPolicyGroups(kubescape, cel);
  if (groups === undefined) return { leftOut: `real policies against Go, as ${kubescape} has no cases.json` };
  let program: string;
  try {
    program = await buildPeer((line) => bench.say(line));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    return { leftOut: `real policies against Go: ${error.message}` };
  }
  const peer = new Peer(program);
  try {
    const times: PolicyTimes[] = [];
    warmUp(groups, cel);
    for (const group of groups) {
      times.push(await comparePolicy(group, peer, cel, { milliseconds: pace.policyMilliseconds, rounds }));
    }
    bench.say('  real policies against Go');
    return { peer: times };
  } finally {
    peer.close();
  }
}
