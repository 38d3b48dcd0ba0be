/** The configuration keys as options of a command. */
import { Option, type Command } from 'commander';
import { readAtMost } from '../bounded-file.ts';
import type { KeyRow } from '../config-keys-kinds.ts';
import { configKeys, titleOfSection } from '../config-keys.ts';
import { CONFIG_FILE_BYTES, FILE_VARIABLE, loadConfig, type Config, type FlagValue } from '../config.ts';
import { suggest } from '../config-suggest.ts';
import { readFaultOf } from './input-file.ts';
import { say, sayUsage, withoutTokens } from './output.ts';
import type { Surroundings } from './surroundings.ts';
import { addUpstreamOptions, translateUpstream } from './upstream.ts';

type Problems = readonly string[] | ((config: Config | undefined) => readonly string[]);

/** What a command line said about the configuration, once it is parsed. */
export interface GivenConfig {
  /**
   * Reads the configuration and says every problem: of the command line, and of the configuration.
   * @param problems that the command has found itself; a function for those that depend on the configuration, which is
   *   undefined where it is wrong itself.
   * @returns undefined where there was one: the exit code is then that of wrong usage.
   */
  read(around: Surroundings, command: Command, problems?: Problems): Promise<Config | undefined>;
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
    if (sections !== undefined && !sections.includes(row.section)) continue;
    const option = new Option(`${row.flag} ${placeholder(row)}`, describe(row));
    if (row.section !== '') option.helpGroup(`${titleOfSection(row.section)}:`);
    if (row.kind === 'boolean') option.preset('true');
    option.argParser((value: string) => {
      own.push({ path: row.path, value, origin: row.flag });
      return value;
    });
    command.addOption(option);
  }
  const upstream = addUpstreamOptions(command);
  // Told by `read`, together with everything else; the parser would stop at the first.
  command.allowUnknownOption().allowExcessArguments();
  return {
    async read(around, parsed, problems = []) {
      const { flags, refused } = translateUpstream(upstream);
      const loaded = await loadConfig({
        // Ours come last and win over an upstream flag that means the same.
        flags: [...flags, ...own],
        file: parsed.opts<{ config?: string }>().config,
        ...(around.env === undefined ? {} : { env: around.env }),
        readFile: readConfigFile,
      });
      const found =
        typeof problems === 'function' ? problems(loaded.ok ? loaded.config : undefined) : problems;
      const isWrong = sayUsage(around, parsed, [...strangeArguments(parsed), ...found]);
      for (const error of refused) say(around, error.message, error.code);
      if (!loaded.ok) for (const problem of loaded.problems) say(around, problem.message, problem.code);
      return loaded.ok && refused.length === 0 && !isWrong ? loaded.config : undefined;
    },
  };
}

async function readConfigFile(name: string): Promise<string> {
  try {
    return (await readAtMost(name, CONFIG_FILE_BYTES)).toString('utf8');
  } catch (error) {
    throw new Error(readFaultOf(error), { cause: error });
  }
}

/** Options that the command does not know, and arguments beyond those it takes. No value is repeated. */
function strangeArguments(command: Command): readonly string[] {
  const flags = command.options.filter((option) => !option.hidden).map((option) => option.long ?? '');
  const unknown = command.args
    .filter((argument) => /^-./.test(argument))
    .map((argument) => argument.split('=', 1)[0] ?? '');
  if (unknown.length > 0)
    // What follows an unknown option may be its value.
    return unknown.map((flag) => `unknown option '${withoutTokens(flag)}'${suggest(flag, flags)}`);
  const expected = command.registeredArguments.length;
  return command.args.length > expected
    ? [`too many arguments: expected ${String(expected)}, found ${String(command.args.length)}`]
    : [];
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
