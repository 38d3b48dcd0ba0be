/** Where in the text of a contract a path of a finding points: `interfaces[0].ref`, `interfaces.0.type`, `interfaces[name=web]`. */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml';

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

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns where the deepest part of the path that is there begins; undefined for an empty path or no YAML. */
  of(path: string): Place | undefined {
    if (path === '') return undefined;
    this.#root ??= this.#parse();
    let node: Node | null | undefined = this.#root;
    let found: Node | undefined;
    for (const step of stepsOf(path)) {
      const next = stepInto(node, step);
      if (next === undefined) break;
      found = next.shown;
      node = next.value;
    }
    const offset = found?.range?.[0];
    if (offset === undefined) return undefined;
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** What stands at a path, to compare; undefined where nothing does. */
  textAt(path: string): string | undefined {
    this.#root ??= this.#parse();
    let node: Node | null | undefined = this.#root;
    for (const step of stepsOf(path)) {
      const next = stepInto(node, step);
      if (next === undefined) return undefined;
      node = next.value;
    }
    return JSON.stringify(node, sortedKeys);
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

type Step = { readonly key: string } | { readonly where: string; readonly is: string };

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
function stepInto(
  node: Node | null | undefined,
  step: Step,
): { shown: Node; value: Node | null } | undefined {
  if ('where' in step) {
    if (!isSeq(node)) return undefined;
    const item = node.items.find((one) => isMap(one) && String(one.get(step.where)) === step.is);
    return isMap(item) ? { shown: item, value: item } : undefined;
  }
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
