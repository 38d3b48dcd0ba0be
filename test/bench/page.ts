/** Pieces of a page in Markdown. */

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

export function section(title: string, text: string, body: string): string {
  return `## ${title}\n\n${text === '' ? '' : `${text}\n\n`}${body}`;
}
