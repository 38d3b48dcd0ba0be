import type { Command } from 'commander';
import type { Contract } from '../policies/contract/contract.ts';
import { assertionKey } from '../policies/contract/contract.ts';
import { assessReadiness } from '../policies/contract/readiness.ts';
import {
  addOverrideOptions,
  addRegistryOptions,
  BUNDLE_HELP,
  parseInstant,
  type OverrideOptions,
} from './contract-options.ts';
import { titleOf, withContracts, type ContractSession } from './contract-session.ts';
import { linesOf, parseError } from './contract-findings.ts';
import { addOutputOption, EXIT, plain, show, table, type ExitCode, type OutputFormat } from './output.ts';
import { namesOf } from './shipping.ts';
import type { Surroundings } from './surroundings.ts';
import { readinessText } from './verdict.ts';

interface Options extends OverrideOptions {
  readonly now?: Date;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.argument('<bundle>', 'where the contract is; see below');
  addOverrideOptions(command);
  command.option(
    '--now <time>',
    'the instant that readiness is assessed for, RFC 3339 (default: now)',
    parseInstant,
  );
  addOutputOption(command);
  const given = addRegistryOptions(command);
  command.addHelpText(
    'after',
    `
${BUNDLE_HELP}

Shows what a contract says, as it loads: nothing is validated. Exits with 1 where it does not load.

Examples:
  pacto-gate contract show examples/contracts/cart
  pacto-gate contract show oci://registry.example/shop/cart --output yaml`,
  );
  command.action(async (bundle: string, options: Options) => {
    const config = await given.read(around, command);
    finish(
      config === undefined
        ? EXIT.usage
        : await withContracts(config, around, (session) => runShow(bundle, options, session, around)),
    );
  });
}

async function runShow(
  bundle: string,
  options: Options,
  session: ContractSession,
  around: Surroundings,
): Promise<ExitCode> {
  const read = await session.read(bundle, options);
  if (!read.ok) {
    const said = parseError(read);
    await show(around, options.output, { bundle, errors: [said] }, linesOf([said]).join('\n'));
    return EXIT.no;
  }
  const { contract, files, given } = read;
  const readiness = assessReadiness(contract.readiness, options.now ?? new Date(around.clock.now()));
  const value = {
    bundle,
    ...(given.reference !== undefined && { reference: given.reference }),
    ...(given.digest !== undefined && { digest: given.digest }),
    contract,
    ...(files !== undefined && {
      files: [...files].map(([path, { length }]) => ({ path, sizeBytes: length })),
    }),
    ...(readiness !== undefined && { readiness }),
  };
  const rows = [
    ...(given.reference === undefined ? [] : [['reference', given.reference]]),
    ...(given.digest === undefined ? [] : [['digest', given.digest]]),
    ...rowsOf(contract),
    ...(readiness === undefined ? [] : [['readiness', readinessText(readiness)]]),
    ...(files === undefined ? [] : [['files', namesOf(files).join(', ')]]),
  ];
  await show(around, options.output, value, plain(`${titleOf(contract)}\n${table(rows)}`));
  return EXIT.ok;
}

/** One row for each thing that it says; a list has its name in its first row. */
function rowsOf(contract: Contract): readonly Row[] {
  const { owner } = contract.service;
  const { state } = contract;
  return [
    ...(owner === undefined ? [] : [row('owner', [owner.team, owner.dri].filter(Boolean).join(', '))]),
    ...listed('interfaces', contract.interfaces, ({ name, type, ref, visibility }) =>
      detailed(name, type, visibility ?? 'internal', ref),
    ),
    ...listed('capabilities', contract.capabilities, (capability) => {
      const { binding } = capability;
      const at =
        binding === undefined ? [] : [`${binding.type} at ${binding.interface}${binding.path ?? ''}`];
      return detailed(assertionKey(capability), ...at);
    }),
    ...listed('configurations', contract.configurations, ({ name, required, schema, ref }) =>
      detailed(name, need(required), schema ?? ref ?? ''),
    ),
    ...listed('dependencies', contract.dependencies, ({ name, required, ref, compatibility }) =>
      detailed(name, need(required), compatibility, ref),
    ),
    ...listed('policies', contract.policies, ({ name, schema, ref }) => detailed(name, schema ?? ref ?? '')),
    ...(contract.workload === undefined ? [] : [row('workload', contract.workload)]),
    ...(state === undefined ? [] : [row('state', stateText(state))]),
  ];
}

type Row = readonly [title: string, text: string];

function row(title: string, text: string): Row {
  return [title, text];
}

function listed<T>(title: string, items: readonly T[], textOf: (item: T) => string): readonly Row[] {
  return items.map((item, index) => row(index === 0 ? title : '', textOf(item)));
}

/** `web (openapi, internal, interfaces/web.yaml)`. */
function detailed(name: string, ...details: readonly string[]): string {
  return details.length === 0 ? name : `${name} (${details.join(', ')})`;
}

function stateText({ type, persistence, dataCriticality }: NonNullable<Contract['state']>): string {
  return `${type}, ${persistence.scope} and ${persistence.durability}, ${dataCriticality} criticality`;
}

function need(required: boolean): string {
  return required ? 'required' : 'optional';
}
