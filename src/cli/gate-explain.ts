import type { Command } from 'commander';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import type { VerdictEvidence } from '../policies/delivery/decision.ts';
import { addGateOptions, gateNow, gateProblems, type GateNow, type GateOptions } from './gate-decision.ts';
import { withClusterOf } from './open-cluster.ts';
import { EXIT, plain, say, show, type ExitCode } from './output.ts';
import type { Surroundings } from './surroundings.ts';

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  const given = addGateOptions(command);
  command.addHelpText(
    'after',
    `
Says why the gate of a Stage decides as it does: the cells of the tables that it went through (docs/delivery.md), and the
evidence in each. Reads the cluster of the configuration, or the files of --cluster-directory, and writes nothing.

Exits with 0 where there is an answer, whatever it is, and 3 where there is none.

Example:
  pacto-gate gate explain payments/payments-prod --digest sha256:…`,
  );
  command.action(async (stage: string, options: GateOptions) => {
    const config = await given.read(around, command, gateProblems(stage, options));
    finish(
      config === undefined
        ? EXIT.usage
        : await withClusterOf(
            config,
            around,
            'there is no cluster: give --cluster-kubeconfig, KUBECONFIG or --cluster-directory',
            (cluster) => explain(cluster, stage, options, config, around),
          ),
    );
  });
}

async function explain(
  cluster: Cluster,
  stage: string,
  options: GateOptions,
  config: Config,
  around: Surroundings,
): Promise<ExitCode> {
  const found = await gateNow(cluster, stage, options, config, around);
  if (found === undefined) {
    say(around, `there is no Stage ${stage}`);
    return EXIT.unknown;
  }
  const { decision, digest, input } = found;
  await show(
    around,
    options.output,
    { stage, digest, decision, evidence: input },
    plain(textOf(stage, found)),
  );
  return EXIT.ok;
}

function textOf(stage: string, { stage: read, decision, digest, input }: GateNow): string {
  const { current, lastGood, ungated } = read.status;
  const { approvals, frozen, upstreams, own } = input;
  return [
    `${stage}: ${decision.decision} [${decision.reasonCode}] ${decision.message}`,
    `  about       ${digest === '' ? 'nothing' : digest}`,
    `  stands on   ${ungated?.digest ?? current?.digest ?? 'nothing'}${ungated === undefined ? '' : ', which the gate did not let through'}`,
    `  may go back ${lastGood.length === 0 ? 'nowhere' : lastGood.map((release) => release.digest).join(', ')}`,
    `  cells       ${decision.cells.join(' → ')}`,
    ...(frozen === undefined ? [] : [`  frozen      ${frozen.reason === '' ? 'yes' : frozen.reason}`]),
    ...upstreams.from.map(({ name, evidence }) => `  upstream    ${name}: ${evidenceText(evidence)}`),
    `  own verdict ${evidenceText(own)}`,
    ...(approvals.required === 0
      ? []
      : [
          `  approvals   ${approvals.have} of ${approvals.required}${approvals.missing.length === 0 ? '' : `, missing ${approvals.missing.join(', ')}`}`,
        ]),
    ...decision.warnings.map((warning) => `  warning     ${warning}`),
  ].join('\n');
}

function evidenceText({ status, currency, findings, contractVersion }: VerdictEvidence): string {
  const of = contractVersion === undefined ? '' : ` on contract ${contractVersion}`;
  const found = findings.length === 0 ? '' : `: ${findings.slice(0, 8).join(', ')}`;
  return `${status === '' ? 'none' : status}${found}${of} (${currency})`;
}
