import type { Command } from 'commander';
import { openLooking } from '../app/looking.ts';
import { listPactos, onceParts } from '../app/reconciler-live.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { GateError, messageOf } from '../errors.ts';
import { reconcileOnce, type OnceAnswer } from '../reconcile/once.ts';
import { inSeconds } from '../reconcile/stabilization.ts';
import { keyText, type PactoKey } from '../reconcile/wake.ts';
import { addConfigOptions } from './config-options.ts';
import { withClusterOf } from './open-cluster.ts';
import {
  addOutputOption,
  EXIT,
  plain,
  say,
  show,
  table,
  type ExitCode,
  type OutputFormat,
} from './output.ts';
import { sayingLog } from './saying-log.ts';
import type { Surroundings } from './surroundings.ts';

const ABSENT = 'no cluster: give --cluster-directory, --cluster-kubeconfig, or KUBECONFIG in the environment';

interface Options {
  readonly namespace?: string;
  readonly all?: true;
  readonly output: OutputFormat;
}

/** What is said of one Pacto. */
interface Line {
  readonly namespace: string;
  readonly name: string;
  readonly contractStatus?: string;
  readonly outcome: OnceAnswer['outcome'] | 'gone' | 'failed';
  readonly message?: string;
  /** When the verdict may change by time alone, and when another look is due. */
  readonly nextChange?: string;
  readonly nextLook?: string;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument('[name]', 'of the Pacto; left out with --all')
    .option('-n, --namespace <namespace>', 'of the Pacto')
    .option('--all', 'every Pacto, or with --namespace every one in it');
  const given = addConfigOptions(command, ['cluster', 'reconciler', 'registry']);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Looks at Pactos once and writes what came of it, as the reconciler would, and ends: for timers and for runtimes that run
nothing in between. Where another reconciler holds the Lease, nothing is written, and it is said. nextChange is when the
verdict may change by time alone, nextLook when another look is due at the latest. Exits with 0 where each was looked at, 3
where one could not be.

Examples:
  pacto-gate reconcile cart --namespace shop
  pacto-gate reconcile --all --output json`,
  );
  command.action(async (name: string | undefined, options: Options) => {
    const config = await given.read(around, command, problemsOf(name, options));
    finish(
      config === undefined
        ? EXIT.usage
        : await withClusterOf(config, around, ABSENT, (cluster) =>
            run(name, options, { config, around, cluster }),
          ),
    );
  });
}

function problemsOf(name: string | undefined, { namespace, all }: Options): readonly string[] {
  if (all === true) return name === undefined ? [] : ['--all and a name contradict each other'];
  if (name === undefined) return ['need the name of a Pacto, or --all'];
  return namespace === undefined ? ['need --namespace'] : [];
}

interface Given {
  readonly config: Config;
  readonly around: Surroundings;
  readonly cluster: Cluster;
}

async function run(name: string | undefined, options: Options, given: Given): Promise<ExitCode> {
  const { config, around, cluster } = given;
  const keys = await keysOf(name, options, given);
  const parts = { clock: around.clock, log: sayingLog(around) };
  const looking = openLooking(config, parts);
  const lines: Line[] = [];
  try {
    const once = onceParts(config, parts, cluster, looking);
    for (const key of keys)
      lines.push(await lineOf(key, () => reconcileOnce(key, once, new AbortController().signal)));
  } finally {
    await looking.close();
  }
  await show(around, options.output, lines, textOf(lines));
  if (name !== undefined && lines[0]?.outcome === 'gone') {
    say(around, 'there is no such Pacto');
    return EXIT.usage;
  }
  return lines.some(({ outcome }) => outcome === 'failed') ? EXIT.unknown : EXIT.ok;
}

async function keysOf(
  name: string | undefined,
  { namespace }: Options,
  { config, cluster }: Given,
): Promise<readonly PactoKey[]> {
  if (name !== undefined) return [{ namespace: namespace ?? '', name }];
  const namespaces = namespace === undefined ? config.reconciler.namespaces : [namespace];
  const pactos = await listPactos(cluster, namespaces);
  return pactos.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
}

/** One that fails stands in the way of no other. */
async function lineOf(key: PactoKey, look: () => Promise<OnceAnswer | undefined>): Promise<Line> {
  try {
    const answer = await look();
    if (answer === undefined) return { ...key, outcome: 'gone' };
    const { status, nextChangeMs, nextLookMs } = answer.result;
    return {
      ...key,
      contractStatus: status.contractStatus ?? 'Unknown',
      outcome: answer.outcome,
      ...(nextChangeMs !== undefined && { nextChange: inSeconds(nextChangeMs) }),
      nextLook: inSeconds(nextLookMs),
    };
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return { ...key, outcome: 'failed', message: messageOf(error) };
  }
}

function textOf(lines: readonly Line[]): string {
  if (lines.length === 0) return 'there are no Pactos';
  const rows = lines.map((line) => [
    keyText(line),
    line.contractStatus ?? '',
    line.outcome,
    line.message ?? (line.nextChange === undefined ? '' : `may change at ${line.nextChange}`),
  ]);
  return plain(table([['PACTO', 'VERDICT', 'OUTCOME', ''], ...rows]));
}
