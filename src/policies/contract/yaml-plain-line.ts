/** What stands within one line of plain YAML: texts, with or without quotes, and brackets. */
import type { YamlMapping, YamlNode, YamlScalar, YamlSequence } from './yaml-nodes.ts';
import { resolvePlain } from './yaml-scalars.ts';

/** Far below what is read at most (MAX_DEPTH), so that no limit is ever ours to judge, and recursion is safe. */
const MAX_PLAIN_DEPTH = 100;
/** Below what a key may have (IMPLICIT_KEY_LENGTH). */
const MAX_PLAIN_KEY = 1000;

export const LINE_FEED = 0x0a;
const BLANK = 0x20;
export const DASH = 0x2d;
const COLON = 0x3a;
const QUOTE = 0x22;
export const HASH = 0x23;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const POINT = 0x2e;
const QUESTION_MARK = 0x3f;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/**
 * A place in a text that goes on line by line. Each method that reads gives undefined for what is not certain, after which
 * the place means nothing.
 */
export class PlainCursor {
  /** Ends with a line feed, so that nobody need ask for the end. */
  readonly text: string;
  at = 0;
  /** From 1. */
  line = 1;
  lineStart = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  code(): number {
    return this.text.charCodeAt(this.at);
  }

  /** @returns whether one level more is still ours; `leave` it. */
  enter(): boolean {
    this.#depth += 1;
    return this.#depth <= MAX_PLAIN_DEPTH;
  }

  leave(): void {
    this.#depth -= 1;
  }

  skipBlanks(): void {
    while (this.code() === BLANK) this.at += 1;
  }

  isFlow(): boolean {
    const code = this.code();
    return code === OPEN_LIST || code === OPEN_MAP;
  }

  /** Ends behind the last character that is no blank, or behind the quote. */
  scalar(inFlow: boolean): YamlScalar | undefined {
    const code = this.code();
    if (code === QUOTE) return this.#doubleQuoted();
    if (code === APOSTROPHE) return this.#singleQuoted();
    if (!this.#startsText(code)) return undefined;
    const end = inFlow ? this.#endInFlow() : this.#endInBlock();
    if (end === undefined) return undefined;
    const text = this.text.slice(this.at, end);
    // A merge key.
    if (text === '<<') return undefined;
    this.at = end;
    return { kind: 'scalar', tag: resolvePlain(text).tag, text, tagged: false, line: this.line };
  }

  /** A text, its colon, and a blank or the end of the line behind it, where it ends. */
  key(inFlow: boolean): YamlScalar | undefined {
    const start = this.at;
    const key = this.scalar(inFlow);
    if (key === undefined || !this.isBeforeColon() || this.at - start > MAX_PLAIN_KEY) return undefined;
    this.at += 1;
    return key;
  }

  /** Whether the colon of a pair comes next. */
  isBeforeColon(): boolean {
    return this.code() === COLON && isSpace(this.text.charCodeAt(this.at + 1));
  }

  /** A list or mapping in brackets. */
  flow(): YamlSequence | YamlMapping | undefined {
    if (!this.enter()) return undefined;
    const isList = this.code() === OPEN_LIST;
    this.at += 1;
    const node = isList ? this.#flowSequence() : this.#flowMapping();
    this.leave();
    return node;
  }

  #flowSequence(): YamlSequence | undefined {
    const { line } = this;
    const items: YamlNode[] = [];
    const node = { kind: 'sequence', items, line } as const;
    if (this.#closes(CLOSE_LIST)) return node;
    do {
      this.skipBlanks();
      const item = this.#flowValue();
      if (item === undefined) return undefined;
      items.push(item);
      if (this.#closes(CLOSE_LIST)) return node;
    } while (this.#takes(COMMA));
    return undefined;
  }

  #flowMapping(): YamlMapping | undefined {
    const { line } = this;
    const entries: [YamlNode, YamlNode][] = [];
    const node = { kind: 'mapping', entries, line } as const;
    if (this.#closes(CLOSE_MAP)) return node;
    do {
      this.skipBlanks();
      const key = this.key(true);
      if (key === undefined) return undefined;
      this.skipBlanks();
      const value = this.#flowValue();
      if (value === undefined) return undefined;
      entries.push([key, value]);
      if (this.#closes(CLOSE_MAP)) return node;
    } while (this.#takes(COMMA));
    return undefined;
  }

  #flowValue(): YamlNode | undefined {
    return this.isFlow() ? this.flow() : this.scalar(true);
  }

  #closes(bracket: number): boolean {
    this.skipBlanks();
    return this.#takes(bracket);
  }

  #takes(code: number): boolean {
    if (this.code() !== code) return false;
    this.at += 1;
    return true;
  }

  /** A dash must not be the mark of an item, nor, as a point, the beginning of a mark between documents. */
  #startsText(code: number): boolean {
    const isFirst = this.at === this.lineStart;
    switch (code) {
      case DASH: {
        const next = this.text.charCodeAt(this.at + 1);
        return !isSpace(next) && !isFlowIndicator(next) && !(isFirst && next === DASH);
      }
      case POINT:
        return !isFirst;
      default:
        return !isSpace(code) && !isIndicator(code) && !isFlowIndicator(code);
    }
  }

  /** At a colon that ends a key, at a comment, or at the end of the line. */
  #endInBlock(): number {
    const { text } = this;
    let end = this.at;
    for (let at = end; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === BLANK) continue;
      if (code === LINE_FEED) return end;
      if (code === COLON && isSpace(text.charCodeAt(at + 1))) return end;
      if (code === HASH && end < at) return end;
      end = at + 1;
    }
  }

  /** As in a block, and at brackets and commas; a colon before one of these, or a question mark, is not ours. */
  #endInFlow(): number | undefined {
    const { text } = this;
    let end = this.at;
    for (let at = end; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === BLANK) continue;
      if (code === LINE_FEED || code === QUESTION_MARK) return undefined;
      if (isFlowIndicator(code)) return end;
      if (code === HASH && end < at) return undefined;
      if (code === COLON) {
        const next = text.charCodeAt(at + 1);
        if (isSpace(next)) return end;
        if (isFlowIndicator(next)) return undefined;
      }
      end = at + 1;
    }
  }

  #singleQuoted(): YamlScalar | undefined {
    const { text } = this;
    const start = this.at + 1;
    let hasQuotes = false;
    for (let at = start; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) return undefined;
      if (code !== APOSTROPHE) continue;
      if (text.charCodeAt(at + 1) !== APOSTROPHE) {
        this.at = at + 1;
        const written = text.slice(start, at);
        return this.#quoted(hasQuotes ? written.replaceAll("''", "'") : written);
      }
      hasQuotes = true;
      at += 1;
    }
  }

  #doubleQuoted(): YamlScalar | undefined {
    const { text } = this;
    let read = '';
    let start = this.at + 1;
    for (let at = start; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) return undefined;
      if (code === QUOTE) {
        this.at = at + 1;
        return this.#quoted(read + text.slice(start, at));
      }
      if (code !== BACKSLASH) continue;
      const escaped = unescaped(text.charCodeAt(at + 1));
      if (escaped === undefined) return undefined;
      read += text.slice(start, at) + escaped;
      at += 1;
      start = at + 1;
    }
  }

  #quoted(text: string): YamlScalar {
    return { kind: 'scalar', tag: '!!str', text, tagged: false, line: this.line };
  }
}

/** There are no others: a text with tabs is not plain. */
export function isSpace(code: number): boolean {
  return code === BLANK || code === LINE_FEED;
}

function isFlowIndicator(code: number): boolean {
  return (
    code === COMMA || code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_MAP || code === CLOSE_MAP
  );
}

/** What YAML gives a meaning where a text begins, but for dashes and brackets. */
function isIndicator(code: number): boolean {
  switch (code) {
    case 0x21: // !
    case QUOTE:
    case HASH:
    case 0x25: // %
    case 0x26: // &
    case APOSTROPHE:
    case 0x2a: // *
    case COLON:
    case 0x3e: // >
    case QUESTION_MARK:
    case 0x40: // @
    case 0x60: // `
    case 0x7c: // |
      return true;
    default:
      return false;
  }
}

function unescaped(code: number): string | undefined {
  switch (code) {
    case QUOTE:
      return '"';
    case BACKSLASH:
      return '\\';
    case 0x6e: // n
      return '\n';
    case 0x74: // t
      return '\t';
    default:
      return undefined;
  }
}
