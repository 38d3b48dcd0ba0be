import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const LOG = fileURLToPath(new URL('../src/log.ts', import.meta.url));

/** Runs a program with `log` at hand and gives back what it wrote. */
async function linesOf(program: string): Promise<readonly string[]> {
  const source = `const { createLog } = await import(${JSON.stringify(LOG)});
    const log = createLog({ level: 'info', format: 'auto' });
    ${program}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

it('writes every buffered line when a process ends by itself, as JSON where nobody looks', async () => {
  const lines = await linesOf(`for (let n = 0; n < 3000; n++) log.info('decided', { count: n });`);
  expect(lines.map((line) => (JSON.parse(line) as { count: number }).count)).toEqual(
    Array.from({ length: 3000 }, (_, n) => n),
  );
});

it('writes every buffered line when a process exits at once', async () => {
  const lines = await linesOf(`for (let n = 0; n < 5; n++) log.info('decided', { count: n });
    await log.flush();
    process.exit(0);`);
  expect(lines).toHaveLength(5);
});

it('loses lines and says how many, instead of growing, where nobody takes them', async () => {
  // A file takes them as fast as they come: how fast a reader is would decide what is lost at the end.
  const directory = await mkdtemp(join(tmpdir(), 'gate-log-'));
  const file = await open(join(directory, 'out'), 'w+');
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `const { createLog } = await import(${JSON.stringify(LOG)});
      const log = createLog({ level: 'info', format: 'json' });
      const name = 'a'.repeat(400);
      // Without a turn of the event loop nothing can be written in between.
      for (let n = 0; n < 20000; n++) log.info('decided', { name });
      const lost = log.lost();
      await log.flush();
      log.info('end', { count: lost });`,
    ],
    { stdio: ['ignore', file.fd, 'inherit'] },
  );
  await once(child, 'close');
  await file.close();
  const lines = (await readFile(join(directory, 'out'), 'utf8')).split('\n').filter((line) => line !== '');
  await rm(directory, { recursive: true });
  const last = JSON.parse(lines.at(-1) ?? '') as { count: number };
  expect(last.count).toBeGreaterThan(0);
  expect(lines.length - 1 + last.count).toBe(20_000);
});

it('ends by itself although somebody begins to read when it is too late', async () => {
  const source = `const { createLog } = await import(${JSON.stringify(LOG)});
    const log = createLog({ level: 'info', format: 'json' });
    for (let n = 0; n < 20000; n++) log.info('decided', { name: 'a'.repeat(400) });
    await log.flush();
    process.stderr.write('flushed');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.stderr.once('data', () => child.stdout.resume());
  const [code] = await exit;
  child.stdout.destroy();
  expect(code).toBe(0);
});

it('counts lines that cannot be written, and ends all the same', async () => {
  const full = await open('/dev/full', 'w');
  const source = `const { createLog } = await import(${JSON.stringify(LOG)});
    const log = createLog({ level: 'info', format: 'json' });
    for (let n = 0; n < 100; n++) log.info('decided', { name: 'a'.repeat(400) });
    await log.flush();
    process.stderr.write(String(log.lost()));
    process.exit(0);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', full.fd, 'pipe'],
  });
  let lost = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (lost += text));
  const [code] = (await once(child, 'close')) as [number];
  await full.close();
  expect(code).toBe(0);
  expect(Number(lost)).toBeGreaterThan(0);
});
