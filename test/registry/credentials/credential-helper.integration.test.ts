import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.ts';
import { dockerConfigCredentials } from '../../../src/registry/credentials/docker-config.ts';
import { failure } from '../../support/registry/bundles.ts';

const POISON = 'p01son-of-the-helper';
let directory: string;
let path: string | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-helper-'));
  path = process.env['PATH'];
  process.env['PATH'] = [directory, path ?? ''].join(delimiter);
});
afterEach(async () => {
  process.env['PATH'] = path;
  await rm(directory, { recursive: true });
});

/** A helper that runs these lines of a shell. */
async function helper(name: string, lines: string): Promise<void> {
  const program = join(directory, `docker-credential-${name}`);
  await writeFile(program, `#!/bin/sh\n${lines}\n`);
  await chmod(program, 0o755);
}

async function ask(config: object, host: string, timeoutMs = 10_000): Promise<unknown> {
  const file = join(directory, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const source = dockerConfigCredentials([{ path: file, mustBeThere: true }], {
    clock: systemClock,
    timeoutMs,
  });
  return source.for(host, 'acme/shop');
}

test('asks the helper of the host, with its argument and the host on standard input', async () => {
  await helper('one', `read server; printf '{"Username":"%s","Secret":"%s"}' "$1" "$server"`);
  await helper('two', 'exit 9');
  const config = { credHelpers: { 'r.example': 'one' }, credsStore: 'two' };
  expect(await ask(config, 'r.example')).toEqual({ kind: 'basic', username: 'get', password: 'r.example' });
  expect(await failure(() => ask(config, 'other.example'))).toContain('it ended with 9');
});

test('takes an identity token, and asks for Docker Hub by its old URL', async () => {
  await helper('store', `read server; printf '{"Username":"<token>","Secret":"%s"}' "$server"`);
  expect(await ask({ credsStore: 'store' }, 'index.docker.io')).toEqual({
    kind: 'identity',
    token: 'https://index.docker.io/v1/',
  });
});

test('takes "not found" as nothing, and then looks at the entries of the file', async () => {
  await helper('store', 'echo "credentials not found in native keychain"; exit 1');
  expect(await ask({ credsStore: 'store' }, 'r.example')).toBeUndefined();
  const auths = { 'r.example': { auth: Buffer.from('a:b').toString('base64') } };
  expect(await ask({ credsStore: 'store', auths }, 'r.example')).toMatchObject({ username: 'a' });
});

test('asks once for many questions', async () => {
  const log = join(directory, 'log');
  await helper('store', `echo x >> ${log}; printf '{"Username":"a","Secret":"b"}'`);
  const file = join(directory, 'config.json');
  await writeFile(file, JSON.stringify({ credsStore: 'store' }));
  const source = dockerConfigCredentials([{ path: file, mustBeThere: true }], {
    clock: systemClock,
    timeoutMs: 10_000,
  });
  await Promise.all([source.for('r.example', 'a'), source.for('r.example', 'b')]);
  await source.for('r.example', 'c');
  expect(await readFile(log, 'utf8')).toBe('x\n');
});

test.each([
  ['that fails', `echo ${POISON}; echo ${POISON} >&2; exit 3`, 'it ended with 3'],
  ['that answers no JSON', `echo ${POISON}`, 'it answered no JSON'],
  ['that answers without end', `while :; do echo ${POISON}${POISON}${POISON}; done`, 'more than 65536 bytes'],
  ['that hangs', `echo ${POISON}; exec sleep 60`, 'no answer within 500 ms'],
])('refuses a helper %s, and tells nothing of it', async (_what, lines, why) => {
  await helper('bad', lines);
  const found = await failure(() =>
    ask({ credsStore: 'bad' }, 'r.example', why.startsWith('no answer') ? 500 : 10_000),
  );
  expect(found).toMatch(/^GATE_REGISTRY_AUTHENTICATION: /);
  expect(found).toContain(why);
  expect(found).not.toContain(POISON);
});

test.each([['../x'], ['/bin/sh'], ['a b'], ['$(touch x)'], ['-x'], [`x${'y'.repeat(70)}`]])(
  'starts nothing for a helper called %s',
  async (name) => {
    expect(await failure(() => ask({ credsStore: name }, 'r.example'))).toContain('its name is not one');
  },
);

test('refuses a helper that is not there', async () => {
  expect(await failure(() => ask({ credsStore: 'none-such' }, 'r.example'))).toContain(
    'cannot be started (ENOENT)',
  );
});
