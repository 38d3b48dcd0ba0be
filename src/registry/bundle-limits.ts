/** The limits of a bundle (contract.md §11.3), and what its names may be: the same from an archive, a folder or memory. */
import { GateError, quote } from '../errors.ts';

/** The one file that a bundle must have (contract.md §1.11). */
export const BUNDLE_CONTRACT = 'pacto.yaml';

export const BUNDLE_ENTRIES = 10_000;
const BUNDLE_FILE_BYTES = 10 * 1024 * 1024;
export const BUNDLE_TOTAL_BYTES = 50 * 1024 * 1024;
/** PATH_MAX of Linux: no tool that made a bundle from a folder could have used a longer one. */
const NAME_BYTES = 4096;

export function invalidBundle(reason: string): GateError {
  return new GateError('GATE_BUNDLE_INVALID', `the bundle is invalid: ${reason}`);
}

/**
 * Why a bundle without a contract is refused, and where what was meant may be.
 * @param what has none: `it`.
 */
export function withoutContract(names: Iterable<string>, what = 'it'): GateError {
  const refuse = (hint: string): GateError => invalidBundle(`${what} has no ${BUNDLE_CONTRACT}${hint}`);
  const all = [...names];
  const misnamed = all.find((name) => /^pacto\.ya?ml$/i.test(name));
  if (misnamed !== undefined) return refuse(`, only ${quote(misnamed)}: rename it`);
  const [below, ...more] = all.filter((name) => /^[^/]+\/pacto\.yaml$/.test(name));
  return below === undefined || more.length > 0
    ? refuse('')
    : refuse(` at its top, only ${quote(below)}: what is in that folder is the bundle`);
}

/** Counts entries and bytes while a bundle is read, and refuses the first one over a limit. */
export class BundleBudget {
  readonly #advice: string;
  #entries = 0;
  #bytes = 0;

  /** @param advice how its entries become fewer or smaller, at the end of every refusal. */
  constructor(advice = '') {
    this.#advice = advice;
  }

  /** @throws GateError GATE_BUNDLE_INVALID. */
  addEntry(name: string): void {
    this.#entries += 1;
    if (this.#entries > BUNDLE_ENTRIES)
      throw this.#exceeded(`entry ${quote(name)} is one more than the ${String(BUNDLE_ENTRIES)} it may have`);
  }

  /**
   * Before the bytes are read.
   * @throws GateError GATE_BUNDLE_INVALID.
   */
  addFile(name: string, sizeBytes: number): void {
    if (sizeBytes > BUNDLE_FILE_BYTES)
      throw this.#exceeded(`file ${quote(name)} is larger than ${String(BUNDLE_FILE_BYTES)} bytes`);
    this.#bytes += sizeBytes;
    if (this.#bytes > BUNDLE_TOTAL_BYTES)
      throw this.#exceeded(
        `with file ${quote(name)} its files are larger than ${String(BUNDLE_TOTAL_BYTES)} bytes together`,
      );
  }

  #exceeded(reason: string): GateError {
    return invalidBundle(`${reason}${this.#advice}`);
  }
}

/**
 * A name as a bundle stores it. One leading `./` is dropped. Names that no file system call could open are refused, which
 * is stricter than upstream: there they are stored, and listing such a bundle never ends (contract.md §11.3).
 * @returns empty for the root itself.
 * @throws GateError GATE_BUNDLE_INVALID.
 */
export function bundleName(given: string, entry: 'file' | 'directory'): string {
  const refuse = (why: string): GateError => invalidBundle(`entry ${quote(given)} ${why}`);
  if (given.length > NAME_BYTES) throw refuse(`has a name of more than ${String(NAME_BYTES)} characters`);
  if (given.split('/').includes('..')) throw refuse('leads out of it');
  let name = given.startsWith('./') ? given.slice(2) : given;
  if (name === '' || name === '.') return '';
  if (name.startsWith('/')) throw refuse('has an absolute name');
  if (entry === 'directory' && name.endsWith('/')) name = name.slice(0, -1);
  for (const segment of name.split('/')) {
    if (segment === '') throw refuse('has an empty part in its name');
    if (segment === '.') throw refuse('has a dot as a part of its name');
  }
  if (name.includes('\0')) throw refuse('has a NUL in its name');
  return name;
}
