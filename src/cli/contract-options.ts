/** Options that commands about one contract share. */
import { InvalidArgumentError, type Command, type Option } from 'commander';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { repeated } from './repeated-option.ts';

export interface OverrideOptions {
  readonly values: readonly string[];
  readonly set: readonly string[];
}

/** `--values` and `--set`, as the Pacto CLI has them (contract.md §16.1). */
export function addOverrideOptions(command: Command): void {
  command
    .addOption(
      repeated('-f, --values <file>', 'merge this YAML file over the contract; repeated, later ones win'),
    )
    .addOption(
      repeated(
        '--set <path=value>',
        'set one value, such as service.version=1.4.1, after the files; repeated',
      ),
    );
}

/** The keys of the section `registry`, with `--config`. */
export function addRegistryOptions(command: Command): GivenConfig {
  return addConfigOptions(command, ['registry']);
}

/** For what is packed or pushed: a file that looks like a secret and is none. */
export function withFileOption(): Option {
  return repeated(
    '--with-file <path>',
    'let a file of the bundle go along that looks like a secret; repeated',
  );
}

/** What every command about a bundle says of its argument. */
export const BUNDLE_HELP = `BUNDLE is one of:
  a folder with a pacto.yaml        what it refers to is looked up below the folder
  a pacto.yaml                      the same, for the folder it is in
  another YAML file, or -           a contract alone: what needs other files is not checked
  a .tgz or .tar                    a packed bundle
  a folder with an oci-layout       an OCI image layout; :TAG behind it where it holds several
  oci://HOST/REPOSITORY[:TAG|@DIGEST]   from a registry; without a tag the highest version`;

/** Date and time with an offset, as RFC 3339 has it. */
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

export function parseInstant(text: string): Date {
  const instant = new Date(text);
  if (!INSTANT.test(text) || Number.isNaN(instant.getTime())) {
    throw new InvalidArgumentError('need a time such as 2027-01-31T12:00:00Z');
  }
  return instant;
}
