import type { Command } from 'commander';
import type { KubeObject } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { wantedNatives } from '../install/native.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { showDocuments } from './documents.ts';
import { openNamedCluster, readNamedPolicies, sourceProblems } from './named-policies.ts';
import { addOutputOption, EXIT, say, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly fromCluster?: boolean;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.option(
    '--from-cluster',
    'reads policies of policies.sources from the cluster of the configuration',
  );
  const given = addConfigOptions(command, ['cluster', 'policies']);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Writes the policies that the configuration names, and their bindings, as ValidatingAdmissionPolicies of the API server
itself (admissionregistration.k8s.io/v1, Kubernetes 1.30 and later), with the label that the installer gives to what it
writes. Policies without a binding are left out. Their params are to be there already.

Examples:
  pacto-gate generate policies --policies-files policies.yaml | kubectl apply --server-side -f -
  pacto-gate generate policies --policies-sources customResources --from-cluster`,
  );
  command.action(async (options: Options) => {
    finish(await generate(command, given, options, around));
  });
}

const HEADER = '# Made by pacto-gate generate policies.\n';

async function generate(
  command: Command,
  given: GivenConfig,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  const { output } = options;
  const fromCluster = options.fromCluster ?? false;
  const config = await given.read(around, command, (read) =>
    read === undefined ? [] : sourceProblems(read, fromCluster),
  );
  if (config === undefined) return EXIT.usage;
  const found = await readAll(config, fromCluster, around);
  const wanted = found === undefined ? [] : [...wantedNatives(found).values()];
  const documents = wanted
    .toSorted((a, b) => byName(a.policy, b.policy))
    .flatMap(({ policy, bindings }) => [[policy], bindings.toSorted(byName)].flat());
  if (documents.length === 0) {
    say(
      around,
      found === undefined
        ? 'the configuration names no policies: give policies.files, policies.directory or policies.sources'
        : 'no policy has a binding: there is nothing to write',
    );
    return EXIT.usage;
  }
  await showDocuments(around, output, documents, HEADER);
  return EXIT.ok;
}

function byName({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

async function readAll(
  config: Config,
  fromCluster: boolean,
  around: Surroundings,
): Promise<SourcedPolicies | undefined> {
  const cluster = fromCluster ? await openNamedCluster(config, around) : undefined;
  try {
    return await readNamedPolicies(config, cluster, around);
  } finally {
    await cluster?.close();
  }
}
