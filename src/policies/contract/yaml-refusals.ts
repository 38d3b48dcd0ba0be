/** What yaml.v3 refuses of a text before it looks at its structure (contract.md §2.2). */
import { YamlProblem } from './yaml-nodes.ts';

/** But for tab and line ends; half surrogate pairs and the two codes that are no characters go with them. */
const CONTROL = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]|\p{Cs}/u;
const VERSION_DIRECTIVE = /^%YAML[ \t]+1\.1[ \t]*(?:#.*)?$/;
const TAG_DIRECTIVE = /^%TAG[ \t]/;

export function checkCharacters(text: string): void {
  const found = CONTROL.exec(text);
  if (found === null) return;
  const line = text.slice(0, found.index).split('\n').length;
  throw new YamlProblem('control characters are not allowed', { line });
}

export function checkDirective(source: string): void {
  if (TAG_DIRECTIVE.test(source) || VERSION_DIRECTIVE.test(source)) return;
  throw new YamlProblem(
    'it has a directive that is neither %YAML 1.1 nor %TAG: a key that begins with % must be put in quotes',
  );
}
