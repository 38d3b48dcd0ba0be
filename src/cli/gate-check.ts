import { InvalidArgumentError, type Command } from 'commander';
import { sleep } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { parseGoDuration } from '../reconcile/http/go-duration.ts';
import { addGateOptions, gateNow, gateProblems, type GateNow, type GateOptions } from './gate-decision.ts';
import { withClusterOf } from './open-cluster.ts';
import { EXIT, plain, say, show, type ExitCode } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends GateOptions {
  /** Milliseconds. */
  readonly wait?: number;
}

/** Between two looks at a gate that waits. */
const LOOK_MS = 5_000;
const MOST_WAIT_MS = 24 * 3_600_000;
const EXITS = { Allow: EXIT.ok, Deny: EXIT.no, Wait: EXIT.unknown } as const;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  const given = addGateOptions(command);
  command.option('--wait <duration>', 'how long to wait where waiting may help, such as 15m', parseWait);
  command.addHelpText(
    'after',
    `
Says whether the gate of a Stage lets a release through, from the cluster of the configuration or from the files of
--cluster-directory, and writes nothing. A verdict that is written elsewhere is asked of the API of a reconciler:
GET /v1/stages/NAMESPACE/NAME/gate.

Exits with 0 for Allow, 1 for Deny, 3 for Wait when the time is over, for a Stage that does not exist, and where the cluster
cannot be read.

Examples:
  pacto-gate gate check payments/payments-prod --digest sha256:… --wait 15m
  pacto-gate gate check payments/payments-prod --cluster-directory my-gate --output json`,
  );
  command.action(async (stage: string, options: Options) => {
    const config = await given.read(around, command, gateProblems(stage, options));
    finish(
      config === undefined
        ? EXIT.usage
        : await withClusterOf(
            config,
            around,
            'there is no cluster: give --cluster-kubeconfig, KUBECONFIG or --cluster-directory',
            (cluster) => check(cluster, stage, options, config, around),
          ),
    );
  });
}

async function check(
  cluster: Cluster,
  stage: string,
  options: Options,
  config: Config,
  around: Surroundings,
): Promise<ExitCode> {
  const endMs = around.clock.monotonic() + (options.wait ?? 0);
  let told = '';
  for (;;) {
    const found = await gateNow(cluster, stage, options, config, around);
    if (found === undefined) {
      say(around, `there is no Stage ${stage}`);
      return EXIT.unknown;
    }
    const { decision } = found.decision;
    const leftMs = endMs - around.clock.monotonic();
    if (decision !== 'Wait' || leftMs <= 0) {
      await show(around, options.output, valueOf(stage, found), plain(lineOf(stage, found)));
      return EXITS[decision];
    }
    const line = lineOf(stage, found);
    if (line !== told) say(around, `waiting: ${line}`);
    told = line;
    await sleep(around.clock, Math.min(LOOK_MS, leftMs));
  }
}

function lineOf(stage: string, { decision, digest }: GateNow): string {
  const about = digest === '' ? '' : ` ${digest}`;
  return `${decision.decision} [${decision.reasonCode}] ${stage}${about}: ${decision.message}`;
}

function valueOf(stage: string, { decision, digest }: GateNow): object {
  const { decision: answer, reasonCode, message, warnings } = decision;
  return { stage, digest, decision: answer, allowed: answer === 'Allow', reasonCode, message, warnings };
}

function parseWait(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms > MOST_WAIT_MS)
    throw new InvalidArgumentError('need a duration up to 24h, such as 15m');
  return ms;
}
