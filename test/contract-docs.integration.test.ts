import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingLines, stepsOf } from './support/readme.ts';

const PAGE = readFileSync('docs/contract.md', 'utf8');
/** What the page calls the reader's own folder. */
const OWN = /(?<= )my-cart\b/g;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'contract-docs-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const inDirectory = (text: string): string => text.replaceAll(OWN, `${directory}/my-cart`);

async function run(text: string): Promise<{ output: string; code: number }> {
  const child = spawn('sh', ['-c', text], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const [code] = (await once(child, 'close')) as [number];
  return { output, code };
}

it('teaches what the commands then show', { timeout: 120_000 }, async () => {
  const codes: number[] = [];
  for (const step of stepsOf(PAGE)) {
    if (step.does === 'write') {
      const file = join(directory, step.file);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, step.text);
      continue;
    }
    const { output, code } = await run(inDirectory(step.text));
    expect(missingLines(step, output), `${step.text}\n${output}`).toEqual([]);
    codes.push(code);
  }
  // Refused, explained, two files missing; the schema written, its values refused, taken; a policy written, kept, shown, not
  // ready; a stricter one written, broken, kept; Compliant, NonCompliant; packed, and taken again.
  expect(codes).toEqual([1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0]);
});
