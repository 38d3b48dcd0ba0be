/**
 * Writes YAML as yaml.v3 does: indented by four, texts quoted only where they would be read as something else
 * (contract.md §16.1). Aliases are written out.
 */
import { plainOrQuoted, literal, needsComplexKey } from './yaml-write-scalars.ts';
import type { YamlMapping, YamlNode, YamlScalar, YamlSequence } from './yaml-nodes.ts';
import { behind, YamlWalk } from './yaml-walk.ts';

const INDENT = 4;
/** Of what follows `- `. */
const ITEM_INDENT = 2;

/** @throws YamlProblem where the aliases stand for too much */
export function writeYaml(root: YamlNode): string {
  const writer = new Writer();
  writer.node(root, { indent: 0, inner: 0, inline: true });
  return writer.text;
}

interface Place {
  /** Of the collection that the node stands in. */
  readonly indent: number;
  /** Of what stands in the node. */
  readonly inner: number;
  /** Whether a collection goes on in the line that is open. */
  readonly inline: boolean;
}

class Writer {
  readonly #parts: string[] = [];
  readonly #walk = new YamlWalk();

  get text(): string {
    return this.#parts.join('');
  }

  /** Ends the line that is open. */
  node(node: YamlNode, place: Place): void {
    this.#walk.visit(node, (content) => {
      if (content.kind === 'mapping' && content.entries.length > 0) {
        if (!place.inline) this.#write('\n');
        this.#mapping(content, place);
      } else if (content.kind === 'sequence' && content.items.length > 0) {
        if (!place.inline) this.#write('\n');
        this.#sequence(content, place);
      } else {
        this.#write(place.inline ? '' : ' ', leaf(content, place), '\n');
      }
    });
  }

  #mapping(mapping: YamlMapping, { inner, inline }: Place): void {
    const value: Place = { indent: inner, inner: deeper(inner), inline: false };
    mapping.entries.forEach(([key, content], at) => {
      if (at > 0 || !inline) this.#write(' '.repeat(inner));
      const simple = this.#simpleKey(key);
      if (simple !== undefined) this.#write(simple, ':');
      else {
        this.#write('? ');
        this.node(key, { ...value, inline: true });
        this.#write(' '.repeat(inner), ':');
        if (isFilled(content)) {
          this.#write(' '.repeat(value.inner - inner - 1));
          this.node(content, { ...value, inline: true });
          return;
        }
      }
      this.node(content, value);
    });
  }

  #sequence(sequence: YamlSequence, { inner, inline }: Place): void {
    sequence.items.forEach((item, at) => {
      if (at > 0 || !inline) this.#write(' '.repeat(inner));
      this.#write('- ');
      this.node(item, { indent: inner, inner: inner + ITEM_INDENT, inline: true });
    });
  }

  #simpleKey(key: YamlNode): string | undefined {
    return this.#walk.visit(key, (content) =>
      content.kind === 'scalar' && !needsComplexKey(content.text) ? keyText(content) : undefined,
    );
  }

  #write(...parts: readonly string[]): void {
    this.#parts.push(...parts);
  }
}

/** yaml.v3 leaves the quotes off, and then takes its own text for a merge key. */
function keyText(key: YamlScalar): string {
  return key.tag === '!!str' && key.text === '<<' ? '"<<"' : scalar(key);
}

function isFilled(node: YamlNode): boolean {
  const content = behind(node);
  if (content.kind === 'mapping') return content.entries.length > 0;
  return content.kind === 'sequence' && content.items.length > 0;
}

function deeper(indent: number): number {
  return INDENT * Math.floor((indent + INDENT) / INDENT);
}

function leaf(content: YamlScalar | YamlMapping | YamlSequence, { indent, inner }: Place): string {
  if (content.kind === 'mapping') return '{}';
  if (content.kind === 'sequence') return '[]';
  const block = content.tag === '!!str' ? literal(content.text, indent, inner) : undefined;
  return block ?? scalar(content);
}

function scalar({ tag, text, tagged }: YamlScalar): string {
  if (tag === '!!str') return plainOrQuoted(text);
  if (!tagged) return text;
  const written = tag.startsWith('!') ? tag : `!<${tag}>`;
  return `${written} ${JSON.stringify(text)}`;
}
