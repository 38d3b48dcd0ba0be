/** Where in the text of a contract a path of a finding points: `interfaces[0].ref`, `interfaces.0.type`, `interfaces[name=web]`. */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLSeq } from 'yaml';

export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** Finds places in one contract; the text is parsed at the first question. */
export class ContractPlaces {
  readonly #text: string;
  readonly #lines = new LineCounter();
  #root: Node | null | undefined;
  /** Of lists in which entries were looked for by a field: the first with each value. */
  readonly #entries = new Map<Node, Map<string, ReadonlyMap<string, Node>>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns where the deepest part of the path that is there begins; undefined for an empty path or no YAML. */
  of(path: string): Place | undefined {
    const offset = this.#follow(path).shown?.range?.[0];
    if (offset === undefined) return undefined;
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** What stands at a path, to compare; undefined where nothing does. */
  textAt(path: string): string | undefined {
    const { value, isThere } = this.#follow(path);
    return isThere ? JSON.stringify(value, sortedKeys) : undefined;
  }

  /** Goes as far as the path leads. */
  #follow(path: string): Reached {
    this.#root ??= this.#parse();
    let at: Omit<Reached, 'isThere'> = { shown: undefined, value: this.#root };
    for (const step of stepsOf(path)) {
      const next = 'where' in step ? this.#entry(at.value, step) : stepInto(at.value, step);
      if (next === undefined) return { ...at, isThere: false };
      at = next;
    }
    return { ...at, isThere: true };
  }

  /** Findings are as many as entries: each must not look through all of them. */
  #entry(list: Node | null, { where, is }: Named): Found | undefined {
    if (!isSeq(list)) return undefined;
    const fields = this.#entries.get(list) ?? new Map<string, ReadonlyMap<string, Node>>();
    this.#entries.set(list, fields);
    const known = fields.get(where) ?? firstBy(list, where);
    fields.set(where, known);
    const item = known.get(is);
    return item === undefined ? undefined : { shown: item, value: item };
  }

  #parse(): Node | null {
    try {
      return parseDocument(this.#text, {
        lineCounter: this.#lines,
        uniqueKeys: false,
        logLevel: 'silent',
      }).contents;
    } catch {
      // A place is a courtesy: what is wrong with the text has been said already.
      return null;
    }
  }
}

interface Named {
  readonly where: string;
  readonly is: string;
}

type Step = { readonly key: string } | Named;

interface Found {
  readonly shown: Node;
  readonly value: Node | null;
}

/** The deepest part of a path that is there. */
interface Reached {
  /** Undefined where that is the whole text. */
  readonly shown: Node | undefined;
  readonly value: Node | null;
  /** Whether the path ends there. */
  readonly isThere: boolean;
}

function firstBy(list: YAMLSeq, field: string): ReadonlyMap<string, Node> {
  const first = new Map<string, Node>();
  for (const item of list.items) {
    if (!isMap(item)) continue;
    const value = String(item.get(field));
    if (!first.has(value)) first.set(value, item);
  }
  return first;
}

/** `a.0.b`, `a[0].b` and `a[name=x].b`; the last only at the end of a segment, for names hold dots. */
function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  for (const [, key, index, where, is] of path.matchAll(
    /([^.[\]]+)|\[(\d+)\]|\[(name|type|ref)=((?:[^\]])*)\]/g,
  )) {
    if (where !== undefined && is !== undefined) steps.push({ where, is });
    else steps.push({ key: index ?? key ?? '' });
  }
  return steps;
}

/** @returns the value to go on in, and what to point at: the key of a mapping, where there is one. */
function stepInto(node: Node | null, step: { readonly key: string }): Found | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step.key)] as Node | undefined;
    return item === undefined ? undefined : { shown: item, value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step.key);
  if (pair === undefined || !isScalar(pair.key)) return undefined;
  return { shown: pair.key, value: pair.value as Node | null };
}

/** Overrides are written back in the order of keys. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
