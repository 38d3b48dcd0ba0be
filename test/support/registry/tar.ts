/** Archives for tests, with headers that no packer would write. */

export interface TarEntry {
  readonly name: string | Uint8Array;
  /** Tar's type character; a file if left out. */
  readonly type?: string;
  readonly data?: string | Uint8Array;
  /** What the header says instead of the length of `data`. */
  readonly declaredBytes?: number;
  readonly link?: string;
  /** `ustar` if left out. */
  readonly format?: 'ustar' | 'gnu' | 'v7';
  readonly prefix?: string;
  readonly damagedChecksum?: boolean;
}

const BLOCK = 512;

export function tarEntry(entry: TarEntry): Buffer {
  const data = Buffer.from(entry.data ?? '');
  const block = Buffer.alloc(BLOCK);
  const name = typeof entry.name === 'string' ? Buffer.from(entry.name) : Buffer.from(entry.name);
  name.copy(block, 0, 0, 100);
  block.write('0000644\u00000000000\u00000000000\0', 100);
  const size = entry.declaredBytes ?? data.length;
  block.write(size.toString(8).padStart(11, '0'), 124);
  block.write('00000000000', 136);
  block.write(entry.type ?? '0', 156);
  block.write(entry.link ?? '', 157);
  if (entry.format === 'gnu') block.write('ustar  \0', 257);
  else if (entry.format !== 'v7') block.write('ustar\u000000', 257);
  block.write(entry.prefix ?? '', 345);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0) + (entry.damagedChecksum === true ? 1 : 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([block, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
}

export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * BLOCK)]);
}

/** An extended header (`x`, or `g` for the whole archive) with these records. */
export function paxEntry(records: Readonly<Record<string, string>>, type: 'x' | 'g' = 'x'): TarEntry {
  const text = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (length !== Buffer.byteLength(`${String(length)}${rest}`))
      length = Buffer.byteLength(`${String(length)}${rest}`);
    return `${String(length)}${rest}`;
  });
  return { name: 'PaxHeaders.0/x', type, data: text.join('') };
}

/** A name as GNU tar writes one that is too long. */
export function gnuLongName(name: string): TarEntry {
  return { name: '././@LongLink', type: 'L', data: `${name}\0`, format: 'gnu' };
}
