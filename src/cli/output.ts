/** How commands speak: the result on standard output, everything else on standard error, and the exit codes. */
import { Option, type Command } from 'commander';
import { GateError, inEscapes, messageOf, type ErrorCode } from '../errors.ts';
import type { Surroundings } from './surroundings.ts';

/** What a command says by its exit code alone. */
export const EXIT = {
  ok: 0,
  /** The question was understood, and the answer is no. */
  no: 1,
  /** Wrong usage or input: repeating the same call changes nothing. */
  usage: 2,
  /** It could not be found out. */
  unknown: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export type OutputFormat = 'text' | 'json' | 'yaml';

/** Adds `--output`, which every command has. */
export function addOutputOption(command: Command): void {
  command.addOption(
    new Option('-o, --output <format>', 'how the result is written')
      .choices(['text', 'json', 'yaml'])
      .default('text'),
  );
}

/**
 * Writes the result of a command.
 * @param value what `json` and `yaml` show.
 * @param text what a person reads.
 */
export async function show(
  around: Pick<Surroundings, 'stdout'>,
  format: OutputFormat,
  value: unknown,
  text: string,
): Promise<void> {
  if (format === 'json') around.stdout.write(`${JSON.stringify(value, exactly, 2)}\n`);
  else if (format === 'yaml') around.stdout.write(await toYaml(value));
  else if (text !== '') around.stdout.write(`${text}\n`);
}

/** Integers beyond 2^53 as the digits that they have. */
function exactly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(value)) : value;
}

/** ECMAScript's proposal of JSON.parse source text access, which Node has since 22. */
interface RawJson {
  rawJSON(text: string): unknown;
}

/**
 * YAML as the `kubectl` user expects it: no anchors, no folded lines, the same bytes for the same value. What kubectl's
 * older YAML takes for something else, such as the text `no`, is in quotes.
 */
export async function toYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' });
}

/** One message: `pacto-gate: <where>: <what>. <next step> [CODE]`. */
export function say(around: Pick<Surroundings, 'stderr'>, message: string, code?: ErrorCode): void {
  around.stderr.write(`pacto-gate: ${plain(message)}${code === undefined ? '' : ` [${code}]`}\n`);
}

/**
 * Wrong usage, all of it at once and then where help is.
 * @returns whether there was any.
 */
export function sayUsage(
  around: Pick<Surroundings, 'stderr'>,
  command: Command,
  problems: readonly string[],
): boolean {
  for (const problem of problems) say(around, problem);
  if (problems.length > 0) around.stderr.write(`see: ${pathOf(command)} --help\n`);
  return problems.length > 0;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Says what was thrown, and which exit code that is. A fault of our own comes with its stack. */
export function sayError(around: Pick<Surroundings, 'stderr'>, error: unknown): ExitCode {
  if (error instanceof GateError) {
    // Which kubeconfig: for whoever has it before them, and not in a message that may reach somebody else's kubectl.
    const { origin } = error.fields;
    say(around, origin === undefined ? error.message : `${error.message} (by ${String(origin)})`, error.code);
    return error.disposition === 'input' || error.disposition === 'configuration' ? EXIT.usage : EXIT.unknown;
  }
  // The system's own words say which file or address it is about: `listen EADDRINUSE: address already in use …`.
  if (error instanceof Error && 'syscall' in error) {
    say(around, error.message);
    return EXIT.unknown;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
  say(around, `internal fault, please report it: ${stack}`, 'GATE_INTERNAL');
  return EXIT.unknown;
}

/** A wrong command line is repeated in the error, and one that is wrong may hold a token all the same. */
export function withoutTokens(text: string): string {
  return text.replace(/eyJ[\w.-]{8,}/g, '(token)');
}

/** Columns side by side, two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * Text that somebody else wrote, for a terminal: control and direction-changing characters become visible escapes,
 * so that it can neither move the cursor nor reorder the line. Line breaks stay.
 */
export function plain(text: string): string {
  return text.replace(
    // C0 without line feed, C1, and what nobody sees or what turns the line: Unicode's marks of
    // direction (UAX #9), separators, annotations and Default_Ignorable_Code_Point (UAX #44), among them tags.
    // oxlint-disable-next-line no-control-regex -- these characters are the subject
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{DI}]/gu,
    inEscapes,
  );
}
