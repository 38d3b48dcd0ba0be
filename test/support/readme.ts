/** Reads a page's commands and what it says they show. */
import { stripVTControlCharacters } from 'node:util';

export interface ReadmeCommand {
  readonly text: string;
  /** Lines that the page shows after the command, without those that are blank. */
  readonly shown: readonly string[];
}

/** Commands below `heading`: fenced blocks without a language; a following `text` block is what they show. */
export function commandsOf(page: string, heading: string): readonly ReadmeCommand[] {
  const [, after = ''] = page.split(`\n## ${heading}\n`);
  const [section = ''] = after.split('\n## ');
  const commands: { text: string; shown: string[] }[] = [];
  for (const [, language = '', body = ''] of section.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const lines = body.split('\n').filter((line) => line.trim() !== '');
    if (language === 'text') commands.at(-1)?.shown.push(...lines);
    else commands.push(...lines.map((text) => ({ text, shown: [] })));
  }
  return commands;
}

/** Lines that the page shows and the output has not. */
export function missingLines(command: ReadmeCommand, output: string): readonly string[] {
  const plain = stripVTControlCharacters(output);
  return command.shown.filter((line) => !plain.includes(line));
}
