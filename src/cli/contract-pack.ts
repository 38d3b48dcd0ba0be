import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readContract } from '../app/contract-reader.ts';
import { GateError, messageOf } from '../errors.ts';
import type { BundleFiles } from '../policies/contract/bundle-files.ts';
import { validate } from '../policies/contract/validate.ts';
import { writeLayoutBundle } from '../registry/layout.ts';
import { packArchive, packBundle } from '../registry/pack.ts';
import { counted, linesOf, parseError, placed, saidOf, type Said } from './contract-findings.ts';
import {
  addOverrideOptions,
  addRegistryOptions,
  BUNDLE_HELP,
  type OverrideOptions,
} from './contract-options.ts';
import { titleOf, withContracts, type ContractSession, type LoadedContract } from './contract-session.ts';
import { addOutputOption, EXIT, plain, say, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends OverrideOptions {
  readonly out?: string;
  readonly layout?: string;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.argument('<bundle>', 'where the contract is; see below');
  addOverrideOptions(command);
  command
    .option('--out <file>', 'write the archive to this file (default: NAME-VERSION.tgz)')
    .option('--layout <folder>', 'add the artifact, as push would send it, to an OCI image layout instead');
  addOutputOption(command);
  const given = addRegistryOptions(command);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Packs a bundle, without what its .pactoignore names, once it is found valid; policies that lie elsewhere are not fetched. The
same files make the same bytes. Exits with 1, and writes nothing, where the contract has an error.

Examples:
  pacto-gate contract pack .
  pacto-gate contract pack examples/contracts/cart --out cart.tgz
  pacto-gate contract pack . --layout build/layout`,
  );
  command.action(async (bundle: string, options: Options) => {
    const problems =
      options.out !== undefined && options.layout !== undefined ? ['give --out or --layout, not both'] : [];
    const config = await given.read(around, command, problems);
    finish(
      config === undefined
        ? EXIT.usage
        : await withContracts(config, around, (session) => runPack(bundle, options, session, around)),
    );
  });
}

async function runPack(
  bundle: string,
  options: Options,
  session: ContractSession,
  around: Surroundings,
): Promise<ExitCode> {
  const ready = await readyToShip(bundle, options, session, around, false);
  if (ready === undefined) return EXIT.no;
  const { service } = ready.contract;
  const { digest } = packBundle(ready.files, readContract);
  let target: string;
  if (options.layout === undefined) {
    target = options.out ?? `${service.name}-${service.version.replaceAll(/[^\w.+-]/g, '_')}.tgz`;
    await writeFile(target, packArchive(ready.files)).catch((error: unknown) => {
      throw new GateError('GATE_INPUT_FILE', `file ${target}: cannot be written: ${messageOf(error)}`, {
        cause: error,
      });
    });
  } else {
    target = options.layout;
    await writeLayoutBundle(target, packBundle(ready.files, readContract), service.version);
  }
  const value = { bundle, target, digest, files: [...ready.files.keys()].sort() };
  await show(
    around,
    options.output,
    value,
    plain(`${titleOf(ready.contract)}: packed into ${target}\ndigest when pushed: ${digest}`),
  );
  return EXIT.ok;
}

/** A contract with a bundle in which no error was found. */
export type Shippable = LoadedContract & { readonly files: BundleFiles };

/**
 * Reads and validates what is to be packed or pushed, and says what is wrong on standard error.
 * @param fetches whether policies that lie elsewhere are fetched and enforced.
 * @returns undefined where there is an error.
 */
export async function readyToShip(
  bundle: string,
  overrides: OverrideOptions,
  session: ContractSession,
  around: Surroundings,
  fetches: boolean,
): Promise<Shippable | undefined> {
  const read = await session.read(bundle, overrides);
  const refuse = (said: readonly Said[]): undefined => {
    for (const line of linesOf(placed(said, read.lines))) around.stderr.write(`${line}\n`);
    say(around, `${bundle}: not valid (${counted(said)}): mend it, pacto-gate validate says the same`);
    return undefined;
  };
  if (!read.ok) return refuse([parseError(read.reason)]);
  const { contract, document, files, given } = read;
  if (files === undefined) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `${bundle}: it is a contract alone: give the folder of its bundle`,
    );
  }
  const result = await validate(
    { contract, document },
    {
      schemas: session.schemas,
      files,
      ...(fetches && { resolver: session.resolver }),
      ...(given.base !== undefined && { base: given.base }),
    },
  );
  const said = saidOf(result);
  if (result.errors.length > 0) return refuse(said);
  for (const line of linesOf(placed(said, read.lines))) around.stderr.write(`${line}\n`);
  return { contract, document, files };
}
