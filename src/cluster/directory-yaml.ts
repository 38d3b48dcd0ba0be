/**
 * YAML documents of Kubernetes objects, read as kubectl reads them (sigs.k8s.io/yaml): `yes` and `on` are booleans,
 * `0644` is octal, timestamps stay strings. Numbers come out as json.ts gives them. Everything is bounded, since the
 * library itself expands aliases and recurses for as long as a file wants it to.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import type * as Yaml from 'yaml';
import type { Document, Node, Pair, ParsedNode, YAMLMap, YAMLSeq } from 'yaml';

import { readJsonDocuments } from './json-documents.ts';
import { yamlFaultInWords } from './yaml-faults.ts';
import { plainScalar } from './yaml-scalars.ts';

type YamlLibrary = typeof Yaml;

/** Maps and lists inside each other, as in a review (json.ts). */
const MAX_DEPTH = 512;
/** Values that aliases may stand for in one document; a YAML bomb of nine lines stands for a billion. */
const MAX_ALIASED_VALUES = 100_000;
/**
 * Lexemes of one text: a List of two MiB has about so many. A document is composed in one step, which takes up to half
 * a second for so many.
 */
const MAX_LEXEMES = 600_000;
/** Documents of one text; each costs the library far more than its bytes. */
const MAX_DOCUMENTS = 10_000;
/** A document may say `%YAML` and `%TAG`; the library labours over each line that says more. */
const MAX_DIRECTIVES = 100;
const MAX_COMMENTS = 100_000;
/** `*name`: the library takes some microseconds for each, in one step. */
const MAX_ALIASES = 20_000;
/** Lines of the texts of one document; folding costs the library by the line, in one step. */
const MAX_TEXT_LINES = 200_000;
/** Lexemes between two turns of the event loop: some milliseconds. */
const LEXEMES_PER_TURN = 5_000;
/** Documents with a fault after which nothing more of the text is read. */
const MAX_FAULTS = 20;
/** Before a lexeme that is the text of a scalar (yaml, Lexer). */
const SCALAR_FOLLOWS = '\u001f';

const CORE_TAG = 'tag:yaml.org,2002:';

/** Where and why a document cannot be read; the message never repeats what the document says. */
export interface YamlFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface YamlDocument {
  readonly value?: unknown;
  /** Line of the document's first value, from 1. */
  readonly line: number;
  /** Line of each element of its list `items`. */
  readonly itemLines: readonly number[];
  readonly fault?: YamlFault;
}

/**
 * Reads a text within bounds, and lets others have their turn meanwhile. Whoever calls bounds the size of the text.
 * @returns the documents in order; one with a fault does not keep the others from being read, but where there are very
 *   many the reading ends, and the last fault says so.
 */
export async function readYaml(text: string): Promise<YamlDocument[]> {
  const json = readJsonDocuments(text);
  if (json !== undefined) return json.map(({ value, line }) => ({ value, line, itemLines: [] }));
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const composer = new yaml.Composer({
    // Every plain scalar as its text: what it means is decided by yaml-scalars.ts.
    schema: 'failsafe',
    // The library compares each key with each other; the check below takes a Set.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    keepSourceTokens: false,
  });
  const documents: YamlDocument[] = [];
  let faults = 0;
  const take = (document: Document.Parsed): void => {
    if (faults >= MAX_FAULTS) return;
    const read = readDocument(yaml, document, lines);
    documents.push(read);
    if (read.fault !== undefined) faults++;
  };
  const parser = new yaml.Parser(lines.addNewLine);
  lines.addNewLine(0);
  const bounds = new LexemeBounds();
  let offset = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    const tooMuch = bounds.exceededBy(lexeme);
    if (tooMuch !== undefined) return [...documents, faulty(lines, offset, tooMuch)];
    if (faults >= MAX_FAULTS) return [...documents, faulty(lines, offset, TOO_FAULTY)];
    if (bounds.turnIsOver()) await nextTurn();
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) take(document);
    if (!isControl(lexeme)) offset += lexeme.length;
  }
  for (const token of parser.end()) for (const document of composer.next(token)) take(document);
  for (const document of composer.end()) take(document);
  return documents;
}

/** Stops a text before the library recurses or labours over it. */
class LexemeBounds {
  #depth = 0;
  #lexemes = 0;
  #documents = 0;
  #directives = 0;
  #comments = 0;
  #aliases = 0;
  #textLines = 0;
  #inTurn = 0;
  #isScalar = false;

  /** @returns what is too much of with this lexeme. */
  exceededBy(lexeme: string): string | undefined {
    const isScalar = this.#isScalar;
    this.#isScalar = lexeme === SCALAR_FOLLOWS;
    this.#inTurn++;
    this.#lexemes++;
    if (isScalar || lexeme.startsWith('"') || lexeme.startsWith("'")) this.#textLines += linesIn(lexeme);
    else this.#count(lexeme);
    if (this.#depth > MAX_DEPTH) return TOO_DEEP;
    if (this.#lexemes > MAX_LEXEMES) return `has more than ${MAX_LEXEMES} parts; split it`;
    if (this.#documents > MAX_DOCUMENTS) return `has more than ${MAX_DOCUMENTS} documents; split it`;
    if (this.#directives > MAX_DIRECTIVES) return `has more than ${MAX_DIRECTIVES} directives (lines with %)`;
    if (this.#comments > MAX_COMMENTS) return `has more than ${MAX_COMMENTS} comments; remove some`;
    if (this.#aliases > MAX_ALIASES) return `has more than ${MAX_ALIASES} aliases; write some of them out`;
    if (this.#textLines <= MAX_TEXT_LINES) return undefined;
    return `has more than ${MAX_TEXT_LINES} lines of text in one document; split it`;
  }

  turnIsOver(): boolean {
    if (this.#inTurn < LEXEMES_PER_TURN) return false;
    this.#inTurn = 0;
    return true;
  }

  #count(lexeme: string): void {
    switch (lexeme[0]) {
      case '[':
      case '{':
        this.#depth++;
        break;
      case ']':
      case '}':
        this.#depth--;
        break;
      case '%':
        this.#directives++;
        break;
      case '#':
        this.#comments++;
        break;
      case '*':
        this.#aliases++;
        break;
      default:
        if (lexeme !== '---' && lexeme !== '...') return;
        this.#documents++;
        this.#textLines = 0;
    }
  }
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

const TOO_FAULTY = `has more than ${MAX_FAULTS} broken documents; mend these first`;
const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;

/** The lexer's marks have no width: document start, end of flow, scalar follows. */
function isControl(lexeme: string): boolean {
  return lexeme === '\u0002' || lexeme === '\u0018' || lexeme === SCALAR_FOLLOWS;
}

interface Lines {
  linePos(offset: number): { line: number; col: number };
}

function faulty(lines: Lines, offset: number, message: string): YamlDocument {
  const { line, col } = lines.linePos(offset);
  return { line, itemLines: [], fault: { line, column: col, message } };
}

function readDocument(yaml: YamlLibrary, document: Document.Parsed, lines: Lines): YamlDocument {
  const { contents } = document;
  const start = contents?.range[0] ?? document.range[0];
  const error = document.errors[0];
  if (error !== undefined) return faulty(lines, error.pos[0], messageOfCode(error.code));
  const { line } = lines.linePos(start);
  try {
    const value = new ValueReader(yaml).read(contents);
    return { value, line, itemLines: itemLinesOf(yaml, contents, lines) };
  } catch (thrown) {
    if (thrown instanceof ReadFault) return faulty(lines, thrown.offset ?? start, thrown.message);
    throw thrown;
  }
}

function messageOfCode(code: string): string {
  return code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : `is not YAML: ${yamlFaultInWords(code)}`;
}

function itemLinesOf(yaml: YamlLibrary, contents: ParsedNode | null, lines: Lines): number[] {
  const items: unknown = yaml.isMap(contents) ? contents.get('items', true) : undefined;
  if (!yaml.isSeq(items)) return [];
  return items.items.map((item) => lines.linePos((item as Node).range?.[0] ?? 0).line);
}

class ReadFault extends Error {
  readonly offset: number | undefined;

  constructor(node: { range?: readonly number[] | null | undefined } | null | undefined, message: string) {
    super(message);
    this.offset = node?.range?.[0];
  }
}

/** Turns the nodes of one document into values. */
class ValueReader {
  readonly #yaml: YamlLibrary;
  readonly #anchors = new Map<string, Node>();
  /** Nodes being read: an alias to one of them has no end. */
  readonly #open = new Set<Node>();
  #aliasesOpen = 0;
  #aliasedValues = 0;

  constructor(yaml: YamlLibrary) {
    this.#yaml = yaml;
  }

  /** @throws ReadFault */
  read(node: unknown): unknown {
    const yaml = this.#yaml;
    if (node === null || node === undefined) return null;
    if (yaml.isAlias(node)) return this.#readAlias(node.source, node);
    if (!yaml.isNode(node)) throw new ReadFault(undefined, 'holds a value of an unknown shape');
    if (this.#aliasesOpen > 0) this.#countAliased(node);
    if (!yaml.isScalar(node) && !yaml.isMap(node) && !yaml.isSeq(node))
      throw new ReadFault(node, 'is not YAML');
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (yaml.isScalar(node)) return readScalar(node);
    if (this.#open.size >= MAX_DEPTH) throw new ReadFault(node, TOO_DEEP);
    checkTag(node, yaml.isMap(node) ? 'map' : 'seq');
    this.#open.add(node);
    const value = yaml.isMap(node) ? this.#readMap(node) : this.#readSequence(node);
    this.#open.delete(node);
    return value;
  }

  #readAlias(name: string, at: Node): unknown {
    const target = this.#anchors.get(name);
    if (target === undefined)
      throw new ReadFault(at, 'holds an alias to an anchor that is not set before it');
    if (this.#open.has(target)) throw new ReadFault(at, 'holds an alias inside of what it stands for');
    this.#aliasesOpen++;
    const value = this.read(target);
    this.#aliasesOpen--;
    return value;
  }

  #countAliased(node: Node): void {
    this.#aliasedValues++;
    if (this.#aliasedValues > MAX_ALIASED_VALUES) {
      throw new ReadFault(node, `has aliases that stand for more than ${MAX_ALIASED_VALUES} values`);
    }
  }

  #readSequence(node: YAMLSeq): unknown[] {
    return node.items.map((item) => this.read(item));
  }

  #readMap(node: YAMLMap): Record<string, unknown> {
    let merged: Record<string, unknown> | undefined;
    const own: Record<string, unknown> = {};
    for (const pair of node.items) {
      if (this.#isMerge(pair)) {
        merged ??= {};
        for (const source of this.#mergeSources(pair)) setAll(merged, source);
        continue;
      }
      const key = this.#readKey(pair.key, node);
      if (Object.hasOwn(own, key)) throw new ReadFault(pair.key as Node, 'has a key twice in one map');
      set(own, key, this.read(pair.value));
    }
    if (merged === undefined) return own;
    setAll(merged, own);
    return merged;
  }

  #isMerge({ key }: Pair): boolean {
    return this.#yaml.isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
  }

  /** Last first, since of several sources the first one wins. */
  #mergeSources(pair: Pair): Record<string, unknown>[] {
    const value = this.read(pair.value);
    const sources = (Array.isArray(value) ? value : [value]) as unknown[];
    if (!sources.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))) {
      throw new ReadFault(pair.key as Node, 'merges (<<) something that is not a map');
    }
    return (sources as Record<string, unknown>[]).toReversed();
  }

  #readKey(key: unknown, map: Node): string {
    const value = this.read(key);
    if (typeof value === 'string') return value;
    // As kubectl reads `1:` and `on:`, for JSON has no other keys.
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
      return String(value);
    throw new ReadFault((key as Node | null) ?? map, 'has a key that is not a string');
  }
}

function readScalar(node: {
  value: unknown;
  type?: string;
  tag?: string;
  range?: readonly number[] | null;
}): unknown {
  const text = typeof node.value === 'string' ? node.value : '';
  const tag = node.tag?.startsWith(CORE_TAG) === true ? node.tag.slice(CORE_TAG.length) : node.tag;
  if (tag === 'str' || tag === '!') return text;
  const typed = tag === 'int' || tag === 'float' || tag === 'bool' || tag === 'null';
  if (tag !== undefined && !typed) throw new ReadFault(node, 'has a tag that is not one of the plain types');
  if (!typed && node.type !== 'PLAIN') return text;
  const value = plainScalar(text);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new ReadFault(node, 'holds a number that JSON cannot carry (.inf or .nan)');
  }
  return value;
}

function checkTag(node: { tag?: string; range?: readonly number[] | null }, own: 'map' | 'seq'): void {
  const { tag } = node;
  if (tag === undefined || tag === `${CORE_TAG}${own}`) return;
  throw new ReadFault(node, 'has a tag that is not one of the plain types');
}

/** Keys such as `__proto__` are data. */
function set(target: Record<string, unknown>, key: string, value: unknown): void {
  // An assignment is the faster way, and the same for every other key.
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function setAll(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(source)) set(target, key, value);
}
