/**
 * Reads in one pass the YAML that contracts and interfaces are mostly written in, and leaves the rest to the `yaml`
 * package: what it gives is what `parseYaml` would give without it, or nothing (docs/adr/0012).
 */
import type { YamlMapping, YamlNode, YamlScalar, YamlSequence } from './yaml-nodes.ts';
import { DASH, HASH, isSpace, LINE_FEED, PlainCursor } from './yaml-plain-line.ts';

/** Tabs, control characters, and what ends lines or marks byte order somewhere. Halves of pairs are looked for apart. */
const ODD_CHARACTER = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/;

const LITERAL = 0x7c;
const FOLDED = 0x3e;

/**
 * @returns undefined for a text that is not plain: other YAML, none at all, or one that is to be refused
 */
export function readPlainYaml(source: string): YamlNode | undefined {
  const text = source.includes('\r') ? source.replaceAll('\r\n', '\n') : source;
  if (ODD_CHARACTER.test(text) || !text.isWellFormed()) return undefined;
  return new PlainReader(text).read();
}

class PlainReader {
  readonly #in: PlainCursor;
  readonly #endsWithLine: boolean;
  /** Of the line at hand; -1 at the end. */
  #indent = 0;

  constructor(text: string) {
    this.#endsWithLine = text.endsWith('\n');
    this.#in = new PlainCursor(this.#endsWithLine ? text : `${text}\n`);
  }

  read(): YamlNode | undefined {
    this.#toContent();
    const cursor = this.#in;
    if (cursor.text.startsWith('---\n', cursor.at)) {
      if (this.#indent !== 0) return undefined;
      cursor.at += 3;
      this.#toNextLine();
    }
    if (this.#indent !== 0) return undefined;
    const node = cursor.isFlow() ? this.#ofLine(cursor.flow()) : this.#block(0);
    return this.#indent < 0 ? node : undefined;
  }

  /** @param indent of the content, where the place is */
  #block(indent: number): YamlNode | undefined {
    if (!this.#in.enter()) return undefined;
    const node = this.#isItem() ? this.#sequence(indent) : this.#mapping(indent);
    this.#in.leave();
    return node;
  }

  #isItem(): boolean {
    const { text, at } = this.#in;
    return text.charCodeAt(at) === DASH && isSpace(text.charCodeAt(at + 1));
  }

  #mapping(indent: number): YamlMapping | undefined {
    const { line } = this.#in;
    const entries: [YamlNode, YamlNode][] = [];
    do {
      const key = this.#in.key(false);
      if (key === undefined) return undefined;
      const value = this.#value(indent, false);
      if (value === undefined) return undefined;
      entries.push([key, value]);
    } while (this.#indent === indent);
    return this.#indent < indent ? { kind: 'mapping', entries, line } : undefined;
  }

  #sequence(indent: number): YamlSequence | undefined {
    const { line } = this.#in;
    const items: YamlNode[] = [];
    do {
      this.#in.at += 1;
      const item = this.#value(indent, true);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#indent === indent && this.#isItem());
    return this.#indent <= indent ? { kind: 'sequence', items, line } : undefined;
  }

  /**
   * What follows a colon or a dash, in its line or below it; ends at the next content.
   * @param indent of the key or dash
   */
  #value(indent: number, ofItem: boolean): YamlNode | undefined {
    const cursor = this.#in;
    cursor.skipBlanks();
    const code = cursor.code();
    if (code === LINE_FEED || code === HASH) return this.#valueBelow(indent, ofItem);
    if (code === LITERAL || code === FOLDED) return this.#blockScalar(indent);
    if (cursor.isFlow()) return this.#ofLine(cursor.flow());
    const { at } = cursor;
    if (this.#isItem()) return ofItem ? this.#block(at - cursor.lineStart) : undefined;
    const node = cursor.scalar(false);
    if (node === undefined || !cursor.isBeforeColon()) return this.#ofLine(node);
    if (!ofItem) return undefined;
    cursor.at = at;
    return this.#block(at - cursor.lineStart);
  }

  #valueBelow(indent: number, ofItem: boolean): YamlNode | undefined {
    const { line } = this.#in;
    this.#toNextLine();
    if (this.#indent > indent) return this.#block(this.#indent);
    // A list may stand as far left as the key that it belongs to.
    if (!ofItem && this.#indent === indent && this.#isItem()) return this.#block(indent);
    return { kind: 'scalar', tag: '!!null', text: '', tagged: false, line };
  }

  /** @returns the node if nothing but a comment follows it in its line */
  #ofLine<N extends YamlNode>(node: N | undefined): N | undefined {
    const cursor = this.#in;
    const { at } = cursor;
    cursor.skipBlanks();
    const code = cursor.code();
    if (code !== LINE_FEED && (code !== HASH || cursor.at === at)) return undefined;
    this.#toNextLine();
    return node;
  }

  #toNextLine(): void {
    const cursor = this.#in;
    cursor.at = cursor.text.indexOf('\n', cursor.at) + 1;
    cursor.line += 1;
    this.#toContent();
  }

  /** From the start of a line to the first content in it or below it. */
  #toContent(): void {
    const cursor = this.#in;
    const { text } = cursor;
    for (;;) {
      cursor.lineStart = cursor.at;
      if (cursor.at >= text.length) {
        this.#indent = -1;
        return;
      }
      cursor.skipBlanks();
      const code = cursor.code();
      if (code !== LINE_FEED && code !== HASH) break;
      cursor.at = text.indexOf('\n', cursor.at) + 1;
      cursor.line += 1;
    }
    this.#indent = cursor.at - cursor.lineStart;
  }

  /**
   * A block of lines that all start with text, or are empty between such; with a line end or none behind them.
   * @param indent of the key or dash
   */
  #blockScalar(indent: number): YamlScalar | undefined {
    const cursor = this.#in;
    const { text, line } = cursor;
    const isFolded = cursor.code() === FOLDED;
    cursor.at += 1;
    const isStripped = cursor.code() === DASH;
    if (isStripped) cursor.at += 1;
    if (cursor.code() !== LINE_FEED) return undefined;
    cursor.at += 1;
    const read = this.#blockLines(indent, isFolded);
    if (read === undefined || (cursor.at === text.length && !this.#endsWithLine)) return undefined;
    this.#toContent();
    return { kind: 'scalar', tag: '!!str', text: isStripped ? read : `${read}\n`, tagged: false, line };
  }

  /** From the start of its first line to that of the line behind its last. */
  #blockLines(outer: number, isFolded: boolean): string | undefined {
    const cursor = this.#in;
    const { text } = cursor;
    let read = '';
    let indent = -1;
    let empty = 0;
    for (;;) {
      cursor.line += 1;
      const start = cursor.at;
      cursor.skipBlanks();
      const width = cursor.at - start;
      if (cursor.code() === LINE_FEED) {
        if (width > 0 || indent < 0) return undefined;
        empty += 1;
        cursor.at += 1;
        continue;
      }
      if (indent < 0) {
        indent = width;
        if (width <= outer) return undefined;
      } else if (width < indent) {
        cursor.at = start;
        return read;
      } else {
        read += isFolded && empty === 0 ? ' ' : '\n'.repeat(isFolded ? empty : empty + 1);
      }
      if (width > indent && isFolded) return undefined;
      const end = text.indexOf('\n', start);
      read += text.slice(start + indent, end);
      cursor.at = end + 1;
      empty = 0;
    }
  }
}
