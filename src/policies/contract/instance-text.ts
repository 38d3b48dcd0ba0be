/**
 * A text of a running service as a schema sees it: what a ConfigMap holds (operator.md §5.6). The first document counts;
 * dates are texts and `80.0` is an integer, as in the generic view of a contract.
 */
import type { JsonValue } from './json-value.ts';
import type { YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { isMergeKey } from './yaml-merge.ts';
import { parseAnyYaml } from './yaml-parse.ts';
import { readPlainYaml } from './yaml-plain.ts';
import { FreeForm } from './yaml-values.ts';
import { behind, YamlWalk } from './yaml-walk.ts';

export type InstanceText =
  | { readonly outcome: 'value'; readonly value: JsonValue }
  /** It parses, and is nothing that JSON has: a mapping with keys that are no texts fits no schema. */
  | { readonly outcome: 'not-json' }
  /** It does not parse, or is too long to be tried. */
  | { readonly outcome: 'unreadable' };

/** What an object of Kubernetes can hold, in UTF-16 units. Read by us alone it takes 200 ms at most. */
const LONGEST = 1024 * 1024;
/** Of a text that only the package reads, with anchors, tags or several documents: a millisecond a KiB. */
const LONGEST_ODD = 64 * 1024;

export function readYamlInstance(text: string): InstanceText {
  if (text.length > LONGEST) return { outcome: 'unreadable' };
  try {
    const plain = readPlainYaml(text);
    if (plain === undefined && text.length > LONGEST_ODD) return { outcome: 'unreadable' };
    const root = plain ?? parseAnyYaml(text);
    if (root === undefined) return { outcome: 'value', value: null };
    if (hasOtherKeys(root, new Set())) return { outcome: 'not-json' };
    return {
      outcome: 'value',
      value: new FreeForm(new YamlWalk(), { dates: 'verbatim', json: true }).read(root),
    };
  } catch (error) {
    if (error instanceof YamlProblem) return { outcome: 'unreadable' };
    throw error;
  }
}

/** As Go's `json.Unmarshal`, which refuses a number that no double holds. */
export function readJsonInstance(text: string): InstanceText {
  if (text.length > LONGEST) return { outcome: 'unreadable' };
  try {
    const value = JSON.parse(text) as JsonValue;
    return isFinite(value) ? { outcome: 'value', value } : { outcome: 'unreadable' };
  } catch {
    return { outcome: 'unreadable' };
  }
}

/** Without recursion: a text may be nested as deep as it is long. */
function isFinite(root: JsonValue): boolean {
  const left: JsonValue[] = [root];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) left.push(inner);
  }
  return true;
}

/** @param seen what aliases lead to is looked at once. */
function hasOtherKeys(node: YamlNode, seen: Set<YamlNode>): boolean {
  const content = behind(node);
  if (content.kind === 'scalar' || content.kind === 'alias' || seen.has(content)) return false;
  seen.add(content);
  if (content.kind === 'sequence') return content.items.some((item) => hasOtherKeys(item, seen));
  return content.entries.some(([name, value]) => {
    const key = behind(name);
    const isText = key.kind === 'scalar' && (key.tag === '!!str' || isMergeKey(name));
    return !isText || hasOtherKeys(value, seen);
  });
}
