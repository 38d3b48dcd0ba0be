/** What nodes stand for where nothing says what is due: the generic view, and the free-form parts of the typed one. */
import { quote } from '../quote.ts';
import type { JsonValue } from './json-value.ts';
import { goFloat } from './go-float.ts';
import { mergeParts, isMergeKey, refuseRepeatedKeys } from './yaml-merge.ts';
import type { YamlMapping, YamlNode, YamlScalar } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import type { Resolved } from './yaml-scalars.ts';
import { resolvePlain } from './yaml-scalars.ts';
import { canonicalTimestamp } from './yaml-timestamps.ts';
import type { YamlWalk } from './yaml-walk.ts';
import { behind } from './yaml-walk.ts';

export interface FreeFormRules {
  /** Whether a date keeps its text (contract.md §2.3 h) or becomes what Go writes for a time. */
  readonly dates: 'verbatim' | 'canonical';
  /** Whether NaN and the infinities are refused, which JSON does not have (contract.md §2.3 m). */
  readonly json: boolean;
  /** Whether a double comes as a `Number` object: what it was must be known where it is written back (design decision 2). */
  readonly doubles?: 'boxed';
}

const RESOLVABLE: ReadonlySet<string> = new Set(['!!bool', '!!int', '!!float', '!!null', '!!timestamp']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The value of a scalar under its tag; a tag that nobody knows leaves the text.
 * @throws YamlProblem if the text is not what the tag says
 */
export function scalarValue(node: YamlScalar): Resolved {
  const { tag, text } = node;
  if (tag === '!!binary') return { tag, value: fromBase64(node) };
  if (!RESOLVABLE.has(tag)) return { tag, value: text };
  const resolved = resolvePlain(text, node.tagged ? tag : '');
  if (resolved.tag === tag) return resolved;
  if (tag === '!!float' && resolved.tag === '!!int' && !isUnsigned(resolved.value)) {
    return { tag, value: Number(resolved.value) };
  }
  // Not the text, which may be a secret among the values of a configuration.
  throw new YamlProblem(`what is tagged ${tag} is no ${tag.slice(2)}`, node);
}

/** Only signed integers become floats in yaml.v3. */
function isUnsigned(value: Resolved['value']): boolean {
  return typeof value === 'bigint' && value >= 2n ** 63n;
}

function fromBase64(node: YamlScalar): string {
  const text = node.text.replaceAll(/[\r\n]/g, '');
  if (!BASE64.test(text)) throw new YamlProblem('it is no base64', node);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.from(atob(text), (character) => character.charCodeAt(0)),
  );
}

/** One tree of values: keep one for each view, as the walk counts. */
export class FreeForm {
  readonly #walk: YamlWalk;
  readonly #rules: FreeFormRules;

  constructor(walk: YamlWalk, rules: FreeFormRules) {
    this.#walk = walk;
    this.#rules = rules;
  }

  read(node: YamlNode): JsonValue {
    return this.#walk.visit(node, (content): JsonValue => {
      if (content.kind === 'scalar') return this.#scalar(content);
      if (content.kind === 'sequence') return content.items.map((item) => this.read(item));
      return this.readMapping(content, hasTextKeys(content));
    });
  }

  /** @param textKeys whether every key is taken as its text, and one that is null is left out */
  readMapping(mapping: YamlMapping, textKeys: boolean): Record<string, JsonValue> {
    const into = Object.create(null) as Record<string, JsonValue>;
    this.#fill(into, mapping, textKeys, undefined);
    return into;
  }

  #fill(
    into: Record<string, JsonValue>,
    mapping: YamlMapping,
    textKeys: boolean,
    merged: Set<string> | undefined,
  ): void {
    refuseRepeatedKeys(mapping);
    let merge: YamlNode | undefined;
    for (const [name, value] of mapping.entries) {
      if (isMergeKey(name)) {
        merge = value;
        continue;
      }
      const key = this.#key(name, textKeys);
      if (key === undefined) continue;
      if (merged?.has(key.identity) === true) continue;
      merged?.add(key.identity);
      into[key.text] = this.read(value);
    }
    if (merge === undefined) return;
    const seen = merged ?? this.#identities(mapping);
    for (const part of mergeParts(merge)) {
      this.#walk.visit(part, (content) => {
        if (content.kind === 'mapping') this.#fill(into, content, textKeys, seen);
      });
    }
  }

  #identities(mapping: YamlMapping): Set<string> {
    return new Set(mapping.entries.map(([name]) => this.#key(name, false)?.identity ?? ''));
  }

  #key(node: YamlNode, asText: boolean): { readonly text: string; readonly identity: string } | undefined {
    return this.#walk.visit(node, (content) => {
      if (content.kind !== 'scalar') {
        throw new YamlProblem(
          `a key is a ${content.kind}: a text that begins with a bracket must be put in quotes`,
          node,
        );
      }
      const { tag, value } = this.#keyValue(content);
      if (asText) {
        if (value === null) return undefined;
        const text = tag === '!!binary' ? String(value) : content.text;
        return { text, identity: `string ${text}` };
      }
      const text = value === null ? '<nil>' : tag === '!!float' ? goFloat(Number(value)) : String(value);
      return { text, identity: `${tag === '!!float' ? tag : typeof value} ${text}` };
    });
  }

  #keyValue(node: YamlScalar): Resolved {
    const verbatim = this.#rules.dates === 'verbatim' && node.tag === '!!timestamp';
    return verbatim ? { tag: '!!str', value: node.text } : scalarValue(node);
  }

  #scalar(node: YamlScalar): JsonValue {
    const verbatim = this.#rules.dates === 'verbatim';
    if (node.tag === '!!timestamp' && verbatim) return node.text;
    const { tag, value } = scalarValue(node);
    if (tag === '!!timestamp') return canonicalTimestamp(node.text) ?? node.text;
    if (this.#rules.json && typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlProblem(`JSON has no ${quote(node.text)}`, node);
    }
    return tag === '!!float' && this.#rules.doubles === 'boxed' ? (Object(value) as number) : value;
  }
}

function hasTextKeys(mapping: YamlMapping): boolean {
  return mapping.entries.every(([name]) => {
    const node = behind(name);
    return node.kind === 'scalar' && (node.tag === '!!str' || node.tag === '!!merge');
  });
}
