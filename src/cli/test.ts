import { Option, type Command } from 'commander';
import { KEYS } from '../config-keys.ts';
import { GateError } from '../errors.ts';
import { filesBelow, isDirectory } from './object-files.ts';
import { EXIT, plain, say, sayError, show, type ExitCode } from './output.ts';
import { parsePolicyVersion } from './policy-options.ts';
import { isSuiteFile } from './suite-files.ts';
import { reportJunit, reportText, reportValue, totalsOf } from './suite-report.ts';
import { runSuite, type SuiteResult } from './suite-run.ts';
import { watchSources } from './suite-watch.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly only?: string;
  readonly kubeVersion: string;
  readonly watch?: true;
  readonly output: 'text' | 'json' | 'yaml' | 'junit';
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument('<path...>', 'directories with suites (suite.yaml, NAME.suite.yaml), or suites')
    .option('--only <text>', 'run only cases whose name holds this')
    .option(
      '--kube-version <version>',
      'API server that is imitated where a suite says nothing of it',
      parsePolicyVersion,
      KEYS.policies.compatibilityVersion.fallback,
    )
    .option('--watch', 'run again whenever a file changes, until Ctrl-C')
    .addOption(
      new Option('-o, --output <format>', 'how the result is written')
        .choices(['text', 'json', 'yaml', 'junit'])
        .default('text'),
    )
    .addHelpText(
      'after',
      `
Runs test suites of ValidatingAdmissionPolicies without a cluster: each case is a request and what is expected of it.
docs/policies.md says how a suite is written. Exits with 0 when every case passed, 1 when one failed, 2 when a suite or
what it names cannot be read, or there is none.

Examples:
  pacto-gate test examples/policies
  pacto-gate test policies --output junit > report.xml
  pacto-gate test policies --watch --only replicas`,
    );
  command.action(async (paths: readonly string[], options: Options) => {
    finish(
      options.watch === true
        ? await watch(paths, options, around)
        : (await once(paths, options, around)).code,
    );
  });
}

interface Ran {
  readonly code: ExitCode;
  /** Files and directories that were read. */
  readonly sources: readonly string[];
}

/** @throws GateError GATE_INPUT_FILE */
async function once(paths: readonly string[], options: Options, around: Surroundings): Promise<Ran> {
  const results: SuiteResult[] = [];
  const sources: string[] = [];
  for (const file of await suitesOf(paths)) {
    const { result, sources: read } = await runSuite(file, options, around);
    results.push(result);
    sources.push(...read);
  }
  const { passed, failed } = totalsOf(results);
  if (passed + failed === 0) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `--only ${JSON.stringify(options.only)}: no case has that in its name`,
    );
  }
  if (options.output === 'junit') around.stdout.write(`${reportJunit(results)}\n`);
  else await show(around, options.output, reportValue(results), plain(reportText(results)));
  return { code: failed === 0 ? EXIT.ok : EXIT.no, sources };
}

/** @throws GateError GATE_INPUT_FILE where there is none. */
async function suitesOf(paths: readonly string[]): Promise<readonly string[]> {
  const suites: string[] = [];
  for (const path of paths) {
    if (!(await isDirectory(path))) {
      suites.push(path);
      continue;
    }
    const found = (await filesBelow(path)).files.filter(isSuiteFile);
    if (found.length === 0) {
      throw new GateError(
        'GATE_INPUT_FILE',
        `directory ${path}: there is no suite in it: need a file suite.yaml or NAME.suite.yaml`,
      );
    }
    suites.push(...found);
  }
  return suites;
}

/** @returns the code of the last run, once somebody ends it. */
async function watch(paths: readonly string[], options: Options, around: Surroundings): Promise<ExitCode> {
  const watching = watchSources(around);
  try {
    let code: ExitCode = EXIT.ok;
    for (;;) {
      await watching.note(paths);
      try {
        const ran = await once(paths, options, around);
        code = ran.code;
        await watching.note(ran.sources);
      } catch (error) {
        code = sayError(around, error);
      }
      say(around, 'waiting for a file to change. Ctrl-C ends it');
      if (!(await watching.change())) return code;
    }
  } finally {
    watching.close();
  }
}
