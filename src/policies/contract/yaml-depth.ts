/** How deep a document may be nested. */
import type { CST } from 'yaml';

import { YamlProblem } from './yaml-nodes.ts';

/**
 * Nesting that is read at most. yaml.v3 stops at 10,000; the rules after it walk a document by recursion, here as in the
 * JSON Schema worker, so ours must stay far from the end of a stack.
 */
export const MAX_DEPTH = 1000;

/** Looks at the token tree without recursion, before anything else does. */
export function checkDepth(document: CST.Document): void {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [];
  if (document.value !== undefined) open.push({ token: document.value, depth: 0 });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token } = next;
    if (token.type !== 'block-map' && token.type !== 'block-seq' && token.type !== 'flow-collection')
      continue;
    const depth = next.depth + 1;
    if (depth > MAX_DEPTH) {
      throw new YamlProblem(`it is nested more than ${String(MAX_DEPTH)} levels deep`);
    }
    for (const item of token.items) {
      if (item.key !== undefined && item.key !== null) open.push({ token: item.key, depth });
      if (item.value !== undefined) open.push({ token: item.value, depth });
    }
  }
}
