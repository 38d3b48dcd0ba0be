/** The gate of a Stage as it is now, computed from a cluster or from files: what both commands of `gate` show. */
import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { createReader } from '../cluster/cache.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import type { Decision, DecisionInput } from '../policies/delivery/decision.ts';
import type { Stage } from '../policies/delivery/stage.ts';
import { evaluateStage } from '../reconcile/stages/stage-status.ts';
import { DeliveryReads } from '../webhooks/delivery-reads.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { parseInstant } from './contract-options.ts';
import { clockAt } from './fixed-clock.ts';
import { addOutputOption, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

export interface GateOptions {
  readonly digest?: string;
  readonly now?: Date;
  readonly output: OutputFormat;
}

export interface GateNow {
  readonly stage: Stage;
  readonly digest: string;
  readonly decision: Decision;
  readonly input: DecisionInput;
}

/** What a pointer may hold: a digest, a commit, a version. */
const DIGEST = /^[\w.:+@/-]{1,256}$/;

export function addGateOptions(command: Command): GivenConfig {
  command
    .argument('<namespace/name>', 'of the Stage')
    .option(
      '--digest <digest>',
      'what is to be promoted (default: what waits, else what the Stage stands on)',
    )
    .option('--now <time>', 'when it is, for what depends on it (default: now)', parseInstant);
  addOutputOption(command);
  return addConfigOptions(command, ['cluster', 'delivery', 'reconciler']);
}

export function gateProblems(stage: string, { digest }: GateOptions): readonly string[] {
  const [namespace = '', name = '', ...rest] = stage.split('/');
  return [
    ...(namespace === '' || name === '' || rest.length > 0
      ? [`${stage}: need namespace/name of a Stage`]
      : []),
    ...(digest === undefined || DIGEST.test(digest) ? [] : ['--digest: need a digest such as sha256:…']),
  ];
}

/**
 * @returns undefined where there is no such Stage
 * @throws GateError where the cluster cannot be read
 */
export async function gateNow(
  cluster: Cluster,
  stageName: string,
  { digest, now }: GateOptions,
  { delivery, reconciler }: Config,
  around: Pick<Surroundings, 'clock'>,
): Promise<GateNow | undefined> {
  const [namespace = '', name = ''] = stageName.split('/');
  const reads = new DeliveryReads({
    clock: clockAt(around.clock, now?.getTime()),
    namespace: delivery.namespace,
    stabilizationMs: reconciler.stabilizationSeconds * 1_000,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const reader = createReader({ mode: 'live', cluster, reflectors: [], clock: around.clock }).forRequest();
  const { signal } = new AbortController();
  const found = await reads.world(
    { namespace, name },
    { reader, signal, share: () => ({ signal, clear: () => undefined }) },
  );
  return found.isThere ? { stage: found.world.stage, ...evaluateStage(found.world, digest) } : undefined;
}
