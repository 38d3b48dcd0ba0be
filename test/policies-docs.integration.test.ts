import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingLines, stepsOf } from './support/readme.ts';

const PAGE = readFileSync('docs/policies.md', 'utf8');
/** What the page calls the reader's own directory and file. */
const OWN = / (?=my-policies\b|my-road\b|my-gitops\b|gate\.yaml\b)/g;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'policies-docs-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function inDirectory(text: string): string {
  return text.replaceAll(OWN, ` ${directory}/`);
}

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
  const steps = stepsOf(PAGE);
  const codes: number[] = [];
  for (const step of steps) {
    if (step.does === 'write') {
      const file = join(directory, step.file);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, inDirectory(step.text));
      continue;
    }
    const { output, code } = await run(inDirectory(step.text));
    expect(step).not.toMatchObject({ shown: [] });
    expect(missingLines(step, output), `${step.text}\n${output}`).toEqual([]);
    codes.push(code);
  }
  // Refused, taken with a warning, taken; two warnings, explained, none; denied, one case failed, all passed,
  // denied twice, denied by the webhook.
  expect(codes).toEqual([1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]);
});
