/** Reads a page's commands and what it says they show. */
import { stripVTControlCharacters } from 'node:util';

export interface ReadmeCommand {
  readonly text: string;
  /** Lines that the page shows after the command, without those that are blank. */
  readonly shown: readonly string[];
}

/** What is below a heading of the second level; empty where there is none. */
export function sectionOf(page: string, heading: string): string {
  const [, after = ''] = page.split(`\n## ${heading}\n`);
  const [section = ''] = after.split('\n## ');
  return section;
}

/** Commands below `heading`: fenced blocks without a language; a following `text` block is what they show. */
export function commandsOf(page: string, heading: string): readonly ReadmeCommand[] {
  const section = sectionOf(page, heading);
  const commands: { text: string; shown: string[] }[] = [];
  for (const [, language = '', body = ''] of section.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const lines = body.split('\n').filter((line) => line.trim() !== '');
    if (language === 'text') commands.at(-1)?.shown.push(...lines);
    else commands.push(...lines.map((text) => ({ text, shown: [] })));
  }
  return commands;
}

type PageStep =
  | { readonly does: 'write'; readonly file: string; readonly text: string }
  | ({ readonly does: 'run' } & ReadmeCommand);

/** Files (YAML blocks that begin with their name) and commands (blocks of a shell) of a page, in its order. */
export function stepsOf(page: string): readonly PageStep[] {
  const steps: (
    { does: 'write'; file: string; text: string } | { does: 'run'; text: string; shown: string[] }
  )[] = [];
  for (const [, language = '', body = ''] of page.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const lines = body.split('\n').filter((line) => line.trim() !== '');
    if (language === 'yaml') {
      const [, file] = /^# (\S+)\n/.exec(body) ?? [];
      if (file === undefined)
        throw new Error(`a YAML block does not begin with the name of its file:\n${body}`);
      steps.push({ does: 'write', file, text: body });
    } else if (language === 'text') {
      const last = steps.at(-1);
      if (last?.does === 'run') last.shown.push(...lines);
    } else if (language === '' || language === 'sh') {
      steps.push(...lines.map((text) => ({ does: 'run' as const, text, shown: [] })));
    }
  }
  return steps;
}

/** Lines that the page shows and the output has not; `…` stands for anything within a line. */
export function missingLines(command: Pick<ReadmeCommand, 'shown'>, output: string): readonly string[] {
  const lines = stripVTControlCharacters(output).split('\n');
  return command.shown.filter((shown) => !lines.some((line) => hasInOrder(line, shown.split('…'))));
}

function hasInOrder(line: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const at = line.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
