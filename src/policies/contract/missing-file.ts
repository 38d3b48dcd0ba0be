/** Why a path of a contract leads to no file of its bundle, as far as that can be told. */
import { quote } from '../quote.ts';
import type { BundleFiles } from './bundle-files.ts';
import { nearest } from './nearest.ts';

/** Ours: so many paths are compared letter by letter with so many names of files; the others are only looked up. */
const MAX_COMPARED = 20;
const MAX_NAMES = 1000;

const DRIVE = /^[A-Za-z]:[\\/]/;

/** For one bundle; its names are gone through once, at the first path that needs it. */
export class MissingFiles {
  readonly #files: BundleFiles;
  #names: ReadonlyMap<string, string> | undefined;
  #folders: ReadonlySet<string> | undefined;
  #compared = 0;

  constructor(files: BundleFiles) {
    this.#files = files;
  }

  /** A sentence without its subject: the place of the path stands before it. */
  say(path: string): string {
    return `names ${quote(path)}, which is no file of the bundle: ${this.#next(path)}`;
  }

  #next(path: string): string {
    const slashed = path.replaceAll('\\', '/');
    if (slashed.startsWith('/') || DRIVE.test(path))
      return 'a path starts in the folder of the bundle, not in that of a machine';
    const meant = simplified(slashed);
    if (meant === undefined) return 'a path with ".." may not leave the folder of the bundle';
    if (meant !== path && this.#files.has(meant)) return `write ${quote(meant)}`;
    if (path !== slashed) return 'folders are separated by "/"';
    const folders = (this.#folders ??= foldersOf(this.#files));
    if (folders.has(meant)) return 'it is a folder';
    const names = (this.#names ??= new Map(
      [...this.#files.keys()].map((name) => [name.toLowerCase(), name]),
    ));
    const near = names.get(meant.toLowerCase()) ?? this.#nearest(meant);
    return near === undefined ? 'add the file, or correct the path' : `did you mean ${quote(near)}?`;
  }

  #nearest(path: string): string | undefined {
    this.#compared += 1;
    if (this.#compared > MAX_COMPARED) return undefined;
    return nearest(path, [...this.#files.keys()].slice(0, MAX_NAMES));
  }
}

/** Without `.`, `..` and empty segments; undefined where it leaves the folder it starts in. */
function simplified(path: string): string | undefined {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (kept.pop() === undefined) return undefined;
    } else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return kept.join('/');
}

/** The folder of the bundle itself is the empty one. */
function foldersOf(files: BundleFiles): ReadonlySet<string> {
  const folders = new Set<string>(['']);
  for (const name of files.keys()) {
    for (
      let at = name.lastIndexOf('/');
      at > 0 && !folders.has(name.slice(0, at));
      at = name.lastIndexOf('/', at - 1)
    ) {
      folders.add(name.slice(0, at));
    }
  }
  return folders;
}
