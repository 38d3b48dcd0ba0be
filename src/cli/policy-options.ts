/** `--policies`, `--params` and `--namespaces`: policies that are decided as by an API server that has them. */
import { InvalidArgumentError, type Command, type Option } from 'commander';
import { repeated } from './repeated-option.ts';

export interface PolicyOptions {
  readonly policies: readonly string[];
  readonly params: readonly string[];
  readonly namespaces: readonly string[];
}

export function addPolicyOptions(command: Command): void {
  const option = (flags: string, text: string): Option =>
    repeated(flags, text).helpGroup('Policies of the API server:');
  command
    .addOption(
      option(
        '--policies <file>',
        'a file or directory with ValidatingAdmissionPolicies and their bindings, repeated; decided as by an API server that has them',
      ),
    )
    .addOption(option('--params <file>', 'a file or directory with parameters of policies, repeated'))
    .addOption(
      option(
        '--namespaces <file>',
        'a file or directory with Namespaces, repeated; if none are given and there is no cluster, each is taken to have no label but its name',
      ),
    );
}

/** The release of a `--kube-version` that policies are evaluated as. */
export function parsePolicyVersion(text: string): string {
  const [, version] = /^v?(1\.(?:2[6-9]|3[0-7]))(?:[.+-].*)?$/.exec(text) ?? [];
  if (version === undefined) throw new InvalidArgumentError('need a version from 1.26 to 1.37');
  return version;
}
