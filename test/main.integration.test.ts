import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

/** More than a pipe holds. */
const LONG = ['src/main.ts', 'explain', '-o', 'json'];

describe('the end of a command', { timeout: 60_000 }, () => {
  it('waits for a reader that is slow, so that nothing is cut off', async () => {
    // The reader takes a line, byte by byte, before the rest: the writer has filled the pipe long before.
    const child = spawn(
      'sh',
      [
        '-c',
        '{ "$0" "$@"; echo ended >&2; } | { read -r line; echo reading >&2; cat; }',
        process.execPath,
        ...LONG,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
    await once(child, 'close');
    expect(err.trim().split('\n').sort()).toEqual(['ended', 'reading']);
    expect(out.length).toBeGreaterThan(65_536);
    // The first line is the reader's.
    expect(() => JSON.parse(`[${out}`) as unknown).not.toThrow();
  });

  it('does not wait for a reader that is gone, and keeps its exit code', async () => {
    const child = spawn(process.execPath, LONG, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(0);
  });
});
