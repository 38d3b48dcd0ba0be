/** The verdict of a Pacto in a cluster or a directory, computed now: everything is read, nothing is written (design §5). */
import { openLooking } from '../app/looking.ts';
import { observeSettings } from '../app/reconciler-settings.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { PACTO } from '../cluster/kinds.ts';
import type { Config } from '../config.ts';
import { quote } from '../errors.ts';
import type { StatusFinding } from '../reconcile/api/pacto.ts';
import { readPacto } from '../reconcile/api/read-pacto.ts';
import { createLiveView } from '../reconcile/live-view.ts';
import type { PassResult } from '../reconcile/pass.ts';
import { inSeconds } from '../reconcile/stabilization.ts';
import { withClusterOf } from './open-cluster.ts';
import { EXIT, plain, say, show, table, type ExitCode, type OutputFormat } from './output.ts';
import { sayingLog } from './saying-log.ts';
import type { Surroundings } from './surroundings.ts';

const ABSENT = 'no cluster: give --cluster-directory, --cluster-kubeconfig, or KUBECONFIG in the environment';

export interface ClusterVerdictOptions {
  readonly namespace: string;
  readonly strict?: true;
  readonly output: OutputFormat;
}

export async function runClusterVerdict(
  name: string,
  options: ClusterVerdictOptions,
  config: Config,
  around: Surroundings,
): Promise<ExitCode> {
  return await withClusterOf(config, around, ABSENT, async (cluster) => {
    const object = await cluster.get(PACTO, { namespace: options.namespace, name });
    if (object === undefined) {
      say(around, `there is no Pacto ${quote(name)} in namespace ${quote(options.namespace)}`);
      return EXIT.usage;
    }
    const result = await look(cluster, object, config, around);
    await show(around, options.output, factsOf(result), textOf(result));
    return exitOf(result, options.strict === true);
  });
}

async function look(
  cluster: Cluster,
  object: Parameters<typeof readPacto>[0],
  config: Config,
  around: Surroundings,
): Promise<PassResult> {
  const looking = openLooking(config, { clock: around.clock, log: sayingLog(around) });
  const ending = new AbortController();
  try {
    const view = createLiveView({
      cluster,
      namespaces: config.reconciler.namespaces,
      nodeAgent: observeSettings(config).nodeAgent,
      signal: ending.signal,
    });
    return await looking.pass.look(readPacto(object), { view, signal: ending.signal });
  } finally {
    await looking.close();
  }
}

function factsOf({ pacto, status, changed, nextChangeMs }: PassResult): object {
  const { namespace, name, generation } = pacto;
  return {
    namespace,
    name,
    generation,
    ...status,
    /** What is written in the cluster says something else. */
    differsFromWritten: changed,
    ...(nextChangeMs !== undefined && { nextChange: inSeconds(nextChangeMs) }),
  };
}

function textOf({ pacto, status, changed, nextChangeMs }: PassResult): string {
  const { findings = [], contract, conditions = [], evaluationCoverage, contractStatus = 'Unknown' } = status;
  const valid = conditions.find(({ type }) => type === 'ContractValid');
  const coverage =
    evaluationCoverage === undefined
      ? ''
      : `, ${String(evaluationCoverage.evaluated)} of ${String(evaluationCoverage.required)} evaluated`;
  const title =
    contract === undefined
      ? `${pacto.namespace}/${pacto.name}`
      : `${contract.serviceName} ${contract.version}`;
  const later = nextChangeMs === undefined ? [] : [`  may change by itself at ${inSeconds(nextChangeMs)}`];
  const old = changed
    ? [`  the status in the cluster says ${pacto.status.contractStatus ?? 'nothing yet'}`]
    : [];
  return [
    ...(findings.length === 0 ? [] : [plain(table(findings.map(rowOf)))]),
    ...(valid === undefined || valid.status === 'True' ? [] : [plain(`  ${valid.message}`)]),
    ...later,
    ...old.map((line) => plain(line)),
    plain(`${title}: ${contractStatus}${coverage}`),
  ].join('\n');
}

function rowOf({ severity, code, subject = '', message }: StatusFinding): readonly string[] {
  return [`  ${severity}`, code, subject, message];
}

function exitOf({ status }: PassResult, strict: boolean): ExitCode {
  switch (status.contractStatus) {
    case 'Compliant':
    case 'Reference':
      return EXIT.ok;
    case 'Warning':
      return strict ? EXIT.no : EXIT.ok;
    case 'NonCompliant':
    case 'Invalid':
      return EXIT.no;
    default:
      return EXIT.unknown;
  }
}
