import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { InstallerApp } from '../app/installer.ts';
import type { AppParts } from '../app/parts.ts';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import {
  addOutputOption,
  EXIT,
  plain,
  say,
  show,
  table,
  type ExitCode,
  type OutputFormat,
} from './output.ts';
import type { Surroundings } from './surroundings.ts';

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  const given = addConfigOptions(command);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Serves until SIGTERM, SIGINT or SIGHUP, then goes on for webhooks.drainSeconds so that no request is lost; a second
signal ends it at once. Every key is described in docs/configuration.md; the log goes to standard output.

With --output json it says what it serves (urls, cluster, webhooks, caBundle) in one line among the lines of the log,
which are JSON as well and, other than this one, have a level.

Examples:
  pacto-gate serve --cluster-directory examples/cluster
  pacto-gate serve --config gate.yaml --tls-cert-file tls.crt --tls-key-file tls.key
  PACTO_GATE_IDENTITY_AGENTS=agents/agent pacto-gate serve`,
  );
  command.action(async (options: { output: OutputFormat }) => {
    finish(await serve(command, given, options.output, around));
  });
}

async function serve(
  command: Command,
  given: GivenConfig,
  output: OutputFormat,
  around: Surroundings,
): Promise<ExitCode> {
  const config = await given.read(around, command);
  if (config === undefined) return EXIT.usage;
  const { unusedUpstream } = config.environment;
  if (unusedUpstream.length > 0)
    say(
      around,
      `environment ${unusedUpstream.join(', ')}: not used: pacto-gate installs nothing that another object could own`,
    );

  // Both at once: they are the two halves of what a server needs.
  const [start, { createLog }] = await Promise.all([starterOf(config), import('../log.ts')]);
  const log = createLog({ level: config.log.level, format: config.log.format });
  const signals = watchSignals(around);
  let hold: NodeJS.Timeout | undefined;
  try {
    const app = await start(config, { clock: around.clock, log });
    await announce(config, app, output, around);
    const signal = await signals.next();
    log.info('stopping', { signal });
    // Nobody else sends this one: somebody sits at a terminal and waits.
    if (signal === 'SIGINT' && 'webhooks' in app && config.webhooks.drainSeconds > 0)
      say(
        around,
        `serving on for ${String(config.webhooks.drainSeconds)} s so that no request is lost. Ctrl-C again ends it at once`,
      );
    // Closing waits on timers, which do not keep the process alive (clock.ts), while all that does is being closed.
    hold = setInterval(() => undefined, HOLD_MS);
    // Whoever sends a second signal does not want to wait for the requests under way.
    const second = await Promise.race([app.stop(), signals.next()]);
    log.info('stopped', { signal: second ?? signal });
    return EXIT.ok;
  } finally {
    clearInterval(hold);
    signals.stop();
    await log.flush();
  }
}

/** What serves the webhooks, or what writes for them: each is loaded where it is asked for alone. */
async function starterOf({ roles }: Config): Promise<(config: Config, parts: AppParts) => Promise<Started>> {
  if (!roles.includes('installer')) return (await import('../app.ts')).startApp;
  return (await import('../app/installer.ts')).startInstallerApp;
}

type Started = App | InstallerApp;

/** Anything: an interval is there only to be referenced. */
const HOLD_MS = 1_000;

/** Signals one after the other; one that arrives while the server still starts is not lost. */
function watchSignals(around: Surroundings): { next(): Promise<string>; stop(): void } {
  const arrived: string[] = [];
  const waiting: ((signal: string) => void)[] = [];
  const stop = around.onSignal((signal) => {
    const first = waiting.shift();
    if (first === undefined) arrived.push(signal);
    else first(signal);
  });
  return {
    next() {
      const early = arrived.shift();
      if (early !== undefined) return Promise.resolve(early);
      return new Promise((resolve) => waiting.push(resolve));
    },
    stop,
  };
}

/**
 * Says what is served. For people on standard error, where it does not get between the lines of the log, and not in
 * a Pod, where the log says the same and nobody looks at a terminal.
 */
async function announce(
  config: Config,
  app: Started,
  output: OutputFormat,
  around: Surroundings,
): Promise<void> {
  const facts = {
    urls: app.urls,
    cluster: clusterOf(config),
    ...('webhooks' in app ? servedFacts(app) : {}),
  };
  // One line like those of the log around it, which have a level and a message, so that each line can be parsed alone.
  if (output === 'json') around.stdout.write(`${JSON.stringify(facts)}\n`);
  else if (output === 'yaml') await show(around, output, facts, '');
  else if (config.environment.apiServer === undefined)
    around.stderr.write(`${plain('webhooks' in app ? banner(config, app) : installerBanner(config, app))}\n`);
}

const CALLERS: Readonly<Record<Config['webhooks']['auth'], (webhooks: Config['webhooks']) => string>> = {
  none: () => 'anybody who can reach it',
  clientCA: ({ clientCAFile = '' }) => `with a client certificate below ${clientCAFile}`,
  bearer: ({ bearer }) => `with the token of ${bearer.usernames.join(' or ')}`,
};

function clusterOf({ cluster }: Config): string {
  if (cluster.source === 'directory') return `the files in ${String(cluster.directory)}`;
  if (cluster.source === 'kubeconfig') return `kubeconfig ${cluster.kubeconfigFiles.join(', ')}`;
  return cluster.source === 'none' ? 'none: what needs a look-up fails' : 'the one this Pod runs in';
}

function servedFacts({ webhooks, caBundle }: App): object {
  return {
    webhooks,
    ...(caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') }),
  };
}

function installerBanner(config: Config, { urls }: InstallerApp): string {
  const { enforcement } = config.policies;
  const rows = [
    ['pacto-gate installs', `webhook entries and policies (policies.enforcement ${enforcement})`],
    ['probes', `${urls.probes}/readyz`],
    ...(urls.metrics === undefined ? [] : [['metrics', `${urls.metrics}/metrics`]]),
    ['cluster', clusterOf(config)],
  ];
  return `\n${table(rows)}\n`;
}

function banner(config: Config, app: App): string {
  const { urls } = app;
  const rows = [
    ['pacto-gate serves', urls.admission ?? 'no reviews: see roles'],
    ['probes', `${urls.probes}/readyz`],
    ...(urls.metrics === undefined
      ? []
      : [['metrics', `${urls.metrics}/metrics${config.metrics.plain ? '' : ', to callers with a token'}`]]),
    ...(urls.api === undefined ? [] : [['api', `${urls.api}/v1, to callers with a token`]]),
    ['cluster', clusterOf(config)],
    ...(keepsVerdicts(config)
      ? [['verdicts', 'of every Pacto: in its status, the log and the metrics']]
      : []),
    ...(urls.admission === undefined ? [] : admissionRows(config, app)),
    ...trust(config, app),
  ];
  return `\n${table(rows)}\n`;
}

function admissionRows(config: Config, { webhooks }: App): string[][] {
  const width = Math.max(0, ...webhooks.map(({ name }) => name.length));
  return [
    ...webhooks.map(({ name, path }, index) => [
      index === 0 ? 'enforced' : '',
      `${name.padEnd(width)}  ${path}`,
    ]),
    ...(webhooks.length === 0 ? [['enforced', 'nothing: see identity.enabled']] : []),
    ['callers', CALLERS[config.webhooks.auth](config.webhooks)],
  ];
}

/** What a caller must show; for curl. */
const SHOWN_BY_CALLER: Readonly<Record<Config['webhooks']['auth'], string>> = {
  none: '',
  clientCA: '--cert client.crt --key client.key ',
  bearer: `-H "Authorization: Bearer $(cat token)" `,
};

/** Without a cluster there is no Pacto. */
function keepsVerdicts({ roles, cluster }: Config): boolean {
  return roles.includes('reconciler') && cluster.source !== 'none';
}

/** How a caller trusts a self-issued certificate, and one line to try it with. */
function trust(config: Config, app: App): string[][] {
  const file = config.tls.caOutFile;
  if (config.tls.certFile !== undefined || app.caBundle === undefined) return [];
  if (file === undefined)
    return [['certificate', 'self-issued, new at each start: set tls.caOutFile to get its CA as a file']];
  const issued = ['certificate', `self-issued below the CA in ${file}`];
  if (app.urls.admission === undefined) return [issued];
  const example = join('examples', 'reviews', '02-foreign-lease-renewed.json');
  const path = app.webhooks[0]?.path ?? '';
  const review = existsSync(example) ? example : 'review.json';
  return [
    issued,
    [
      'try',
      `curl --cacert ${file} ${SHOWN_BY_CALLER[config.webhooks.auth]}-H 'Content-Type: application/json' -d @${review} ${app.urls.admission}${path}`,
    ],
  ];
}
