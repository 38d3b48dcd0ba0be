/** What yaml.v3 refuses and the `yaml` package would take (contract.md §2.2). */
import type { CST } from 'yaml';

import { YamlProblem } from './yaml-nodes.ts';

/** But for tab and line ends; half surrogate pairs and the two codes that are no characters go with them. */
const CONTROL = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]|\p{Cs}/u;
const VERSION_DIRECTIVE = /^%YAML[ \t]+1\.1[ \t]*(?:#.*)?$/;
/** Codes of half a surrogate pair, or beyond Unicode; an even number of backslashes before it is text. */
const WRONG_ESCAPE =
  /(?<!\\)(?:\\\\)*\\(?:u[dD][89a-fA-F]|U(?!00(?:0[0-9a-fA-F]|10))[0-9a-fA-F]{8}|U0000[dD][89a-fA-F])/;

export function checkCharacters(text: string): void {
  const found = CONTROL.exec(text);
  if (found === null) return;
  const lines = text.slice(0, found.index).split('\n').length;
  throw new YamlProblem(`line ${String(lines)}: control characters are not allowed`);
}

export function checkDirective(source: string): void {
  if (/^%TAG[ \t]/.test(source) || VERSION_DIRECTIVE.test(source)) return;
  throw new YamlProblem('it has a directive that is neither %YAML 1.1 nor %TAG');
}

export function checkScalar(token: CST.FlowScalar | CST.BlockScalar | undefined, line: number): void {
  if (token?.type === 'double-quoted-scalar' && WRONG_ESCAPE.test(token.source)) {
    throw new YamlProblem(`line ${String(line)}: an escape code is no character of Unicode`);
  }
}
