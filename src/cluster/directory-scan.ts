/** Finds and reads the files of a directory, within limits, and never outside of it. */
import { constants } from 'node:fs';
import type { BigIntStats, Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

export interface DirectoryLimits {
  readonly fileBytes: number;
  readonly totalBytes: number;
  readonly files: number;
  /** Files, directories and links of all names that are looked at. */
  readonly entries: number;
  /** Directories inside each other. */
  readonly depth: number;
}

/** A file larger than what one object may be in etcd (1.5 MiB) is a List; a directory is read whole into memory. */
export const DIRECTORY_LIMITS: DirectoryLimits = {
  fileBytes: 4 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
  files: 20_000,
  entries: 200_000,
  depth: 64,
};

/** Each has its line in the log. */
const MAX_PROBLEMS = 1_000;

const EXTENSIONS = new Set(['.yaml', '.yml', '.json']);

export interface Problem {
  /** Relative to the directory; `.` is the directory itself. */
  readonly file: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly code: 'GATE_DIRECTORY';
  readonly message: string;
}

export interface FoundFile {
  /** Relative, as it is called in problems. */
  readonly file: string;
  /** With links resolved. */
  readonly path: string;
  /** Changes whenever the contents may have changed. */
  readonly stamp: string;
}

export interface Scan {
  /** In the order of their names. */
  readonly files: readonly FoundFile[];
  /** Directories that were read, links resolved: what to watch. */
  readonly directories: readonly string[];
  readonly problems: readonly Problem[];
  /** Directories of which every entry was looked at, as they are called in problems. */
  readonly whole: readonly string[];
  /** Files and directories that are there and were not read. */
  readonly unread: readonly string[];
  /** Whether a file that is not in `files` may still be there, below something that could not be read. */
  mayHold(file: string): boolean;
}

export function problemOf(
  file: string,
  message: string,
  at: { line?: number; column?: number } = {},
): Problem {
  return { file, ...at, code: 'GATE_DIRECTORY', message };
}

/** Reads the names, links and sizes below a directory; never throws for what it finds there. */
export async function scanDirectory(root: string, limits: DirectoryLimits): Promise<Scan> {
  return new Scanner(limits).scan(root);
}

class Scanner {
  readonly #limits: DirectoryLimits;
  readonly #files: FoundFile[] = [];
  readonly #problems: Problem[] = [];
  readonly #directories = new Set<string>();
  readonly #whole: string[] = [];
  /** Files and directories that are there and were not read. */
  readonly #unread = new Set<string>();
  #root = '';
  #entries = 0;
  #bytes = 0;

  constructor(limits: DirectoryLimits) {
    this.#limits = limits;
  }

  async scan(root: string): Promise<Scan> {
    try {
      this.#root = await realpath(root);
      await this.#visit(this.#root, '', []);
    } catch (error) {
      this.#say('.', `cannot be read (${codeOf(error)}); check that it is there and may be read`);
    }
    const unread = [...this.#unread];
    return {
      files: this.#files,
      directories: [...this.#directories],
      problems: this.#problems,
      whole: this.#whole,
      unread,
      mayHold: (file) => unread.some((one) => one === '.' || one === file || file.startsWith(one + sep)),
    };
  }

  /** @param above the directories that this one lies in, links resolved. */
  async #visit(path: string, file: string, above: readonly string[]): Promise<void> {
    if (this.#directories.has(path)) return;
    if (above.length >= this.#limits.depth) {
      this.#say(file, `lies more than ${this.#limits.depth} directories deep; move it up`);
      return;
    }
    let entries: Dirent[];
    try {
      entries = await readdir(path, { withFileTypes: true });
    } catch (error) {
      this.#say(nameOf(file), `cannot be read (${codeOf(error)}); check its mode and owner`);
      return;
    }
    this.#directories.add(path);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      // Hidden: editors' working files, and the generations of a Kubernetes mount, which are reached by its links.
      if (entry.name.startsWith('.')) continue;
      this.#entries++;
      if (this.#entries > this.#limits.entries) {
        this.#sayOnce('.', `holds more than ${this.#limits.entries} entries; the rest is left out`);
        return;
      }
      await this.#take(entry, join(path, entry.name), join(file, entry.name), [...above, path]);
    }
    this.#whole.push(nameOf(file));
  }

  async #take(entry: Dirent, path: string, file: string, above: readonly string[]): Promise<void> {
    if (entry.isSymbolicLink()) return this.#takeLink(path, file, above);
    if (entry.isDirectory()) return this.#visit(path, file, above);
    if (hasExtension(file)) return this.#takeFile(path, file);
  }

  async #takeLink(path: string, file: string, above: readonly string[]): Promise<void> {
    let target: string;
    let facts: BigIntStats;
    try {
      target = await realpath(path);
      facts = await stat(target, { bigint: true });
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ELOOP') this.#say(file, 'is a symbolic link that leads back to itself; remove it');
      else if (hasExtension(file))
        this.#say(file, `is a symbolic link that leads nowhere (${code}); mend or remove it`);
      return;
    }
    if (!facts.isDirectory() && !hasExtension(file)) return;
    if (target !== this.#root && !target.startsWith(this.#root + sep)) {
      this.#say(file, 'is a symbolic link that leads out of the directory; copy what it leads to');
    } else if (!facts.isDirectory()) {
      await this.#takeFile(target, file);
    } else if (above.includes(target)) {
      this.#say(file, 'is a symbolic link that leads back to a directory it lies in; remove it');
    } else {
      await this.#visit(target, file, above);
    }
  }

  async #takeFile(path: string, file: string): Promise<void> {
    let facts: BigIntStats;
    try {
      facts = await stat(path, { bigint: true });
    } catch (error) {
      // A file that was just removed is no problem.
      if (codeOf(error) !== 'ENOENT')
        this.#say(file, `cannot be read (${codeOf(error)}); check its mode and owner`);
      return;
    }
    const bytes = Number(facts.size);
    const { fileBytes, totalBytes, files } = this.#limits;
    if (!facts.isFile()) this.#say(file, 'is not a regular file; remove it');
    else if (bytes > fileBytes)
      this.#say(file, `is too large (found ${bytes} bytes, at most ${fileBytes}); split it`);
    else if (this.#files.length >= files)
      this.#sayOnce(file, `comes after ${files} files; it and the rest are left out`);
    else if (this.#bytes + bytes > totalBytes) {
      this.#sayOnce(
        file,
        `would make the directory larger than ${totalBytes} bytes; it and the like are left out`,
      );
    } else {
      this.#bytes += bytes;
      const stamp = [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ');
      this.#files.push({ file, path, stamp });
    }
  }

  #say(file: string, message: string): void {
    this.#unread.add(file);
    if (this.#problems.length > MAX_PROBLEMS) return;
    if (this.#problems.length === MAX_PROBLEMS) {
      this.#problems.push(
        problemOf('.', `has more than ${MAX_PROBLEMS} entries that cannot be read; mend these first`),
      );
      return;
    }
    this.#problems.push(problemOf(file, message));
  }

  /** For limits that every further file would meet again. */
  #sayOnce(file: string, message: string): void {
    if (this.#problems.every((problem) => problem.message !== message)) this.#say(file, message);
    else this.#unread.add(file);
  }
}

/** As a directory is called in problems. */
function nameOf(directory: string): string {
  return directory === '' ? '.' : directory;
}

function hasExtension(file: string): boolean {
  return EXTENSIONS.has(extname(file).toLowerCase());
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/**
 * Reads a file whole, or one byte more than `maxBytes` of one that has grown.
 * @throws Error with a `code`; ELOOP where the path has become a link, EISDIR and the like where it is no file.
 */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  // Nothing may have taken the file's place since the scan: no link is followed, no pipe waited for.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(Math.min((await handle.stat()).size, maxBytes) + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}
