/**
 * Compares the project with recorded facts: `npm run conformance [-- DIR…] [--only FAMILY] [--verbose]`.
 * Exit: 0 everything as recorded, 1 something differs, 2 usage.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { celSpecSuite } from '../test/conformance/cel-spec.ts';
import { celSuite } from '../test/conformance/cel.ts';
import { contractSuite } from '../test/conformance/contract.ts';
import { readExceptions, type Exceptions } from '../test/conformance/exceptions.ts';
import { kubescapeSuite } from '../test/conformance/kubescape.ts';
import { operatorSuite } from '../test/conformance/operator.ts';
import type { FamilyResult, Suite } from '../test/conformance/suite.ts';
import { vapSuite } from '../test/conformance/vap.ts';

const SUITES: readonly Suite[] = [
  celSuite,
  celSpecSuite,
  operatorSuite,
  contractSuite,
  kubescapeSuite,
  vapSuite,
];
const DEFAULT_DIRECTORIES: readonly string[] = [
  'test/golden/cel',
  'test/golden/contract',
  'test/golden/operator',
  'test/golden/vap',
  'node_modules/@bufbuild/cel-spec',
];
const EXCEPTIONS_FILE = 'docs/conformance.md';
/** Failing ids that are named of one family, unless --verbose. */
const NAMED_FAILURES = 12;

interface Tally {
  failed: number;
  readonly families: Set<string>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, verbose: { type: 'boolean', default: false } },
});

const exceptions = readExceptions(await readFile(EXCEPTIONS_FILE, 'utf8').catch(() => ''));
const missing = new Set(SUITES);
const tally: Tally = { failed: 0, families: new Set() };
for (const directory of positionals.length > 0 ? positionals : DEFAULT_DIRECTORIES) {
  const suite = await suiteFor(directory);
  if (suite === undefined) {
    process.stderr.write(
      `${directory}: not in a format of ${SUITES.map((known) => known.name).join(', ')}\n`,
    );
    process.exitCode = 2;
    continue;
  }
  missing.delete(suite);
  for await (const result of suite.run(directory, { only: values.only })) {
    tally.families.add(result.family);
    report(result);
  }
}
for (const { name } of missing) {
  process.stderr.write(`${name}: LEFT OUT, as no folder in its format was given\n`);
}
if (tally.families.size === 0 && process.exitCode === undefined) {
  process.stderr.write('nothing was compared\n');
  process.exitCode = 2;
}
if (tally.failed > 0) process.exitCode = 1;

async function suiteFor(directory: string): Promise<Suite | undefined> {
  for (const suite of SUITES) if (await suite.recognises(directory)) return suite;
  return undefined;
}

function report(result: FamilyResult): void {
  const { family, total, failures } = result;
  process.stdout.write(`${family}: ${String(total - failures.length)}/${String(total)}\n`);
  if (result.left !== undefined) process.stdout.write(`  left out: ${result.left}\n`);
  const known = failures.filter((failure) => exceptions.has(failure.id));
  const unknown = failures.filter((failure) => !exceptions.has(failure.id));
  for (const failure of unknown.slice(0, values.verbose ? undefined : NAMED_FAILURES)) {
    process.stdout.write(`  failed ${failure.id}\n`);
    if (values.verbose) process.stdout.write(`${failure.detail.replaceAll(/^/gm, '    ')}\n`);
  }
  if (!values.verbose && unknown.length > NAMED_FAILURES) {
    process.stdout.write(`  … and ${String(unknown.length - NAMED_FAILURES)} more (--verbose names all)\n`);
  }
  for (const { id } of known) process.stdout.write(`  excepted ${id}: ${exceptions.get(id) ?? ''}\n`);
  const healed = listed(exceptions, result);
  for (const id of healed) process.stdout.write(`  passes although it is listed: ${id}\n`);
  tally.failed += unknown.length + healed.length;
}

/** Ids of the family that are listed as failing, and pass. */
function listed(all: Exceptions, { ids, failures }: FamilyResult): readonly string[] {
  const failed = new Set(failures.map((failure) => failure.id));
  return ids.filter((id) => all.has(id) && !failed.has(id));
}
