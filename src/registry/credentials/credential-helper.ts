/**
 * Docker's credential helpers: programs `docker-credential-NAME` that are asked for one host. Off by default, because a
 * file then says which program is started.
 */
import { spawn } from 'node:child_process';

import type { Clock } from '../../clock.ts';
import { GateError, quote } from '../../errors.ts';
import type { Credential } from '../credential.ts';
import { credentialOf, textField } from './login.ts';

export interface HelperOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** A token with all its claims has a tenth of it. */
const MAX_OUTPUT_BYTES = 64 * 1024;
/** What the protocol prints where it has nothing (docker-credential-helpers, credentials/error.go). */
const NOT_FOUND = 'credentials not found in native keychain';

/**
 * @param server as the helper files it: a host, or a URL.
 * @throws GateError GATE_REGISTRY_AUTHENTICATION where the program cannot be started, fails or takes too long.
 */
export async function askHelper(
  helper: string,
  server: string,
  options: HelperOptions,
): Promise<Credential | undefined> {
  // A name, not a path: nothing but PATH decides where the program is.
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(helper))
    throw failed(quote(helper), 'its name is not one of a helper');
  const program = `docker-credential-${helper}`;
  const { exitCode, output } = await run(program, `${server}\n`, options);
  if (output.includes(NOT_FOUND)) return undefined;
  if (exitCode !== 0) throw failed(program, `it ended with ${String(exitCode)}`);
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    throw failed(program, 'it answered no JSON');
  }
  const username = textField(answer, 'Username');
  const secret = textField(answer, 'Secret');
  return credentialOf(
    username === '<token>' ? { identityToken: secret } : { username, password: secret },
    program,
  );
}

function failed(program: string, why: string): GateError {
  return new GateError(
    'GATE_REGISTRY_AUTHENTICATION',
    `credential helper ${program}: ${why}; repair it, or switch registry.credentialHelpers off`,
  );
}

async function run(
  program: string,
  input: string,
  { clock, timeoutMs }: HelperOptions,
): Promise<{ exitCode: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // What it complains about on standard error may hold what it knows.
    const child = spawn(program, ['get'], { stdio: ['pipe', 'pipe', 'ignore'], shell: false });
    const timer = clock.setTimer(timeoutMs, () => {
      child.kill('SIGKILL');
      reject(failed(program, `no answer within ${String(timeoutMs)} ms`));
    });
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_OUTPUT_BYTES) chunks.push(chunk);
      else {
        child.kill('SIGKILL');
        reject(failed(program, `it answered more than ${String(MAX_OUTPUT_BYTES)} bytes`));
      }
    });
    child.on('error', (error) => {
      timer.cancel();
      const code = 'code' in error ? String(error.code) : 'unknown error';
      reject(failed(program, `it cannot be started (${code})`));
    });
    child.on('close', (exitCode) => {
      timer.cancel();
      resolve({ exitCode, output: Buffer.concat(chunks).toString('utf8') });
    });
    // It may end without having read what it was asked.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
