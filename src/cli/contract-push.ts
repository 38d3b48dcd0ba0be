import type { Command } from 'commander';
import { readContract } from '../app/contract-reader.ts';
import { GateError, quote } from '../errors.ts';
import type { Contract } from '../policies/contract/contract.ts';
import { parseReference } from '../policies/contract/reference.ts';
import { pushBundle } from '../registry/push.ts';
import {
  addOverrideOptions,
  addRegistryOptions,
  BUNDLE_HELP,
  withFileOption,
  type OverrideOptions,
} from './contract-options.ts';
import { withContracts, type ContractSession } from './contract-session.ts';
import { referencesOf } from './reference-warnings.ts';
import { filesText, namesOf, readyToShip } from './shipping.ts';
import { addOutputOption, EXIT, plain, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends OverrideOptions {
  readonly force?: true;
  readonly withFile: readonly string[];
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument('<bundle>', 'where the contract is; see below')
    .argument('<reference>', 'oci://HOST/REPOSITORY[:TAG]; without a tag the version of the contract');
  addOverrideOptions(command);
  command.option('--force', 'move a tag that has another content').addOption(withFileOption());
  addOutputOption(command);
  const given = addRegistryOptions(command);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Validates a bundle with all policies that it refers to, and pushes it. A reference to a path of this machine is refused, and
so is a tag that has another content; the same content again is fine, and nothing is sent. Prints the reference and the digest.
Exits with 1 where the contract has an error.

Examples:
  pacto-gate contract push . oci://registry.example/shop/cart
  pacto-gate contract push . oci://registry.example/shop/cart:edge --force`,
  );
  command.action(async (bundle: string, reference: string, options: Options) => {
    const config = await given.read(around, command);
    finish(
      config === undefined
        ? EXIT.usage
        : await withContracts(config, around, (session) =>
            runPush(bundle, reference, options, session, around),
          ),
    );
  });
}

async function runPush(
  bundle: string,
  reference: string,
  options: Options,
  session: ContractSession,
  around: Surroundings,
): Promise<ExitCode> {
  const ready = await readyToShip(bundle, { ...options, fetches: true }, session, around);
  if (ready === undefined) return EXIT.no;
  const local = localReferences(ready.contract);
  if (local.length > 0) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `${bundle}: ${local.join(', ')}: a path of this machine means nothing elsewhere: push what it names, and refer to that by oci://`,
    );
  }
  const { client } = await session.registries();
  const { digest, ref, isNew } = await pushBundle(client, reference, ready.files, {
    readContract,
    force: options.force === true,
  });
  const files = namesOf(ready.files);
  const value = {
    bundle,
    reference: `oci://${ref}`,
    digest,
    pushed: isNew,
    files,
  };
  const text = isNew ? `pushed oci://${ref}` : `oci://${ref} has this content already`;
  await show(around, options.output, value, plain(`${text}\n${filesText(files)}\ndigest ${digest}`));
  return EXIT.ok;
}

/** Where the contract refers to other contracts by paths of this machine (contract.md §12.1). */
function localReferences(contract: Contract): readonly string[] {
  return referencesOf(contract)
    .filter(({ ref }) => parseReference(ref).scheme !== 'oci')
    .map(({ ref, path }) => `${path} ${quote(ref)}`);
}
