/** Files read and written whole, in folders that somebody else may change meanwhile: never through a link. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';

import { GateError, quote } from '../errors.ts';

/**
 * @param path its last part is not followed where it is a link; a pipe is refused and does not block.
 * @param shown what messages call it.
 * @param admit is told the size before memory is taken, and throws where it is too large.
 * @throws GateError GATE_INPUT_FILE where it cannot be read, is no file, or has another size by the end.
 */
export async function readWholeFile(
  path: string,
  shown: string,
  admit: (sizeBytes: number) => void,
): Promise<Uint8Array> {
  const refuse = (why: string): GateError => new GateError('GATE_INPUT_FILE', `${quote(shown)} ${why}`);
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error);
    // O_NOFOLLOW (open(2)).
    throw refuse(
      code === 'ELOOP' ? 'is a link: need a file' : `cannot be read (${code}): need a file that may be`,
    );
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw refuse('is no file: need one');
    admit(found.size);
    // One more, to see whether it has grown.
    const bytes = Buffer.alloc(found.size + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length !== found.size) throw refuse('changed while it was read: repeat');
    return bytes.subarray(0, length);
  } finally {
    await handle.close();
  }
}

/**
 * The old content or the new one, never half of it.
 * @param times of the file, seconds since the epoch; now if left out.
 * @throws NodeJS.ErrnoException
 */
export async function writeWholeFile(
  path: string,
  bytes: Uint8Array,
  options: { readonly mode: number; readonly timeSeconds?: number },
): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    const handle = await open(partial, 'wx', options.mode);
    try {
      await handle.writeFile(bytes);
      if (options.timeSeconds !== undefined) await handle.utimes(options.timeSeconds, options.timeSeconds);
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** `ENOENT`: what of an error of the system may be told. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
