/** Files that are given on the command line, and what is said where they cannot be read. */
import { readAtMost } from '../bounded-file.ts';
import { GateError, messageOf } from '../errors.ts';

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a file stands where its path needs a directory',
  EISDIR: 'it is a directory, need a file',
  EACCES: 'permission denied',
};

/** The system's refusal in words. */
export function readFaultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return FAULTS[code] ?? messageOf(error);
}

export function unreadable(file: string, error: unknown): GateError {
  return new GateError('GATE_INPUT_FILE', `file ${file}: cannot be read: ${readFaultOf(error)}`, {
    cause: error,
  });
}

/** Certificates and keys: a bundle of all the authorities of the Web has a quarter of it. */
const MAX_FILE_BYTES = 1024 * 1024;

/** @throws GateError GATE_INPUT_FILE */
export async function readInputFile(file: string): Promise<string> {
  try {
    return (await readAtMost(file, MAX_FILE_BYTES)).toString('utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}
