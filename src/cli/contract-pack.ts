import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readContract } from '../app/contract-reader.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import { isLayout, readLayoutBundle, writeLayoutBundle } from '../registry/layout.ts';
import { packBundle, type PackedBundle } from '../registry/pack.ts';
import {
  addOverrideOptions,
  addRegistryOptions,
  BUNDLE_HELP,
  withFileOption,
  type OverrideOptions,
} from './contract-options.ts';
import { titleOf, withContracts, type ContractSession } from './contract-session.ts';
import { filesText, namesOf, readyToShip, type Shippable } from './shipping.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends OverrideOptions {
  readonly out?: string;
  readonly layout?: string;
  readonly force?: true;
  readonly withFile: readonly string[];
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.argument('<bundle>', 'where the contract is; see below');
  addOverrideOptions(command);
  command
    .option('--out <file>', 'write the archive to this file (default: NAME-VERSION.tgz)')
    .option('--layout <folder>', 'add the artifact, as push would send it, to an OCI image layout instead')
    .option('--force', 'in a layout, move a tag that has another content')
    .addOption(withFileOption());
  addOutputOption(command);
  const given = addRegistryOptions(command);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Packs every file of a bundle but what its .pactoignore names, once it is found valid; policies that lie elsewhere are not
fetched. The same files make the same bytes. Exits with 1, and writes nothing, where the contract has an error.

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
  const ready = await readyToShip(bundle, { ...options, fetches: false }, session, around);
  if (ready === undefined) return EXIT.no;
  const packed = packBundle(ready.files, readContract);
  const target =
    options.layout === undefined
      ? await writeArchive(ready, packed, options.out)
      : await addToLayout(options.layout, ready, packed, options.force === true);
  const files = namesOf(ready.files);
  const value = { bundle, target, digest: packed.digest, files };
  const lines = [
    `${titleOf(ready.contract)}: packed into ${target}`,
    filesText(files),
    `digest when pushed: ${packed.digest}`,
  ];
  await show(around, options.output, value, plain(lines.join('\n')));
  return EXIT.ok;
}

async function writeArchive(
  { contract }: Shippable,
  { layer }: PackedBundle,
  out: string | undefined,
): Promise<string> {
  const { name, version } = contract.service;
  const target = out ?? `${name}-${version.replaceAll(/[^\w.+-]/g, '_')}.tgz`;
  await writeFile(target, layer.bytes).catch((error: unknown) => {
    throw new GateError('GATE_INPUT_FILE', `file ${target}: cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  });
  return target;
}

/** As `push` does: a tag that has another content stays, unless that is asked for. */
async function addToLayout(
  folder: string,
  { contract }: Shippable,
  packed: PackedBundle,
  force: boolean,
): Promise<string> {
  const tag = contract.service.version;
  const before = (await isLayout(folder)) ? await digestInLayout(folder, tag) : undefined;
  if (before !== undefined && before !== packed.digest && !force) {
    throw new GateError(
      'GATE_REGISTRY_EXISTS',
      `layout ${quote(folder)} has ${quote(tag)} with another content (${before}): raise the version, or give --force`,
    );
  }
  await writeLayoutBundle(folder, packed, tag);
  return folder;
}

async function digestInLayout(folder: string, tag: string): Promise<string | undefined> {
  try {
    return (await readLayoutBundle(folder, tag, readContract)).digest;
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_REGISTRY_NOT_FOUND') return undefined;
    throw error;
  }
}
