import { InvalidArgumentError, type Command } from 'commander';
import type { Account } from '../app/rights.ts';
import { rbacObjects } from '../app/role-objects.ts';
import { addConfigOptions } from './config-options.ts';
import { addOutputOption, EXIT, say, show, toYaml, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

interface Options {
  readonly serviceAccount?: Account;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command.option(
    '--service-account <namespace/name>',
    'ServiceAccount that the server runs under (required)',
    parseAccount,
  );
  const given = addConfigOptions(command);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Writes the roles and bindings that the server needs under the given configuration, and no more. --roles webhooks: reads
of what it looks up, and the reviews by which callers prove themselves; there is no write among them. --roles reconciler:
reads of what verdicts depend on; it writes the status of Pactos, their revisions, events about them, and one Lease. With
both, the default, one account has the rights of both. --roles installer, for a ServiceAccount of its own: it writes
webhook entries, native policies, the status of policies, and one Lease. Generate them anew when the configuration
changes; the namespaces that are named in it must exist when they are applied.

Examples:
  pacto-gate generate rbac --service-account pacto-system/pacto-gate --roles webhooks | kubectl apply -f -
  pacto-gate generate rbac --service-account pacto-system/pacto-gate-reconciler --roles reconciler
  pacto-gate generate rbac --service-account pacto-system/pacto-gate | kubectl apply -f -
  pacto-gate generate rbac --service-account pacto-system/pacto-gate --config gate.yaml
  pacto-gate generate rbac --service-account pacto-system/pacto-gate-installer --roles installer --config gate.yaml`,
  );
  command.action(async (options: Options) => {
    const { serviceAccount } = options;
    const problems = serviceAccount === undefined ? ['need --service-account'] : [];
    const config = await given.read(around, command, problems);
    if (config === undefined || serviceAccount === undefined) {
      finish(EXIT.usage);
      return;
    }
    const objects = rbacObjects(config, serviceAccount);
    if (objects.length === 0)
      say(around, 'this configuration asks nothing of the API server: no role is needed');
    const documents = await Promise.all(objects.map((object) => toYaml(object)));
    await show(
      around,
      options.output,
      objects,
      `${HEADER}${documents.map((text) => text.trimEnd()).join('\n---\n')}`,
    );
    finish(EXIT.ok);
  });
}

const HEADER = '# Made by pacto-gate generate rbac.\n';

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
/** A namespace is a label, a ServiceAccount a DNS subdomain (RFC 1123). */
const ACCOUNT = new RegExp(`^(${LABEL})/(?=.{1,253}$)(${LABEL}(?:\\.${LABEL})*)$`);

function parseAccount(text: string): Account {
  const [, namespace, name] = ACCOUNT.exec(text) ?? [];
  if (namespace === undefined || name === undefined) throw new InvalidArgumentError('need namespace/name');
  return { namespace, name };
}
