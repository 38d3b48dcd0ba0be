/** What a process told of its event loop. */
import { readFileSync } from 'node:fs';
import type { Stall } from './result.ts';

/** Of the lines of stall-probe.ts that are of this time or later, up to another. */
export function longestStall(file: string, fromMs: number, toMs = Number.POSITIVE_INFINITY): Stall {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ').map(Number))
    .filter(([atMs = 0]) => atMs >= fromMs && atMs <= toMs);
  if (lines.length === 0) throw new Error('the process told nothing of its event loop');
  const longest = (column: number): number => Math.max(...lines.map((line) => line[column] ?? 0));
  return { ms: longest(1), cpuMs: longest(2) };
}
