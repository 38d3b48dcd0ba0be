/** The command tree. Only the command that is called is loaded: a server must start fast (design §6). */
import { Command, CommanderError, type Option } from 'commander';
import { EXIT, plain, sayError, withoutTokens, type ExitCode } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/** What a command file exports. */
export interface CommandFile {
  /**
   * Adds options, help and action to `command`.
   * @param finish takes the exit code of the action.
   */
  define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void | Promise<void>;
}

interface Entry {
  readonly path: readonly [string, ...string[]];
  readonly summary: string;
  readonly load: () => Promise<CommandFile>;
}

const GROUPS: Readonly<Record<string, string>> = {
  certs: 'certificates for the listener',
  contract: 'show, pack and publish contracts',
  doctor: 'find out why something does not work',
  gate: 'ask the delivery gate',
  generate: 'write manifests',
};

const COMMANDS: readonly Entry[] = [
  {
    path: ['serve'],
    summary: 'answer admission requests over HTTPS, and keep verdicts',
    load: () => import('./serve.ts'),
  },
  {
    path: ['review'],
    summary: 'decide an AdmissionReview or manifests from a file, without a server',
    load: () => import('./review.ts'),
  },
  {
    path: ['test'],
    summary: 'run test suites of policies, without a cluster',
    load: () => import('./test.ts'),
  },
  {
    path: ['lint'],
    summary: 'say what an API server would say to whoever writes these policies',
    load: () => import('./lint.ts'),
  },
  {
    path: ['validate'],
    summary: 'check a contract, its files and the policies that it names, without a cluster',
    load: () => import('./validate.ts'),
  },
  {
    path: ['verdict'],
    summary: 'say whether a service keeps its contract: from evidence in a file, or of a Pacto in a cluster',
    load: () => import('./verdict.ts'),
  },
  {
    path: ['reconcile'],
    summary: 'look at Pactos of a cluster once, write what came of it, and end',
    load: () => import('./reconcile.ts'),
  },
  {
    path: ['contract', 'show'],
    summary: 'show what a contract says',
    load: () => import('./contract-show.ts'),
  },
  {
    path: ['contract', 'pack'],
    summary: 'pack a bundle into an archive or an OCI image layout',
    load: () => import('./contract-pack.ts'),
  },
  {
    path: ['contract', 'push'],
    summary: 'validate a bundle and push it to a registry',
    load: () => import('./contract-push.ts'),
  },
  {
    path: ['explain'],
    summary: 'say what a code means and what to do about it',
    load: () => import('./explain.ts'),
  },
  {
    path: ['uninstall'],
    summary: 'empty the webhook configurations before the servers go',
    load: () => import('./uninstall.ts'),
  },
  {
    path: ['certs', 'issue'],
    summary: 'issue a certificate below a CA of your own',
    load: () => import('./certs-issue.ts'),
  },
  {
    path: ['certs', 'inspect'],
    summary: 'say what certificates hold and whether they serve',
    load: () => import('./certs-inspect.ts'),
  },
  {
    path: ['doctor', 'token'],
    summary: 'say whether a ServiceAccount token names its node, and if not, why',
    load: () => import('./doctor-token.ts'),
  },
  {
    path: ['gate', 'check'],
    summary: 'say whether the gate of a Stage lets a release through',
    load: () => import('./gate-check.ts'),
  },
  {
    path: ['gate', 'explain'],
    summary: 'say why the gate of a Stage decides as it does',
    load: () => import('./gate-explain.ts'),
  },
  {
    path: ['generate', 'webhooks'],
    summary: 'write the ValidatingWebhookConfigurations',
    load: () => import('./generate-webhooks.ts'),
  },
  {
    path: ['generate', 'policies'],
    summary: 'write policies for an API server that enforces them itself',
    load: () => import('./generate-policies.ts'),
  },
  {
    path: ['generate', 'rbac'],
    summary: 'write the roles that the server needs, and no more',
    load: () => import('./generate-rbac.ts'),
  },
  {
    path: ['preflight'],
    summary: 'say whether the live entries are right, and whether the cluster would recover without the gate',
    load: () => import('./preflight.ts'),
  },
  {
    path: ['version'],
    summary: 'print the version',
    load: () => import('./version.ts'),
  },
];

/**
 * Runs one command line.
 * @param argv without the program and the script.
 * @returns the exit code; never throws.
 */
export async function run(argv: readonly string[], around: Surroundings): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const args =
    argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv[0] === '--version' ? ['version'] : argv;
  try {
    const program = await build(args, around, (result) => {
      code = result;
    });
    if (args.length === 0) {
      around.stderr.write(program.helpInformation());
      return EXIT.usage;
    }
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return sayError(around, error);
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

async function build(
  argv: readonly string[],
  around: Surroundings,
  finish: (code: ExitCode) => void,
): Promise<Command> {
  const program = new Command('pacto-gate')
    .description('Admission webhooks for Kubernetes: node identity, policies and delivery gates.')
    .usage('COMMAND [OPTIONS]')
    .helpOption('-h, --help', 'show help')
    .option('--version', 'print the version, as the command of this name')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({
      writeOut: (text) => around.stdout.write(text),
      writeErr: (text) => around.stderr.write(text),
      outputError: (text, write) => write(plain(withoutTokens(text)).replace(/^error: /, 'pacto-gate: ')),
    })
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
  const groups = new Map<string, Command>();
  for (const { path, summary, load } of COMMANDS) {
    const [first, second] = path;
    let parent = program;
    if (second !== undefined) {
      parent = groups.get(first) ?? groupOf(program, first);
      groups.set(first, parent);
    }
    const command = parent.command(second ?? first).description(summary);
    if (!path.every((part, index) => argv[index] === part)) continue;
    command.showHelpAfterError(`see: pacto-gate ${path.join(' ')} --help`);
    await (await load()).define(command, around, finish);
    command.addHelpText('after', `\n${EXIT_CODES_HELP}`);
  }
  return program;
}

function groupOf(program: Command, name: string): Command {
  return program
    .command(name)
    .description(GROUPS[name] ?? '')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
}

/** Text, choices and default; not what the parser does with an option that stands alone. */
function describeOption(option: Option): string {
  const { description, argChoices, defaultValue } = option;
  const choices = argChoices === undefined ? '' : ` (one of ${argChoices.join(', ')})`;
  const shown = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  return `${description}${choices}${shown ? ` (default: ${String(defaultValue)})` : ''}`;
}

const EXIT_CODES_HELP = 'Exit codes: 0 ok, 1 the answer is no, 2 usage or input, 3 could not find out\n';
