/**
 * Header blocks of a tar archive (POSIX.1-1988 ustar, POSIX.1-2001 pax, GNU, V7), read and written as Go's archive/tar
 * does, because that decides which bundles other tools can read (contract.md §11.2, §11.3). Pure; no I/O.
 */

export const BLOCK_BYTES = 512;

export interface TarHeader {
  /** One character; a NUL, as V7 wrote it, for a regular file or, where the name ends in `/`, a directory. */
  readonly type: string;
  /** Raw bytes, with the ustar prefix before it. */
  readonly name: Uint8Array;
  /** As declared: also for entries that hold no data. Never negative where data follows. */
  readonly sizeBytes: number;
}

/** What cannot be read as tar. The message says what, with nothing of the archive in it. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

/** Entries without data, whatever size they declare: links, devices, directories and fifos. */
const WITHOUT_DATA = '123456';

/** Name, offset and length of the fields of a block that are looked at. */
const FIELD = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 6],
  version: [263, 2],
  devMajor: [329, 8],
  devMinor: [337, 8],
  accessTime: [345, 12],
  changeTime: [357, 12],
  prefix: [345, 155],
  starPrefix: [345, 131],
  starTrailer: [508, 4],
} as const satisfies Record<string, readonly [offset: number, length: number]>;

type Place = readonly [offset: number, length: number];

const USTAR_MAGIC = 'ustar\0';
const USTAR_VERSION = '00';
const GNU_MAGIC = 'ustar ';
const GNU_VERSION = ' \0';

/** @throws TarError where the block is none: its checksum, or a number in it. */
export function readTarHeader(block: Uint8Array): TarHeader {
  if (!checksumFits(block)) throw new TarError('a header has a wrong checksum');
  const type = latin1(block, FIELD.type);
  const magic = latin1(block, FIELD.magic);
  const size = readNumber(block, FIELD.size);
  for (const field of [FIELD.mode, FIELD.uid, FIELD.gid, FIELD.mtime]) readNumber(block, field);
  const isUstar = magic === USTAR_MAGIC;
  const isGnu = magic === GNU_MAGIC && latin1(block, FIELD.version) === GNU_VERSION;
  if (isUstar || isGnu) for (const field of [FIELD.devMajor, FIELD.devMinor]) readNumber(block, field);
  if (holdsData(type) && size < 0) throw new TarError('an entry has a negative size');
  const prefix = isUstar || (isGnu && hasNoGnuTimes(block)) ? prefixOf(block, isUstar) : new Uint8Array();
  const name = textOf(block, FIELD.name);
  return { type, name: prefix.length === 0 ? name : joined(prefix, name), sizeBytes: size };
}

function prefixOf(block: Uint8Array, isUstar: boolean): Uint8Array {
  const isStar = isUstar && latin1(block, FIELD.starTrailer) === 'tar\0';
  const prefix = textOf(block, isStar ? FIELD.starPrefix : FIELD.prefix);
  return isUstar || prefix.every((byte) => byte < 0x80) ? prefix : new Uint8Array();
}

/** Go before 1.8 wrote a prefix where GNU has times: what is there and no number is one. */
function hasNoGnuTimes(block: Uint8Array): boolean {
  try {
    for (const field of [FIELD.accessTime, FIELD.changeTime])
      if (block[field[0]] !== 0) readNumber(block, field);
    return false;
  } catch {
    return true;
  }
}

function holdsData(type: string): boolean {
  return !WITHOUT_DATA.includes(type);
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

function latin1(block: Uint8Array, [offset, length]: Place): string {
  return String.fromCharCode(...block.subarray(offset, offset + length));
}

/** A field's bytes before its first NUL. */
function textOf(block: Uint8Array, [offset, length]: Place): Uint8Array {
  const field = block.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return field.slice(0, end === -1 ? length : end);
}

function joined(prefix: Uint8Array, name: Uint8Array): Uint8Array {
  const whole = new Uint8Array(prefix.length + 1 + name.length);
  whole.set(prefix);
  whole[prefix.length] = 0x2f;
  whole.set(name, prefix.length + 1);
  return whole;
}

/** Old archives sum signed bytes. */
function checksumFits(block: Uint8Array): boolean {
  const [offset, length] = FIELD.checksum;
  let unsigned = 0;
  let signed = 0;
  // An index, not an iterator: ten thousand headers are five million bytes.
  for (let at = 0; at < block.length; at += 1) {
    const byte = at >= offset && at < offset + length ? 0x20 : (block[at] ?? 0);
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  const stored = readNumber(block, FIELD.checksum);
  return stored === unsigned || stored === signed;
}

/** Octal digits between blanks and NULs; or, with the top bit set, a big-endian two's complement (GNU). */
function readNumber(block: Uint8Array, place: Place): number {
  const [offset, length] = place;
  const first = block[offset] ?? 0;
  if ((first & 0x80) !== 0) return readBinary(block.subarray(offset, offset + length), first);
  const text = latin1(block, place).replace(/^[ \0]+|[ \0]+$/g, '');
  const digits = text.split('\0', 1)[0] ?? '';
  if (text === '') return 0;
  if (!/^[0-7]{1,21}$/.test(digits)) throw new TarError('a header holds a number that is none');
  return exact(Number.parseInt(digits, 8));
}

function readBinary(bytes: Uint8Array, first: number): number {
  const isNegative = (first & 0x40) !== 0;
  let value = 0n;
  for (const [at, byte] of bytes.entries()) {
    const plain = at === 0 ? byte & (isNegative ? 0xff : 0x7f) : byte;
    value = value * 256n + BigInt(plain);
  }
  if (isNegative) value -= 1n << BigInt(bytes.length * 8);
  // Go reads into 64 bits.
  if (BigInt.asIntN(64, value) !== value) throw new TarError('a header holds a number that is none');
  return exact(Number(value));
}

/** Sizes beyond 2^53 are far over every limit: they stay too large, whatever their last digits. */
function exact(value: number): number {
  return Math.max(-1, Math.min(value, Number.MAX_SAFE_INTEGER));
}

/** Bytes of a pax record that names a file. */
export interface PaxRecords {
  readonly path: Uint8Array | undefined;
  readonly sizeBytes: number | undefined;
  /** GNU's sparse files in pax form: what the archive holds is not the file. */
  readonly isSparse: boolean;
  /** A number or time is none. It counts with the entry that the records are for, and not where there is none. */
  readonly isDamaged: boolean;
}

/** Of one extended header: packers write about ten, and a mebibyte of the shortest would be read for 0.15 s at once. */
const PAX_RECORDS = 1_000;

const decoder = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const DECIMAL = /^[+-]?\d{1,19}$/;
const PAX_TIME = /^[+-]?\d{1,19}(?:\.\d*)?$/;
const PAX_NUMBERS: ReadonlyMap<string, RegExp> = new Map([
  ['size', DECIMAL],
  ['uid', DECIMAL],
  ['gid', DECIMAL],
  ['atime', PAX_TIME],
  ['ctime', PAX_TIME],
  ['mtime', PAX_TIME],
]);

/**
 * Reads the records `length key=value\n` of an extended header; of one key the last counts, and an empty value leaves
 * what the block says.
 * @throws TarError where a record is none, or there are more than anybody writes.
 */
export function readPaxRecords(bytes: Uint8Array): PaxRecords {
  let path: Uint8Array | undefined;
  let isSparse = false;
  const values = new Map<string, string>();
  let records = 0;
  for (let at = 0; at < bytes.length;) {
    records += 1;
    if (records > PAX_RECORDS)
      throw new TarError(`an extended header holds more than ${String(PAX_RECORDS)} records`);
    const { key, value, end } = readPaxRecord(bytes, at);
    at = end;
    if (key.startsWith('GNU.sparse.')) isSparse = true;
    if (key === 'path') path = value.length === 0 ? undefined : value;
    else if (PAX_NUMBERS.has(key)) values.set(key, decoder(value));
  }
  const size = values.get('size') ?? '';
  const isDamaged = [...values].some(
    ([key, text]) => text !== '' && PAX_NUMBERS.get(key)?.test(text) !== true,
  );
  return { path, sizeBytes: size === '' ? undefined : exact(Number(size)), isSparse, isDamaged };
}

function readPaxRecord(bytes: Uint8Array, at: number): { key: string; value: Uint8Array; end: number } {
  const blank = bytes.indexOf(0x20, at);
  const lengthText = blank === -1 || blank - at > 8 ? '' : decoder(bytes.subarray(at, blank));
  const end = at + (/^\d+$/.test(lengthText) ? Number(lengthText) : Number.NaN);
  // The shortest is `5 k=\n`; a length that is no number fails every comparison.
  if (!(end - at >= 5 && end <= bytes.length && bytes[end - 1] === 0x0a && end - 1 > blank))
    throw badRecord();
  const equals = bytes.indexOf(0x3d, blank);
  if (equals === -1 || equals >= end - 1) throw badRecord();
  const key = decoder(bytes.subarray(blank + 1, equals));
  const value = bytes.slice(equals + 1, end - 1);
  const mustBeText = ['path', 'linkpath', 'uname', 'gname'].includes(key);
  if (key === '' || (mustBeText ? value.includes(0) : key.includes('\0'))) throw badRecord();
  return { key, value, end };
}

const badRecord = (): TarError => new TarError('an extended header holds a record that is none');

/**
 * One entry's header, as Go writes it under contract.md §11.2: ustar, time 0, nobody's. A name that ustar cannot hold is
 * preceded by a pax header.
 * @param name with `/`, without one at its end.
 */
export function writeTarHeader(name: string, entry: 'file' | 'directory', sizeBytes: number): Uint8Array {
  const bytes = Buffer.from(name, 'utf8');
  const mode = entry === 'directory' ? '0000755' : '0000644';
  const type = entry === 'directory' ? '5' : '0';
  // Go calls a name ASCII without looking at control characters, except for NUL.
  const isAscii = bytes.every((byte) => byte < 0x80);
  const fits = bytes.length <= FIELD.name[1];
  if (isAscii && fits) return block(bytes, new Uint8Array(), mode, type, sizeBytes);
  const split = isAscii ? splitName(bytes) : undefined;
  if (split !== undefined) return block(split.name, split.prefix, mode, type, sizeBytes);
  const record = paxRecord('path', bytes);
  const padding = Buffer.alloc(paddingBytes(record.length));
  return Buffer.concat([
    block(paxHeaderName(bytes), new Uint8Array(), '0000000', 'x', record.length),
    record,
    padding,
    block(asciiOnly(bytes).subarray(0, FIELD.name[1]), new Uint8Array(), mode, type, sizeBytes),
  ]);
}

export function paddingBytes(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** At the last `/` that leaves a prefix of at most 155 bytes and a name of at most 100. */
function splitName(bytes: Buffer): { prefix: Buffer; name: Buffer } | undefined {
  const at = bytes.subarray(0, FIELD.prefix[1] + 1).lastIndexOf(0x2f);
  const name = bytes.subarray(at + 1);
  return at <= 0 || name.length === 0 || name.length > FIELD.name[1]
    ? undefined
    : { prefix: bytes.subarray(0, at), name };
}

/** `PaxHeaders.0` between folder and name, in ASCII, cut to the field. */
function paxHeaderName(bytes: Buffer): Buffer {
  const at = bytes.lastIndexOf(0x2f) + 1;
  const whole = Buffer.concat([bytes.subarray(0, at), Buffer.from('PaxHeaders.0/'), bytes.subarray(at)]);
  return Buffer.from(asciiOnly(whole).subarray(0, FIELD.name[1]).toString('latin1').replace(/\/+$/, ''));
}

function asciiOnly(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte) => byte < 0x80 && byte !== 0));
}

/** The record's length counts its own digits. */
function paxRecord(key: string, value: Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function block(name: Uint8Array, prefix: Uint8Array, mode: string, type: string, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(BLOCK_BYTES);
  const text = ([offset]: Place, value: string): void => void bytes.write(value, offset, 'latin1');
  bytes.set(name, FIELD.name[0]);
  text(FIELD.mode, mode);
  text(FIELD.uid, '0000000');
  text(FIELD.gid, '0000000');
  text(FIELD.size, sizeBytes.toString(8).padStart(11, '0'));
  text(FIELD.mtime, '00000000000');
  text(FIELD.type, type);
  text(FIELD.magic, USTAR_MAGIC + USTAR_VERSION);
  // Go leaves the device numbers of an extended header out.
  for (const field of type === 'x' ? [] : [FIELD.devMajor, FIELD.devMinor]) text(field, '0000000');
  bytes.set(prefix, FIELD.prefix[0]);
  text(FIELD.checksum, '        ');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  text(FIELD.checksum, `${sum.toString(8).padStart(6, '0')}\0 `);
  return bytes;
}
