import { CONFIG_MAP, SECRET } from '../../cluster/kinds.ts';
import type { Trigger } from './trigger.ts';

/** Their metadata alone: contents are read when they are judged, and kept nowhere (operator.md §20, T8). */
export const CONFIG_OBJECTS: readonly Trigger[] = [CONFIG_MAP, SECRET].map((kind) => ({
  kind,
  scope: 'watched',
  optional: false,
  metadataOnly: true,
  keep: () => ({}),
  relations: () => [],
  // Any modification may be one of the contents.
  essence: ({ metadata }) => [metadata.uid, metadata.resourceVersion],
}));
