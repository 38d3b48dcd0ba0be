/** What is shown of a wrong configuration: enough to find it, and nothing that may be a secret. */

/** The lines below show the place in the file, announced by a colon. */
export function firstLineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.replace(/:$/, '');
}

/** The parser's own words repeat the file. */
export function placeIn(message: string): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return line === undefined ? '' : `: look at line ${line}, column ${String(column)}`;
}

/** Of a list its first wrong item. */
function wrongPartOf(value: unknown, issues: readonly { readonly path: readonly PropertyKey[] }[]): unknown {
  const index = issues[0]?.path[0];
  return Array.isArray(value) && typeof index === 'number' ? (value as unknown[])[index] : value;
}

/** Names, addresses and versions are short and have dots, dashes or slashes in between; a secret is one long run. */
const SECRET_LIKE = /eyJ|[A-Za-z0-9+_=]{20,}|[^\w./:*@-]/;

/** Shows a wrong value where its kind says that nobody keeps a secret there; free text may be one, misplaced. */
export function foundIn(
  given: unknown,
  kind: string,
  issues: readonly { readonly path: readonly PropertyKey[] }[],
): string {
  const value = wrongPartOf(given, issues);
  if (typeof value === 'object' && value !== null) return '';
  if ((kind === 'text' || kind === 'list') && typeof value === 'string' && SECRET_LIKE.test(value)) return '';
  const text = JSON.stringify(value);
  return text.length > 42 ? '' : `, found ${text.replaceAll(/[^\x20-\x7e]/g, '?')}`;
}
