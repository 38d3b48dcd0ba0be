/**
 * A text of a running service as a schema sees it: what a ConfigMap holds (operator.md §5.6). The first document counts;
 * dates are texts and `80.0` is an integer, as in the generic view of a contract.
 */
import type { JsonValue } from './json-value.ts';
import type { YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { isMergeKey } from './yaml-merge.ts';
import { parseYaml } from './yaml-parse.ts';
import { FreeForm } from './yaml-values.ts';
import { behind, YamlWalk } from './yaml-walk.ts';

export type InstanceText =
  | { readonly outcome: 'value'; readonly value: JsonValue }
  /** It parses, and is nothing that JSON has: a mapping with keys that are no texts fits no schema. */
  | { readonly outcome: 'not-json' }
  /** It does not parse. */
  | { readonly outcome: 'unreadable' };

export function readYamlInstance(text: string): InstanceText {
  try {
    const root = parseYaml(text);
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

export function readJsonInstance(text: string): InstanceText {
  try {
    return { outcome: 'value', value: JSON.parse(text) as JsonValue };
  } catch {
    return { outcome: 'unreadable' };
  }
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
