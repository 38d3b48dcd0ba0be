/** Verdicts follow the files that stand for a cluster, as `npm start` shows them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './support/conditions.ts';

/** From the change of a file to the verdict. */
const FOLLOWS_MS = 1_000;

let directory: string;
let server: ChildProcess;
let output = '';

/** Verdicts of a Pacto, in the order in which they were said. */
function verdicts(name: string): readonly string[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"message":"verdict"'))
    .map((line) => JSON.parse(line) as { name: string; verdict: string })
    .filter((line) => line.name === name)
    .map(({ verdict }) => verdict);
}

async function change(file: string, from: string, to: string): Promise<void> {
  const path = join(directory, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'app-verdicts-'));
  cpSync('examples/cluster', directory, { recursive: true });
  server = spawn(
    process.execPath,
    [
      'src/main.ts',
      'serve',
      '--config=examples/pacto-gate.yaml',
      `--cluster-directory=${directory}`,
      `--tls-ca-out-file=${join(directory, 'ca.crt')}`,
      ...['webhooks', 'health', 'metrics'].map((listener) => `--${listener}-port=0`),
      '--webhooks-drain-seconds=0',
      '--log-format=json',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  server.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(
    'both have a verdict',
    () => verdicts('cart').length > 0 && verdicts('orders').length > 0,
    30_000,
  );
});

afterAll(async () => {
  if (server.exitCode === null) {
    server.kill('SIGTERM');
    await once(server, 'close');
  }
  rmSync(directory, { recursive: true });
});

describe('verdicts of the example cluster', () => {
  it('are Compliant at first', () => {
    expect([verdicts('cart'), verdicts('orders')]).toEqual([['Compliant'], ['Compliant']]);
  });

  it('follow a file within a second, and back', async () => {
    const [claim, scratch] = ['persistentVolumeClaim: { claimName: cart-data }', 'emptyDir: {}'];
    for (const [from, to, verdict] of [
      [claim, scratch, 'NonCompliant'],
      [scratch, claim, 'Compliant'],
    ] as const) {
      const seen = verdicts('cart').length;
      await change('workloads.yaml', from, to);
      const changedMs = performance.now();
      await until(`the verdict is ${verdict}`, () => verdicts('cart').length > seen, 10_000);
      expect(verdicts('cart').at(-1)).toBe(verdict);
      expect(performance.now() - changedMs).toBeLessThan(FOLLOWS_MS);
    }
    expect(verdicts('orders')).toEqual(['Compliant']);
  });
});
