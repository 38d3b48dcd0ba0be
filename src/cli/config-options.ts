/** The configuration keys as options of a command. */
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { configKeys, type KeyRow } from '../config-keys.ts';
import { FILE_VARIABLE, loadConfig, type Config, type FlagValue } from '../config.ts';
import { say } from './output.ts';
import type { Surroundings } from './surroundings.ts';
import { addUpstreamOptions, translateUpstream } from './upstream.ts';

const HEADINGS: Readonly<Record<string, string>> = {
  cluster: 'Cluster:',
  webhooks: 'Admission listener:',
  tls: 'Certificate:',
  metrics: 'Metrics:',
  health: 'Probes:',
  log: 'Log:',
  identity: 'Node identity:',
};

/** What a command line said about the configuration, once it is parsed. */
export interface GivenConfig {
  /**
   * Reads the configuration and says every problem.
   * @returns undefined where there was one: the exit code is then that of wrong usage.
   */
  read(around: Surroundings, command: Command): Promise<Config | undefined>;
}

/**
 * Adds `--config`, the keys of `sections` (first part of a key's path) and the upstream flags.
 * @param sections undefined: all keys.
 */
export function addConfigOptions(command: Command, sections?: readonly string[]): GivenConfig {
  const own: FlagValue[] = [];
  command.addOption(
    new Option('-c, --config <file>', `configuration file, YAML or JSON (env: ${FILE_VARIABLE})`),
  );
  for (const row of configKeys()) {
    const section = row.path.split('.')[0] ?? '';
    if (sections !== undefined && !sections.includes(section)) continue;
    const option = new Option(`${row.flag} ${placeholder(row)}`, describe(row));
    const heading = HEADINGS[section];
    if (heading !== undefined) option.helpGroup(heading);
    if (row.kind === 'boolean') option.preset('true');
    option.argParser((value: string) => {
      own.push({ path: row.path, value, origin: row.flag });
      return value;
    });
    command.addOption(option);
  }
  const upstream = addUpstreamOptions(command);
  return {
    async read(around, parsed) {
      const { flags, refused } = translateUpstream(upstream);
      const loaded = await loadConfig({
        // Ours come last and win over an upstream flag that means the same.
        flags: [...flags, ...own],
        file: parsed.opts<{ config?: string }>().config,
        ...(around.env === undefined ? {} : { env: around.env }),
        readFile: (name) => readFile(name, 'utf8'),
      });
      for (const error of refused) say(around, error.message, error.code);
      if (!loaded.ok) for (const problem of loaded.problems) say(around, problem.message, problem.code);
      return loaded.ok && refused.length === 0 ? loaded.config : undefined;
    },
  };
}

function placeholder(row: KeyRow): string {
  switch (row.kind) {
    case 'boolean':
      return '[boolean]';
    case 'number':
      return '<number>';
    case 'list':
      return '<list>';
    default:
      return '<value>';
  }
}

function describe(row: KeyRow): string {
  const choices = row.kind === 'choice' ? ` One of ${row.need}.` : '';
  const fallback = row.fallback === undefined ? '' : String(row.fallback);
  const shown = fallback === '' ? '' : ` (default: ${fallback})`;
  return `${row.text}${choices}${shown}`;
}
