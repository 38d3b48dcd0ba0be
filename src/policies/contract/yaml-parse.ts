/**
 * Reads the first document of a YAML text, as yaml.v3 would (contract.md §2.2, §2.3). The `yaml` package finds the nodes;
 * what their texts stand for is ours, and so is what Go refuses and the package would take.
 */
import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml';
import type { CST, Document, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';

import type { YamlMapping, YamlNode, YamlSequence } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { readPlainYaml } from './yaml-plain.ts';
import { checkCharacters, checkDirective } from './yaml-refusals.ts';
import { resolvePlain } from './yaml-scalars.ts';
import { quotesNeeded, slipOf } from './yaml-slips.ts';
import { MAX_DEPTH, TokenCheck } from './yaml-tokens.ts';

/** A bracket that is closed further left than YAML asks for is fine in Go. */
const TAKEN_ANYWAY = /^Flow (?:map|sequence) in block collection must be sufficiently indented/;

/** The document around the nest, and the scalar in it. */
const OUTER_TOKENS = 2;

const ENDS_FIRST = 'a document ends before it begins';
const BLANK_WITH_TAB = /^ *\t/m;

const LONG_TAG = 'tag:yaml.org,2002:';

/**
 * @returns undefined for a text without any document: blank, or only comments
 * @throws YamlProblem with the line
 */
export function parseYaml(source: string): YamlNode | undefined {
  return readPlainYaml(source) ?? parseAnyYaml(source);
}

/** As `parseYaml`, by the package alone: what `readPlainYaml` is held to. */
export function parseAnyYaml(source: string): YamlNode | undefined {
  checkCharacters(source);
  const text = source.replace(/\r\n?|\u0085/g, '\n');
  const lines = new LineCounter();
  const document = firstDocument(text, lines);
  if (document === undefined) return undefined;
  const problem = document.errors.find(({ message }) => !TAKEN_ANYWAY.test(message));
  if (problem !== undefined) throw faultOf(problem, text, lines);
  return new Reader(text, lines).read(document.contents);
}

function faultOf(problem: Parameters<typeof slipOf>[0], text: string, lines: LineCounter): YamlProblem {
  const { said, offset } = slipOf(problem, text);
  return new YamlProblem(said, { line: lines.linePos(offset).line });
}

type Source = number | readonly [number, number] | { readonly offset: number };

/**
 * The package makes an error, with its stack, of each of the hundred thousands of faults that a text may have, which takes
 * half a minute. This is a field that its types call private: were it none, all would be made, and the first found later.
 */
function stopAtFirstFault(composer: Composer, text: string, lines: LineCounter): void {
  let first: YamlProblem | undefined;
  Reflect.set(composer, 'onError', (source: Source, code: string, message: string, isWarning?: boolean) => {
    if (isWarning === true || TAKEN_ANYWAY.test(message)) return;
    const [offset] = typeof source === 'number' ? [source] : 'offset' in source ? [source.offset] : source;
    // It catches what is thrown inside it, and comes again.
    first ??= faultOf({ code, message, pos: [offset, offset] }, text, lines);
    throw first;
  });
}

/** What follows the first document is never looked at, so it may be broken (contract.md §2.2). */
function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  const composer = new Composer({
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  stopAtFirstFault(composer, text, lines);
  const check = new TokenCheck(text, (offset) => lines.linePos(offset).line);
  let begun: 'directive' | 'document' | undefined;
  for (const token of tokensOf(text, lines)) {
    const ends = token.type === 'document' || token.type === 'directive' || token.type === 'doc-end';
    if (ends && begun === 'document') break;
    if (token.type === 'doc-end') throw new YamlProblem(ENDS_FIRST);
    if (token.type === 'directive') {
      checkDirective(token.source);
      begun = 'directive';
    }
    if (token.type === 'document') {
      if (token.value === undefined && token.start.length === 0) throw new YamlProblem(ENDS_FIRST);
      check.check(token);
      begun = 'document';
    }
    // It hands nothing over before the second document.
    composer.next(token).next();
  }
  if (begun === 'directive') throw new YamlProblem('no document follows its directive');
  if (begun === undefined && BLANK_WITH_TAB.test(text))
    throw new YamlProblem('a tab stands where a document may begin');
  return composer.end().next().value ?? undefined;
}

/** Gives up as soon as the text goes too deep, rather than after all of it. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH + OUTER_TOKENS) {
      const { line } = lines.linePos(parser.offset);
      throw new YamlProblem(`it is nested more than ${String(MAX_DEPTH)} levels deep`, { line });
    }
  }
  yield* parser.end();
}

class Reader {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, YamlNode>();

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  read(node: ParsedNode | null): YamlNode {
    if (node === null) return { kind: 'scalar', tag: '!!null', text: '', tagged: false, line: 1 };
    const line = this.#lines.linePos(node.range[0]).line;
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined)
        throw new YamlProblem(`no anchor before it has the name of this alias: ${quotesNeeded('*')}`, {
          line,
        });
      return { kind: 'alias', anchor: node.source, target, line };
    }
    if (isScalar(node)) {
      return this.#named(node.anchor, scalar(node, this.#textOf(node), line));
    }
    if (isMap(node)) return this.#mapping(node, line);
    if (isSeq(node)) return this.#sequence(node, line);
    throw new YamlProblem('it is no value', { line });
  }

  /** A block in the last line has no line end if the file has none there. */
  #textOf(node: Scalar.Parsed): string {
    const text = typeof node.value === 'string' ? node.value : '';
    const block = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const cut =
      block && node.range[1] === this.#text.length && !this.#text.endsWith('\n') && text.endsWith('\n');
    return cut ? text.slice(0, -1) : text;
  }

  /** It has its name before its content, so that an alias inside can name it. */
  #mapping(node: YAMLMap.Parsed, line: number): YamlMapping {
    const entries: [YamlNode, YamlNode][] = [];
    const mapping = this.#named(node.anchor, { kind: 'mapping', entries, line });
    for (const { key, value } of node.items) {
      const name = this.read(key);
      entries.push([name, this.read(value)]);
    }
    return mapping;
  }

  #sequence(node: YAMLSeq.Parsed, line: number): YamlSequence {
    const items: YamlNode[] = [];
    const sequence = this.#named(node.anchor, { kind: 'sequence', items, line });
    for (const item of node.items) items.push(this.read(item));
    return sequence;
  }

  #named<N extends YamlNode>(anchor: string | undefined, node: N): N {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }
}

function scalar(node: Scalar.Parsed, text: string, line: number): YamlNode {
  const plain = node.type === undefined || node.type === 'PLAIN';
  const written = node.tag === undefined || node.tag === '!' ? '' : node.tag;
  if (written !== '') {
    const tag = written.startsWith(LONG_TAG) ? `!!${written.slice(LONG_TAG.length)}` : written;
    return { kind: 'scalar', tag, text, tagged: true, line };
  }
  const tag = !plain ? '!!str' : text === '<<' ? '!!merge' : resolvePlain(text).tag;
  return { kind: 'scalar', tag, text, tagged: false, line };
}
