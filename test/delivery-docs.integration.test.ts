import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { REASON_CODES } from '../src/policies/delivery/decision.ts';
import { missingLines, sectionOf, stepsOf } from './support/readme.ts';

const PAGE = readFileSync('docs/delivery.md', 'utf8');
/** What the page calls the reader's own directory. */
const OWN = / (?=my-gate\b)/g;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'delivery-docs-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

async function run(text: string): Promise<{ output: string; code: number }> {
  const child = spawn('sh', ['-c', text], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const [code] = (await once(child, 'close')) as [number];
  return { output, code };
}

describe('docs/delivery.md', () => {
  it('shows a promotion that is blocked and then released', { timeout: 120_000 }, async () => {
    const codes: number[] = [];
    for (const step of stepsOf(sectionOf(PAGE, 'Try it'))) {
      if (step.does !== 'run') throw new Error('the page writes no files');
      const text = step.text.replaceAll(OWN, ` ${directory}/`);
      const { output, code } = await run(text);
      expect(missingLines(step, output), `${text}\n${output}`).toEqual([]);
      codes.push(code);
    }
    expect(codes).toEqual([0, 0, 1, 0, 0]);
  });

  it('explains every code, in the order of the program', () => {
    const [, table = ''] = PAGE.split('### Codes');
    const [section = ''] = table.split('\n## ');
    const explained = Array.from(section.matchAll(/^\| `([A-Z_]+)`/gm), ([, code = '']) => code);
    expect(explained).toEqual([...REASON_CODES]);
  });
});
