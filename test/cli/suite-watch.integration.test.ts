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
  // A write may be seen in two parts, and be answered twice: what counts is what is said at last.
  const said = (text: string): number => terminal.written.out.split(text).length - 1;
  await until('the first run is over', () => said('1 passed, 0 failed') === 1, 10_000);
  await until('it waits', () => terminal.written.err.includes('waiting for a file to change'), 10_000);
  await writeFile(policy, text.replace("== 'true'", "== 'never'"));
  await until('the change is seen', () => said('0 passed, 1 failed') > 0, 10_000);
  await writeFile(policy, 'a: [');
  await until('the broken file is seen', () => terminal.written.err.includes('is no YAML'), 10_000);
  const before = said('1 passed, 0 failed');
  await writeFile(policy, text);
  await until('the mended file is seen', () => said('1 passed, 0 failed') > before, 10_000);
  terminal.signal('SIGINT');
  expect(await code).toBe(0);
  await rm(directory, { recursive: true });
});
