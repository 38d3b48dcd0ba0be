/** The cases that are known to fail, as docs/conformance.md lists them: a table of ids and reasons. */

export type Exceptions = ReadonlyMap<string, string>;

/** Reads the rows of every table whose first two columns are named `id` and `reason`. */
export function readExceptions(markdown: string): Exceptions {
  const exceptions = new Map<string, string>();
  let within = false;
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) {
      within = false;
      continue;
    }
    const [id = '', reason = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    if (id === 'id' && reason === 'reason') within = true;
    else if (within && !/^:?-+:?$/.test(id)) exceptions.set(id.replaceAll('`', ''), reason);
  }
  return exceptions;
}
