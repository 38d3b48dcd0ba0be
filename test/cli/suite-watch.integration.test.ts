import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock.ts';
import { until } from '../support/conditions.ts';
import { fakeTerminal } from './run-command.ts';

it('runs suites again whenever a policy changes, until somebody ends it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pacto-gate-watch-'));
  const policy = join(directory, 'policy.yaml');
  const text = await readFile('examples/policies/keep-volumes.yaml', 'utf8');
  await writeFile(policy, text);
  await writeFile(
    join(directory, 'suite.yaml'),
    `apiVersion: test.gate.pacto.trianalab.io/v1alpha1
kind: Suite
metadata: { name: watched }
policies: [policy.yaml]
authorizer: [{ user: nobody, decision: allow }]
cases:
  - name: denied
    given:
      operation: DELETE
      oldObject: { apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: a, annotations: { example.com/keep: 'true' } } }
    expect: { allowed: false }
`,
  );
  const terminal = fakeTerminal({ clock: systemClock });
  const code = run(['test', directory, '--watch'], terminal.around);
  const waits = (): number => terminal.written.err.split('waiting for a file to change').length - 1;
  await until('the first run is over', () => waits() === 1, 10_000);
  expect(terminal.written.out).toContain('1 passed, 0 failed');
  await writeFile(policy, text.replace("== 'true'", "== 'never'"));
  await until('the change is seen', () => waits() === 2, 10_000);
  expect(terminal.written.out).toContain('0 passed, 1 failed');
  await writeFile(policy, 'a: [');
  await until('the broken file is seen', () => waits() === 3, 10_000);
  expect(terminal.written.err).toContain('is no YAML');
  await writeFile(policy, text);
  await until('the mended file is seen', () => waits() === 4, 10_000);
  terminal.signal('SIGINT');
  expect(await code).toBe(0);
  await rm(directory, { recursive: true });
});
