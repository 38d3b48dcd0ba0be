/** Files that somebody else names are read to a bound: a device such as `/dev/zero` has no end. */
import { open } from 'node:fs/promises';

/** What is read in one step of a file whose size nobody knows beforehand, such as a pipe. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Reads a file, a pipe or a device to its end.
 * @throws NodeJS.ErrnoException; EFBIG with both sizes in words where there is more than `maxBytes`.
 */
export async function readAtMost(path: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw tooLarge(maxBytes);
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, Math.min(size - length, maxBytes) + 1));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return Buffer.concat(chunks, length);
      length += bytesRead;
      if (length > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** The same for a stream of chunks, such as standard input. */
export async function readStreamAtMost(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const piece of stream) {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(maxBytes: number): Error {
  return Object.assign(new Error(`it is larger than ${String(maxBytes)} bytes`), { code: 'EFBIG' });
}
