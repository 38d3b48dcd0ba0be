/** Error texts with the line of source and a marker below it, as cel-go prints them. */
import type { Offset } from './ast.ts';

/** One finding about a source. `at` undefined: about no place of it. */
export interface SourceError {
  readonly at: Offset | undefined;
  readonly message: string;
}

/** Of one text no more findings are printed; the others are counted (common/errors.go). */
const MAX_ERRORS = 100;

/** Lines longer than this many bytes are not shown. */
const MAX_SNIPPET_BYTES = 16384;

/** Findings in the order they are made. Those beyond what is printed are counted only. */
export class ErrorLog {
  readonly #errors: SourceError[] = [];
  #total = 0;

  /** How many there are. */
  get total(): number {
    return this.#total;
  }

  /** The first of them. */
  get errors(): readonly SourceError[] {
    return this.#errors;
  }

  /** @param times how often the same finding is made. */
  add(at: Offset | undefined, message: string, times = 1): void {
    for (let i = 0; i < times && this.#errors.length < MAX_ERRORS; i++) this.#errors.push({ at, message });
    this.#total += times;
  }

  /** Takes back what was found since there were `total`: not for logs that are full. */
  takeBack(total: number): void {
    this.#errors.length = Math.min(this.#errors.length, total);
    this.#total = total;
  }

  /** Makes the findings again that were made between two totals. */
  repeat(from: number, to: number): void {
    for (const error of this.#errors.slice(from, to)) {
      if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
    }
    this.#total += to - from;
  }
}

/** A source whose offsets count code points. */
export class SourceText {
  readonly text: string;
  /** Code points, where the source has any above U+FFFF: the offset of each UTF-16 index. */
  readonly #offsets: Int32Array | undefined;
  readonly #lineStarts: number[] = [0];

  /** @param text without lone surrogates, which no source of the API can hold: see `String#toWellFormed`. */
  constructor(text: string) {
    this.text = text;
    if (/[\ud800-\udbff]/.test(text)) this.#offsets = codePointOffsets(text);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  /** In code points. */
  get length(): number {
    return this.offset(this.text.length);
  }

  /** Code points before a UTF-16 index. */
  offset(index: number): Offset {
    return this.#offsets === undefined ? index : (this.#offsets[index] ?? 0);
  }

  /** Line from 1, column from 0 in code points. */
  location(offset: Offset): { line: number; column: number } {
    let line = 0;
    while (line + 1 < this.#lineStarts.length && this.#startOf(line + 1) <= offset) line++;
    return { line: line + 1, column: offset - this.#startOf(line) };
  }

  /** @param line from 1. */
  line(line: number): string {
    const start = this.#lineStarts[line - 1] ?? 0;
    const next = this.#lineStarts[line];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }

  #startOf(line: number): Offset {
    return this.offset(this.#lineStarts[line] ?? 0);
  }
}

function codePointOffsets(text: string): Int32Array {
  const offsets = new Int32Array(text.length + 1);
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    offsets[index] = count;
    const code = text.charCodeAt(index);
    if (code < 0xd800 || code > 0xdbff) count++;
  }
  offsets[text.length] = count;
  return offsets;
}

/**
 * All findings of one compilation, in the order of their places; those of one place, in the order they were found.
 *
 * @param log of at least one.
 */
export function describeErrors(source: SourceText, log: ErrorLog): string {
  const located = log.errors.map((error) => {
    const { line, column } = place(source, error);
    return { message: error.message, line, column };
  });
  located.sort((a, b) => a.line - b.line || a.column - b.column);
  const texts = located.map(({ message, line, column }) => describe(source, message, line, column));
  const more = log.total - log.errors.length;
  if (more > 0) texts.push(`${more} more errors were truncated`);
  return texts.join('\n');
}

function place(source: SourceText, error: SourceError): { line: number; column: number } {
  return error.at === undefined ? { line: -1, column: -1 } : source.location(error.at);
}

function describe(source: SourceText, message: string, line: number, column: number): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  if (line < 1 || source.text === '') return head;
  const snippet = source.line(line);
  if (utf8Length(snippet) > MAX_SNIPPET_BYTES) return head;
  return `${head}\n | ${snippet.replaceAll('\t', ' ')}\n | ${marker(snippet, column)}`;
}

/** Dots and a caret, wide ones below characters of several bytes. */
function marker(snippet: string, column: number): string {
  let text = '';
  let left = column;
  for (const char of snippet) {
    const wide = char > '\u007f';
    if (left <= 0) return text + (wide ? '\uff3e' : '^');
    text += wide ? '\uff0e' : '.';
    left--;
  }
  return `${text}^`;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else bytes += code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
