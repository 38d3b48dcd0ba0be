/**
 * Reads the first document of a YAML text, as yaml.v3 would (contract.md §2.2, §2.3). The `yaml` package finds the nodes;
 * what their texts stand for is ours, and so is what Go refuses and the package would take.
 */
import { Composer, isAlias, isMap, isScalar, isSeq, LineCounter, Parser } from 'yaml';
import type { Document, ParsedNode } from 'yaml';

import { checkDepth } from './yaml-depth.ts';
import type { YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { checkCharacters, checkDirective, checkScalar } from './yaml-refusals.ts';
import { resolvePlain } from './yaml-scalars.ts';

const LONG_TAG = 'tag:yaml.org,2002:';

/**
 * @returns undefined for a text without any document: blank, or only comments
 * @throws YamlProblem with the line
 */
export function parseYaml(source: string): YamlNode | undefined {
  checkCharacters(source);
  const text = source.replace(/\r\n?|\u0085/g, '\n');
  const lines = new LineCounter();
  const document = firstDocument(text, lines);
  if (document === undefined) return undefined;
  const [problem] = document.errors;
  if (problem !== undefined) throw new YamlProblem(`line ${line(lines, problem.pos[0])}: ${problem.message}`);
  return new Reader(lines).read(document.contents);
}

/** What follows the first document is never looked at, so it may be broken (contract.md §2.2). */
function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  const composer = new Composer({
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    keepSourceTokens: true,
    prettyErrors: false,
    logLevel: 'silent',
  });
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    if (token.type === 'directive') checkDirective(token.source);
    if (token.type === 'document') checkDepth(token);
    for (const document of composer.next(token)) return document;
  }
  for (const document of composer.end()) return document;
  return undefined;
}

function line(lines: LineCounter, offset: number): string {
  return String(lines.linePos(offset).line);
}

class Reader {
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, YamlNode>();

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  read(node: ParsedNode | null): YamlNode {
    if (node === null) return { kind: 'scalar', tag: '!!null', text: '', tagged: false, line: 1 };
    const line = this.#lines.linePos(node.range[0]).line;
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined)
        throw new YamlProblem(`line ${String(line)}: no anchor before it has the name of this alias`);
      return { kind: 'alias', anchor: node.source, target, line };
    }
    if (isScalar(node)) {
      checkScalar(node.srcToken, line);
      return this.#named(node.anchor, scalar(node, line));
    }
    if (isMap(node)) {
      const read = this.#named(node.anchor, { kind: 'mapping', entries: [], line } as const);
      for (const { key, value } of node.items) {
        const name = this.read(key);
        (read.entries as [YamlNode, YamlNode][]).push([name, this.read(value)]);
      }
      return read;
    }
    if (!isSeq(node)) throw new YamlProblem(`line ${String(line)}: it is no value`);
    const read = this.#named(node.anchor, { kind: 'sequence', items: [], line } as const);
    for (const item of node.items) (read.items as YamlNode[]).push(this.read(item));
    return read;
  }

  #named<N extends YamlNode>(anchor: string | undefined, node: N): N {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }
}

function scalar(node: { value: unknown; type?: unknown; tag?: string }, line: number): YamlNode {
  const text = typeof node.value === 'string' ? node.value : '';
  const plain = node.type === undefined || node.type === 'PLAIN';
  const written = node.tag === undefined || node.tag === '!' ? '' : node.tag;
  if (written !== '') {
    const tag = written.startsWith(LONG_TAG) ? `!!${written.slice(LONG_TAG.length)}` : written;
    return { kind: 'scalar', tag, text, tagged: true, line };
  }
  const tag = !plain ? '!!str' : text === '<<' ? '!!merge' : resolvePlain(text).tag;
  return { kind: 'scalar', tag, text, tagged: false, line };
}
