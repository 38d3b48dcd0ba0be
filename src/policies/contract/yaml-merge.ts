/** Merge keys and repeated keys (contract.md §2.3 j, l). */
import { quote } from '../quote.ts';
import type { YamlMapping, YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { behind } from './yaml-walk.ts';

export function isMergeKey(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.text === '<<' && node.tag === '!!merge';
}

/**
 * The mappings that a merge key brings in, aliases as they are: what comes first wins.
 * @throws YamlProblem if there is anything else among them
 */
export function mergeParts(value: YamlNode): readonly YamlNode[] {
  const parts = value.kind === 'sequence' ? value.items : [value];
  for (const part of parts) {
    if (behind(part).kind !== 'mapping') {
      throw new YamlProblem('a merge key takes a mapping or a list of mappings', part);
    }
  }
  return parts;
}

/** Keys are the same if their texts are, whatever their types: `1` and `"1"`; and any two lists or mappings are. */
export function refuseRepeatedKeys(mapping: YamlMapping): void {
  if (mapping.entries.length < 2) return;
  const seen = new Set<string>();
  for (const [key] of mapping.entries) {
    const text = key.kind === 'scalar' ? key.text : key.kind === 'alias' ? key.anchor : '';
    const identity = `${key.kind} ${text}`;
    if (seen.has(identity)) {
      throw new YamlProblem(`the key ${quote(text)} is there twice`, key);
    }
    seen.add(identity);
  }
}
