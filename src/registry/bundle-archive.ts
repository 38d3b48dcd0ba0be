/**
 * Reading the archive of a bundle: a tar, gzip or plain, that somebody hostile may have made (contract.md §11.3). Limits
 * hold while it streams, before memory is taken, so that a bomb stops at the first breach. Nothing is written to disk.
 */
import { setImmediate } from 'node:timers/promises';
import { createGunzip, type Gunzip } from 'node:zlib';

import { GateError, quote } from '../errors.ts';
import {
  BUNDLE_CONTRACT,
  BUNDLE_ENTRIES,
  BUNDLE_TOTAL_BYTES,
  BundleBudget,
  bundleName,
  invalidBundle,
  withoutContract,
} from './bundle-limits.ts';
import type { TarHeader } from './tar-headers.ts';
import {
  BLOCK_BYTES,
  isZeroBlock,
  paddingBytes,
  readPaxRecords,
  readTarHeader,
  TarError,
} from './tar-headers.ts';

/** Headers, extended headers and padding of as many entries as there may be, beside the files themselves. */
const ARCHIVE_BYTES = BUNDLE_TOTAL_BYTES + BUNDLE_ENTRIES * 4096;
/** Go's limit for one extended header or long name. */
const SPECIAL_BYTES = 1024 * 1024;
/** All of them together: a name has 4 KiB at most, and reading records costs a hundred times what reading files does. */
const ALL_SPECIAL_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/**
 * @param bytes the compressed or plain archive; read to its end, so that a digest over it is checked as well.
 * @returns the files by their path, in the order of their first appearance; of one path the last content.
 * @throws GateError GATE_BUNDLE_INVALID; and whatever `bytes` throws.
 */
export async function readBundleArchive(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<Map<string, Uint8Array>> {
  const source = bytes instanceof Uint8Array ? inTurns(bytes) : bytes;
  const { isGzip, whole } = await peeked(source);
  const reader = new ArchiveReader();
  try {
    if (isGzip) await takeUnpacked(whole, reader);
    else await takeAll(whole, reader);
    return reader.finish();
  } catch (error) {
    throw asInvalid(error);
  }
}

function asInvalid(error: unknown): unknown {
  if (error instanceof GateError) return error;
  if (error instanceof TarError)
    return invalidBundle(`its archive is no tar that can be read: ${error.message}`);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('Z_')
    ? invalidBundle('its archive is no gzip that can be read, or ends too early')
    : error;
}

async function takeAll(chunks: AsyncIterable<Uint8Array>, reader: ArchiveReader): Promise<void> {
  for await (const chunk of chunks) reader.take(chunk);
}

/**
 * Members of a gzip one after another, and zeros behind them as padding. What gunzip does with anything behind zeros
 * depends on where its chunks end, so that it is not asked: it is refused.
 */
async function takeUnpacked(source: AsyncIterable<Uint8Array>, reader: ArchiveReader): Promise<void> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const unpacked = takeAll(gunzip, reader);
  // Where the source fails first nobody waits for it.
  unpacked.catch(() => undefined);
  let givenBytes = 0;
  let isOver = false;
  try {
    for await (const chunk of source) {
      let padding = chunk;
      if (!isOver) {
        givenBytes += chunk.length;
        await Promise.race([written(gunzip, chunk), unpacked]);
        const leftBytes = givenBytes - gunzip.bytesWritten;
        isOver = leftBytes > 0;
        padding = chunk.subarray(chunk.length - leftBytes);
      }
      if (padding.some((byte) => byte !== 0))
        throw invalidBundle('something stands behind the end of its gzip');
    }
    if (!isOver) gunzip.end();
    await unpacked;
  } finally {
    gunzip.destroy();
  }
}

function written(gunzip: Gunzip, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    gunzip.write(chunk, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** What is in memory already would else be read in one turn: ten thousand headers take a tenth of a second. */
async function* inTurns(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
    await setImmediate();
  }
}

/** Looks at the first two bytes: media types are not looked at. */
async function peeked(
  source: AsyncIterable<Uint8Array>,
): Promise<{ isGzip: boolean; whole: AsyncGenerator<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await iterator.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    let isDone = false;
    try {
      yield head;
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) break;
        yield next.value;
      }
      isDone = true;
    } finally {
      // Whoever stops early lets the connection behind it go.
      if (!isDone) await iterator.return?.();
    }
  }
  return { isGzip: head[0] === 0x1f && head[1] === 0x8b, whole: whole() };
}

/** Says what comes after what, and takes an archive in chunks of any size. */
class ArchiveReader {
  readonly #files = new Map<string, Uint8Array>();
  readonly #budget = new BundleBudget();
  #taken = 0;
  #specialBytes = 0;
  #hasEnded = false;
  /** What is being collected, and what happens with it; the block of a header at first. */
  #target = new Uint8Array(BLOCK_BYTES);
  #filled = 0;
  #whenFull: (bytes: Uint8Array) => void = (block) => this.#takeBlock(block);
  /** Bytes of padding, or of data that nobody wants, before the next header. */
  #toSkip = 0;
  #sawZeroBlock = false;
  #pax: ReturnType<typeof readPaxRecords> | undefined;
  #longName: Uint8Array | undefined;

  take(chunk: Uint8Array): void {
    this.#taken += chunk.length;
    if (this.#taken > ARCHIVE_BYTES)
      throw invalidBundle(`its archive holds more than ${String(ARCHIVE_BYTES)} bytes`);
    let rest = chunk;
    while (rest.length > 0 && !this.#hasEnded) {
      const skipped = Math.min(this.#toSkip, rest.length);
      this.#toSkip -= skipped;
      const part = rest.subarray(skipped, skipped + this.#target.length - this.#filled);
      this.#target.set(part, this.#filled);
      this.#filled += part.length;
      rest = rest.subarray(skipped + part.length);
      if (this.#toSkip === 0 && this.#filled === this.#target.length) this.#deliver();
    }
  }

  /** An archive may end without the two empty blocks, and within the padding of its last file. */
  finish(): Map<string, Uint8Array> {
    const isBetween = this.#filled === 0 && this.#target.length === BLOCK_BYTES && this.#isAtHeader;
    if (!this.#hasEnded && !isBetween) throw new TarError('it ends too early');
    if (!this.#files.has(BUNDLE_CONTRACT)) throw withoutContract(this.#files.keys());
    return this.#files;
  }

  #isAtHeader = true;

  #deliver(): void {
    const full = this.#target;
    const run = this.#whenFull;
    this.#collect(BLOCK_BYTES, (block) => this.#takeBlock(block), true);
    run(full);
  }

  #collect(sizeBytes: number, whenFull: (bytes: Uint8Array) => void, isHeader = false): void {
    this.#target = new Uint8Array(sizeBytes);
    this.#filled = 0;
    this.#whenFull = whenFull;
    this.#isAtHeader = isHeader;
  }

  #collectPadded(sizeBytes: number, whenFull: (bytes: Uint8Array) => void): void {
    const finish = (bytes: Uint8Array): void => {
      this.#toSkip = paddingBytes(sizeBytes);
      whenFull(bytes);
    };
    if (sizeBytes === 0) finish(new Uint8Array());
    else this.#collect(sizeBytes, finish);
  }

  #takeBlock(block: Uint8Array): void {
    if (isZeroBlock(block)) {
      this.#hasEnded = this.#sawZeroBlock;
      this.#sawZeroBlock = true;
      return;
    }
    if (this.#sawZeroBlock) throw new TarError('an empty block stands between its entries');
    this.#takeHeader(readTarHeader(block));
  }

  #takeHeader(header: TarHeader): void {
    switch (header.type) {
      case 'x':
        this.#takeSpecial(header, (bytes) => (this.#pax = readPaxRecords(bytes)));
        return;
      case 'L':
        this.#takeSpecial(header, (bytes) => {
          const name = beforeNul(bytes);
          // An empty one leaves the name of the header.
          this.#longName = name.length === 0 ? undefined : name;
        });
        return;
      case 'K':
        // The long target of a link, which the entry after it is refused for.
        this.#takeSpecial(header, () => undefined);
        return;
      default:
        this.#takeEntry(header);
    }
  }

  #takeSpecial(header: TarHeader, whenFull: (bytes: Uint8Array) => void): void {
    if (header.sizeBytes > SPECIAL_BYTES)
      throw new TarError(`an extended header is larger than ${String(SPECIAL_BYTES)} bytes`);
    this.#specialBytes += header.sizeBytes;
    if (this.#specialBytes > ALL_SPECIAL_BYTES)
      throw invalidBundle(`its extended headers are larger than ${String(ALL_SPECIAL_BYTES)} bytes together`);
    this.#collectPadded(header.sizeBytes, whenFull);
  }

  #takeEntry(header: TarHeader): void {
    const pax = this.#pax;
    if (pax?.isDamaged === true) throw new TarError('an extended header holds a number that is none');
    const given = decodedName(this.#longName ?? pax?.path ?? header.name);
    this.#pax = undefined;
    this.#longName = undefined;
    this.#budget.addEntry(given);
    const isOld = header.type === '\0';
    const isDirectory = header.type === '5' || (isOld && given.endsWith('/'));
    if (!isDirectory && !isOld && header.type !== '0')
      throw invalidBundle(
        `entry ${quote(given)} is no file and no directory (tar type ${quote(header.type)})`,
      );
    if (pax?.isSparse === true) throw invalidBundle(`entry ${quote(given)} is a sparse file`);
    const name = bundleName(given, isDirectory ? 'directory' : 'file');
    const size = pax?.sizeBytes ?? header.sizeBytes;
    const dataBytes = isDirectory ? 0 : size;
    if (dataBytes < 0) throw new TarError('an entry has a negative size');
    this.#budget.addFile(name, dataBytes);
    this.#collectPadded(dataBytes, (bytes) => {
      if (isDirectory) this.#files.delete(name);
      else if (name !== '') this.#files.set(name, bytes);
    });
  }
}

function beforeNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

function decodedName(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Two such names could become one.
    throw invalidBundle('an entry has a name that is not UTF-8');
  }
}
