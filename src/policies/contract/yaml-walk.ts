/** Walks nodes through their aliases, within the limits that yaml.v3 has and those of a stack. */
import { MAX_DEPTH } from './yaml-tokens.ts';
import type { YamlAlias, YamlMapping, YamlNode, YamlScalar, YamlSequence } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';

/** yaml.v3's limits: below these sizes anything goes, above them aliases may make up this share of all values. */
const FREE_ALIASED = 100;
const FREE_VALUES = 1000;
const SMALL = { values: 400_000, share: 0.99 };
const LARGE = { values: 4_000_000, share: 0.1 };

type Content = YamlScalar | YamlMapping | YamlSequence;

export class YamlWalk {
  readonly #open = new Set<YamlAlias>();
  #values = 0;
  #aliased = 0;
  #depth = 0;

  /**
   * Hands over the node, or the one that it is an alias of.
   * @throws YamlProblem for an alias that contains itself, too many of them, or too deep a nest
   */
  visit<T>(node: YamlNode, read: (content: Content) => T): T {
    this.#count();
    if (this.#depth >= MAX_DEPTH) {
      throw new YamlProblem(`it is nested more than ${String(MAX_DEPTH)} levels deep`, node);
    }
    this.#depth += 1;
    try {
      if (node.kind !== 'alias') return read(node);
      if (this.#open.has(node)) {
        throw new YamlProblem('the value of an anchor contains itself', node);
      }
      this.#open.add(node);
      const value = this.visit(node.target, read);
      this.#open.delete(node);
      return value;
    } finally {
      this.#depth -= 1;
    }
  }

  #count(): void {
    this.#values += 1;
    if (this.#open.size > 0) this.#aliased += 1;
    if (this.#aliased <= FREE_ALIASED || this.#values <= FREE_VALUES) return;
    if (this.#aliased / this.#values > allowedShare(this.#values)) {
      throw new YamlProblem('its aliases stand for too many values');
    }
  }
}

function allowedShare(values: number): number {
  if (values <= SMALL.values) return SMALL.share;
  if (values >= LARGE.values) return LARGE.share;
  const along = (values - SMALL.values) / (LARGE.values - SMALL.values);
  return SMALL.share - (SMALL.share - LARGE.share) * along;
}

/** What an alias names; an alias never names another. */
export function behind(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? node.target : node;
}
