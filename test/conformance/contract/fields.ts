import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** One line for each field that only one side has or that differs. */
export function fieldDifferences(recorded: Fields, ours: Fields): readonly string[] {
  return [...new Set([...Object.keys(recorded), ...Object.keys(ours)])].flatMap((name) =>
    isDeepStrictEqual(recorded[name], ours[name])
      ? []
      : [`${name}: recorded ${shown(recorded[name])}, ours ${shown(ours[name])}`],
  );
}

function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? 'none'
  );
}
