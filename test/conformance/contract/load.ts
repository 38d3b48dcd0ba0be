import { load } from '../../../src/policies/contract/load.ts';
import type { Comparer } from './case.ts';

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

function differs(what: string, recorded: unknown, ours: unknown, why?: unknown): readonly string[] {
  const [left, right] = [JSON.stringify(recorded), JSON.stringify(ours)];
  if (left === right) return [];
  return [
    `${what}: recorded ${left}, ours ${right}${why === undefined ? '' : ` (${JSON.stringify(plain(why))})`}`,
  ];
}

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

/** Sorted, numbers as doubles (the engine's JSON has them so), and without fields that are left out of either side. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || Object.prototype.toString.call(value) === '[object Number]')
    return Number(value) + 0;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The same of the typed view: without what Go leaves out, or writes although it is empty. */
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
