/** Names in CEL, as Kubernetes makes them of field names and allows them for variables. */

/** Words that CEL keeps for itself. */
const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
);

/** What a variable may be called (vap.md V12). */
export function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
}

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/**
 * The names under which an expression finds a field of a typed object (vap.md D05, N03).
 *
 * @returns none where it finds it under no name
 */
export function fieldNames(name: string): readonly string[] {
  // A reserved word can also be written as it is.
  if (RESERVED.has(name)) return [`__${name}__`, name];
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return [];
  return [name.replaceAll(/__|[-./]/g, (mark) => ESCAPES[mark] ?? mark)];
}
