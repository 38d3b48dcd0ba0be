import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

interface Cost {
  readonly objects: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly longestStallMs: number;
}

/** design §6: a reconciler with 10,000 pods. */
const PEAK_MIB = 250;
/**
 * The budget is 120 ms, and 37 to 124 ms were measured with three times more work than cores. Here the process may be
 * put aside for longer than that by others; what must be seen is a list that is parsed in one piece (3.5 s).
 */
const STALL_MS = 1_000;

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
});

function run(file: URL, ...args: string[]): { child: ChildProcess; firstLine: Promise<string> } {
  const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  return { child, firstLine: once(lines, 'line').then(([line]) => String(line)) };
}

it('lists 10,000 pods of 11 KB within its memory, and lets other work pass meanwhile', async () => {
  const server = run(new URL('./support/big-list-server.ts', import.meta.url));
  const { url } = JSON.parse(await server.firstLine) as { url: string };
  const client = run(new URL('./support/big-list-client.ts', import.meta.url), url);
  const cost = JSON.parse(await client.firstLine) as Cost;
  await once(client.child, 'close');
  process.stdout.write(`10,000 pods: ${JSON.stringify(cost)}\n`);
  expect(cost.objects).toBe(10_000);
  expect(cost.peakMiB).toBeLessThan(PEAK_MIB);
  expect(cost.longestStallMs).toBeLessThan(STALL_MS);
});
