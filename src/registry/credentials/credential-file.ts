/** Files with credentials: read to a bound, and never quoted. */
import { GateError, quote } from '../../errors.ts';
import { readAtMost } from '../../bounded-file.ts';

/** A file with a thousand logins has a fifth of it. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * @param mustBeThere somebody named the file, so that it not being there, or no JSON, is a mistake; otherwise both mean
 *   "no credentials" (contract.md §11.6).
 * @returns what it holds as JSON; undefined where it is not there.
 * @throws GateError GATE_REGISTRY_AUTHENTICATION
 */
export async function readCredentialFile(path: string, mustBeThere: boolean): Promise<unknown> {
  const refuse = (why: string): undefined => {
    if (!mustBeThere) return undefined;
    throw new GateError(
      'GATE_REGISTRY_AUTHENTICATION',
      `the credential file ${quote(path)} ${why}: mend it, or leave it out of the configuration`,
    );
  };
  let bytes: Uint8Array;
  try {
    bytes = await readAtMost(path, MAX_FILE_BYTES);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return refuse(`cannot be read (${code})`);
  }
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    // The parser's message quotes the text.
    return refuse('is no JSON');
  }
}
