/** How yaml.v3 writes a text: plain, in single or double quotes, or as a block (contract.md §16.1). */
import { resolvePlain } from './yaml-scalars.ts';

/** Bytes of a key that is written before its colon. */
const SIMPLE_KEY_BYTES = 128;

/** What YAML 1.1 takes for something else: quoted for readers that still do. */
const OLD_BOOLEAN = /^(?:y|yes|on|n|no|off)$/i;
const OLD_BOOLEAN_CASE = /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/;
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Line ends, controls, and what is beyond 16 bits: only double quotes hold them. */
const SPECIAL = /[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/u;
const INDICATOR = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[-?:](?:[ \t]|$))|:(?:[ \t]|$)|(?<=[ \t\n])#/;
const EDGE_BLANK = /^[ \n]|[ \n]$/;
const SPACE_THEN_BREAK = / \n/;

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\u0000': '0',
    '\u0007': 'a',
    '\b': 'b',
    '\t': 't',
    '\n': 'n',
    '\v': 'v',
    '\f': 'f',
    '\r': 'r',
    '\u001b': 'e',
    '"': '"',
    '\\': '\\',
    '\u0085': 'N',
    '\u00a0': '_',
    '\u2028': 'L',
    '\u2029': 'P',
  }),
);
const ESCAPED = /["\\]|[^\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/gu;

/** Such a key stands after a question mark. */
export function needsComplexKey(text: string): boolean {
  return text.includes('\n') || new TextEncoder().encode(text).length > SIMPLE_KEY_BYTES;
}

export function plainOrQuoted(text: string): string {
  if (text.includes('\n') || SPECIAL.test(text) || text.includes('\t')) return doubleQuoted(text);
  if (readsAsAnother(text)) return doubleQuoted(text);
  return INDICATOR.test(text) || EDGE_BLANK.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

function readsAsAnother(text: string): boolean {
  if (OLD_BOOLEAN.test(text) && OLD_BOOLEAN_CASE.test(text)) return true;
  return SEXAGESIMAL.test(text) || resolvePlain(text).tag !== '!!str';
}

/**
 * A text of more than one line, as a block; undefined where it cannot be one.
 * @param outer indent of the collection around it
 */
export function literal(text: string, outer: number, indent: number): string | undefined {
  if (!text.includes('\n') || SPECIAL.test(text)) return undefined;
  if (text.endsWith(' ') || SPACE_THEN_BREAK.test(text)) return undefined;
  const hinted = /^[ \n]/.test(text);
  // yaml.v3 always says four, and where that is wrong it cannot read its own text.
  if (hinted && indent - outer !== 4) return undefined;
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  const body = lines
    .split('\n')
    .map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`))
    .join('\n');
  return `|${hinted ? '4' : ''}${chomp}\n${body}`;
}

function doubleQuoted(text: string): string {
  return `"${text.replace(ESCAPED, escape)}"`;
}

function escape(character: string): string {
  const short = ESCAPES.get(character);
  if (short !== undefined) return `\\${short}`;
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
