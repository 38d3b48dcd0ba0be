/**
 * What yaml.v3 refuses, or reads otherwise, of tokens that the `yaml` package takes (contract.md §2.2). Looked at before
 * nodes are made of them, and without recursion.
 */
import type { CST } from 'yaml';

import { YamlProblem } from './yaml-nodes.ts';
import { keyOverLines, quotesNeeded } from './yaml-slips.ts';

/**
 * Nesting that is read at most. yaml.v3 stops at 10,000; the rules after it walk a document by recursion, here as in the
 * JSON Schema worker, and brackets end a fresh stack at some 700, so ours must stay far from that.
 */
export const MAX_DEPTH = 500;

/** Characters between the start of a key and its colon, from YAML 1.1 on. */
const IMPLICIT_KEY_LENGTH = 1024;

/** An odd number of backslashes before it makes it an escape. */
const WRONG_ESCAPE =
  /(?<!\\)(?:\\\\)*\\(?:\/|u[dD][89a-fA-F]|U(?!00(?:0[0-9a-fA-F]|10))[0-9a-fA-F]{8}|U0000[dD][89a-fA-F])/;
/** Where a colon or a question mark stands there, a pair begins. */
const NOT_IN_FLOW = /^:|\?/;
/** The end of what a double quote opened; an even number of backslashes before it leaves it one. */
const CLOSING_QUOTE = /(?<!\\)(?:\\\\)*"$/;
const NOT_CLOSED = 'a quote opens here that is not closed';
const NAME = /^[&*][0-9A-Za-z_-]+$/;
/** They end lines for yaml.v3, and are characters for the package: fine where they stay in the text either way. */
const RARE_LINE_END = /[\u2028\u2029]/;
/** Where yaml.v3 would fold, the package keeps the blanks. */
const FOLDED_RARELY = /[ \t\n\\][\u2028\u2029]|[\u2028\u2029][ \t\n]/;
const LINE_END = /[\n\u2028\u2029]/;
const RARE_LINE_ENDS = /[\u2028\u2029]/g;

const ENDS: ReadonlyMap<string, CST.SourceToken['type']> = new Map([
  ['flow-map-start', 'flow-map-end'],
  ['flow-seq-start', 'flow-seq-end'],
]);

interface Open {
  readonly token: CST.Token;
  readonly depth: number;
  readonly inFlow: boolean;
}

/** Throws for what must be refused, and mends what would be read otherwise: `{a:}` has the key `a:`. */
export class TokenCheck {
  readonly #text: string;
  readonly #lineOf: (offset: number) => number;
  readonly #open: Open[] = [];
  #rareLineEnds = 0;

  /** @param text what the offsets of the tokens count in */
  constructor(text: string, lineOf: (offset: number) => number) {
    this.#text = text;
    this.#lineOf = lineOf;
  }

  check(document: CST.Document): void {
    this.#properties(document.start);
    if (document.value !== undefined) this.#open.push({ token: document.value, depth: 0, inFlow: false });
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#token(next);
    if (this.#rareLineEnds < countRareLineEnds(this.#text)) {
      throw new YamlProblem('it has a line end that is not one everywhere');
    }
  }

  #token({ token, depth, inFlow }: Open): void {
    switch (token.type) {
      case 'scalar':
        if (inFlow && NOT_IN_FLOW.test(token.source))
          this.#refuse(token, 'this text needs quotes in brackets');
        if (RARE_LINE_END.test(token.source))
          this.#refuse(token, 'a text that goes on in another line is unclear here');
        return;
      case 'single-quoted-scalar':
        this.#quoted(token);
        if (!isClosed(token.source)) this.#refuse(token, NOT_CLOSED);
        return;
      case 'double-quoted-scalar':
        this.#quoted(token);
        // The package takes a text for closed that only ends in an escaped quote.
        if (!CLOSING_QUOTE.test(token.source.slice(1))) this.#refuse(token, NOT_CLOSED);
        if (WRONG_ESCAPE.test(token.source)) this.#refuse(token, 'an escape stands for no character');
        return;
      case 'block-scalar':
        this.#block(token);
        return;
      case 'alias':
        if (!NAME.test(token.source)) this.#refuse(token, quotesNeeded('*'));
        return;
      case 'block-map':
      case 'block-seq':
      case 'flow-collection':
        this.#collection(token, depth + 1, inFlow || token.type === 'flow-collection');
        return;
      default:
    }
  }

  #block(token: CST.BlockScalar): void {
    const at = tabInIndent(token.source);
    if (at === undefined) return;
    // Its source begins below the line of its `|`.
    const header = this.#text.indexOf('\n', token.offset);
    this.#refuse({ offset: header + 1 + at }, 'a tab stands where indentation is due: use blanks');
  }

  #quoted(token: CST.FlowScalar): void {
    this.#rareLineEnds += countRareLineEnds(token.source);
    if (FOLDED_RARELY.test(token.source)) this.#refuse(token, 'blanks beside this line end are unclear');
  }

  #collection(
    token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection,
    depth: number,
    inFlow: boolean,
  ): void {
    if (depth > MAX_DEPTH) this.#refuse(token, `it is nested more than ${String(MAX_DEPTH)} levels deep`);
    if (token.type === 'flow-collection' && token.end[0]?.type !== ENDS.get(token.start.type)) {
      this.#refuse(token, 'a bracket is not closed');
    }
    for (const item of token.items as CST.CollectionItem[]) {
      this.#properties(item.start);
      if (inFlow && isExplicit(item) && (item.key ?? item.value) === undefined) {
        this.#refuse(item.start[0] ?? token, 'a key is missing after a question mark');
      }
      if (item.sep !== undefined) {
        this.#properties(item.sep);
        this.#pair(item, item.sep, token);
      }
      if (item.key !== undefined && item.key !== null) this.#open.push({ token: item.key, depth, inFlow });
      if (item.value !== undefined) this.#open.push({ token: item.value, depth, inFlow });
    }
  }

  #pair(item: CST.CollectionItem, separator: readonly CST.SourceToken[], collection: CST.Token): void {
    const colon = separator.find(({ type }) => type === 'map-value-ind');
    if (colon === undefined || isExplicit(item)) return;
    const named = item.start.find(({ type }) => type === 'anchor' || type === 'tag');
    const start = named ?? item.key ?? colon;
    if (start === colon) this.#refuse(colon, 'a key is missing before a colon');
    const written = this.#text.slice(start.offset, colon.offset);
    if (LINE_END.test(written)) {
      const { said, offset } = keyOverLines(this.#text, start.offset, colon.offset);
      this.#refuse({ offset }, said);
    }
    if (written.length > IMPLICIT_KEY_LENGTH) {
      this.#refuse(start, `a key has more than ${String(IMPLICIT_KEY_LENGTH)} characters`);
    }
    const adjacent = collection.type === 'flow-collection' && item.key?.type === 'scalar';
    if (adjacent && /[^ \t]:$/.test(this.#text.slice(0, colon.offset + 1).slice(-2))) {
      this.#mend(item, colon, collection);
    }
  }

  /** Right before a bracket or comma the colon belongs to the text. */
  #mend(item: CST.CollectionItem, colon: CST.SourceToken, collection: CST.FlowCollection): void {
    const next = this.#text[colon.offset + 1] ?? '';
    if (next === '[' || next === '{') this.#refuse(colon, 'a blank is due between a colon and a bracket');
    if (next !== ',' && next !== ']' && next !== '}') return;
    const { key } = item;
    if (key?.type !== 'scalar') return;
    key.source += ':';
    if (collection.start.type !== 'flow-seq-start') {
      item.sep = [];
      return;
    }
    delete item.sep;
    delete item.key;
    item.value = key;
  }

  #properties(tokens: readonly CST.SourceToken[]): void {
    for (const token of tokens) {
      if (token.type === 'anchor' && !NAME.test(token.source)) {
        this.#refuse(token, quotesNeeded('&'));
      }
      if (token.type !== 'tag') continue;
      const next = this.#text[token.offset + token.source.length];
      if (next === undefined || /[ \t\n]/.test(next)) continue;
      this.#refuse(token, `a blank is due after a tag, and ${quotesNeeded('!')}`);
    }
  }

  #refuse({ offset }: { readonly offset: number }, why: string): never {
    throw new YamlProblem(why, { line: this.#lineOf(offset) });
  }
}

function isExplicit({ start }: CST.CollectionItem): boolean {
  return start.some(({ type }) => type === 'explicit-key-ind');
}

function countRareLineEnds(text: string): number {
  return text.match(RARE_LINE_ENDS)?.length ?? 0;
}

/** In single quotes. */
function isClosed(source: string): boolean {
  const inside = source.slice(1, -1).replaceAll("''", '');
  return source.length > 1 && source.endsWith("'") && !inside.includes("'");
}

/** Where the tab is. While the indentation is not known yet, and in any line before it is reached. */
function tabInIndent(source: string): number | undefined {
  let start = 0;
  let indent = Number.POSITIVE_INFINITY;
  for (const line of source.split('\n')) {
    const [blank = ''] = /^ */.exec(line) ?? [];
    if (line[blank.length] === '\t' && blank.length < indent) return start;
    start += line.length + 1;
    if (line.length > blank.length) indent = Math.min(indent, blank.length);
  }
  return undefined;
}
