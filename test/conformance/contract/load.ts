import { load } from '../../../src/policies/contract/load.ts';
import type { Comparer } from './case.ts';
import { differs, plain } from './compare.ts';

/** Layer 1 of the same cases is compared in validate.ts. */
export const comparers: Readonly<Record<string, Comparer>> = {
  load({ input, answer }) {
    const text = (input['files'] as Record<string, string>)['pacto.yaml'] ?? '';
    const loaded = load(text);
    const { generic } = loaded.document;
    return [
      ...differs('loads', answer?.['loadError'] === undefined, loaded.ok, loaded),
      ...differs('is JSON', answer?.['genericError'] === undefined, generic.ok, generic),
      ...(generic.ok && answer?.['genericError'] === undefined
        ? differs('generic view', plain(answer?.['generic']), plain(generic.value))
        : []),
      ...(loaded.ok && answer?.['typed'] !== undefined
        ? differs('typed view', typed(answer['typed']), typed(loaded.contract))
        : []),
    ];
  },
};

/** Fields that Go leaves out where they are empty, or where their part is. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'owner',
  'contacts',
  'interfaces',
  'configurations',
  'policies',
  'dependencies',
  'capabilities',
  'history',
]);

/** The typed view without what Go leaves out, or writes although it is empty. */
function typed(value: unknown): unknown {
  const entries = plain(value);
  return Array.isArray(entries) ? entries.map(withoutEmpty).filter((entry) => entry !== undefined) : entries;
}

function withoutEmpty(entry: unknown): unknown {
  if (!Array.isArray(entry)) return entry;
  const kept = entry.map(withoutEmpty).filter((inner) => inner !== undefined);
  const [key, inner] = kept as readonly unknown[];
  const empty = Array.isArray(inner) && inner.length === 0;
  return kept.length === 2 && typeof key === 'string' && LEFT_OUT.has(key) && empty ? undefined : kept;
}
