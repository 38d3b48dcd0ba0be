/**
 * What a text that is no YAML was probably meant to be. The `yaml` package and the rules of yaml.v3 name the rule that broke;
 * people need to hear what to write instead: mostly quotes, a blank, or another indentation.
 */
/** What is said, and the offset that it is about. */
export interface Slip {
  readonly said: string;
  readonly offset: number;
}

/** An error of the `yaml` package, as far as it is looked at. */
interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

const TAB = 'a tab is in the indentation of this line: use blanks';
const DASH = 'a blank is due after the dash of an item';
const COLUMN = 'the indentation of this line fits no line above it: keys of one mapping start in one column';

const INDENTED_BY_TAB = /^ *\t/;
const DASH_WITHOUT_BLANK = /^ *-[^\s-]/;
/** What stands before a value in its line, and the character that the value begins with. */
const STARTS_A_BLOCK = /(?:: |- |^) *([>|])/;
const COLON_WITHOUT_BLANK = /^ *(?:- +)*[\w-]+:[^\s]/;

export function quotesNeeded(character: string): string {
  return `a text that begins with ${character} must be put in quotes`;
}

/** @param text in which the error has its place */
export function slipOf({ code, message, pos }: ParserError, text: string): Slip {
  const [offset] = pos;
  const line = lineAt(text, offset);
  const said = INDENTED_BY_TAB.test(line)
    ? TAB
    : (meaning(code, message, line, text, offset) ?? inOurStyle(message));
  return { said, offset };
}

function meaning(
  code: string,
  message: string,
  line: string,
  text: string,
  offset: number,
): string | undefined {
  switch (code) {
    case 'TAB_AS_INDENT':
      return TAB;
    case 'BAD_SCALAR_START':
      return quotesNeeded(text[offset] ?? '');
    case 'BAD_DQ_ESCAPE':
      return 'in double quotes a backslash begins an escape, and this is none: write \\\\ for a backslash';
    case 'BAD_INDENT':
      return DASH_WITHOUT_BLANK.test(line) ? DASH : COLUMN;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return message.startsWith('Nested mappings')
        ? 'a second colon follows the first: a text that holds ": ", or ends with a colon, must be put in quotes'
        : 'an item of a list stands where a key is due';
    case 'BLOCK_IN_FLOW':
      return 'in brackets a comma is missing, or a text that holds ": " must be put in quotes';
    case 'MISSING_CHAR':
      return ofMissing(message, line);
    case 'UNEXPECTED_TOKEN':
    case 'IMPOSSIBLE':
      return ofUnexpected(message, line, text, offset);
    default:
      return undefined;
  }
}

function ofMissing(message: string, line: string): string | undefined {
  if (message.startsWith('Implicit map keys')) return withoutColon(line);
  if (message.startsWith('Sequence item without'))
    return DASH_WITHOUT_BLANK.test(line)
      ? DASH
      : 'a dash is missing, or the keys of an item start in different columns';
  if (message.startsWith('Comments must')) return 'a blank is due before #';
  return undefined;
}

function ofUnexpected(message: string, line: string, text: string, offset: number): string | undefined {
  const [, block] = STARTS_A_BLOCK.exec(line) ?? [];
  if (block !== undefined) return quotesNeeded(block);
  if (message.startsWith('Unexpected block-seq-ind'))
    return 'a list begins in the line below its key, not beside it';
  if (/-end token/.test(message))
    return 'a bracket closes that none opened: a text with it must be put in quotes';
  if (!message.endsWith('at node end')) return undefined;
  const closed = /["'\]}](?=\s*$)/.exec(text.slice(Math.max(0, offset - line.length - 1), offset))?.[0];
  if (closed === undefined) return undefined;
  return closed === "'"
    ? "something follows a closing quote: in single quotes a quote is written twice ('it''s')"
    : `something follows a closing ${closed}: a text that goes on must be put in quotes as a whole`;
}

/** The package's own words, for what nobody has met, without what they repeat of the text. */
function inOurStyle(message: string): string {
  const words = message.replace(/:.*/s, '').replaceAll(/"[^"]*"|\S*!\S*/g, '…');
  return `${words.slice(0, 1).toLowerCase()}${words.slice(1)}`;
}

/**
 * Of a key that goes on in another line before its colon: mostly the line before lacks a colon, or this one is indented
 * below a key that has its value already.
 * @param start of the key
 */
export function keyOverLines(text: string, start: number, colon: number): Slip {
  for (let end = text.indexOf('\n', start); end >= 0 && end < colon; end = text.indexOf('\n', end + 1)) {
    if (INDENTED_BY_TAB.test(lineAt(text, end + 1))) return { said: TAB, offset: end + 1 };
  }
  const first = lineAt(text, start);
  if (DASH_WITHOUT_BLANK.test(first)) return { said: DASH, offset: start };
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (/^[ -]*$/.test(before)) return { said: withoutColon(first), offset: start };
  if (!before.trimEnd().endsWith(':'))
    return { said: 'a key and its colon must stand in one line', offset: start };
  return {
    said: 'this line is indented below a key that has its value already, or a colon is in a text without quotes',
    offset: colon,
  };
}

/** Never the line itself: one of a block that is not indented far enough may be part of a key or a password. */
function withoutColon(line: string): string {
  return COLON_WITHOUT_BLANK.test(line)
    ? 'a blank is due after the colon of this line'
    : 'this line has no colon, or none that a blank follows; a text of several lines is indented below its key';
}

function lineAt(text: string, offset: number): string {
  const end = text.indexOf('\n', offset);
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end < 0 ? undefined : end);
}
