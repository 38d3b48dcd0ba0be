/**
 * What the last look at each Pacto read, turned round: what is read → who read it. So a change wakes exactly those whose
 * verdict may depend on it, and what is absent can be waited for as well as what is there (operator.md §20, T23).
 *
 * A read is a text (read-keys.ts). A look has some dozens of them; a contract that declares thousands has as many.
 */
import { keyText, type PactoKey } from './wake.ts';

export interface NotedReads {
  /** Counts from now on. */
  note(read: string): void;
  /** Nothing else counts any more. Until then what the look before read counts as well: no change is lost between them. */
  end(): void;
}

interface Interested {
  readonly key: PactoKey;
  readonly reads: ReadonlySet<string>;
}

export class Interests {
  readonly #readers = new Map<string, Map<string, PactoKey>>();
  readonly #reads = new Map<string, Interested>();

  /** Begins a look. One that is begun and never ended leaves both its own reads and those of the look before. */
  begin(key: PactoKey): NotedReads {
    const name = keyText(key);
    const noted = new Set<string>();
    return {
      note: (read) => {
        if (noted.has(read)) return;
        noted.add(read);
        this.#add(read, name, key);
      },
      end: () => {
        const before = this.#reads.get(name);
        for (const read of before?.reads ?? []) if (!noted.has(read)) this.#remove(read, name);
        this.#reads.set(name, { key, reads: noted });
      },
    };
  }

  /** The Pacto is gone. */
  forget(key: PactoKey): void {
    const name = keyText(key);
    for (const read of this.#reads.get(name)?.reads ?? []) this.#remove(read, name);
    this.#reads.delete(name);
  }

  /** Whoever read any of these, each once, as of now. */
  of(reads: Iterable<string>): readonly PactoKey[] {
    const readers = new Map<string, PactoKey>();
    for (const read of reads) for (const [name, key] of this.#readers.get(read) ?? []) readers.set(name, key);
    return [...readers.values()];
  }

  /** Reads that somebody has; for tests and for the metrics. */
  get size(): number {
    return this.#readers.size;
  }

  #add(read: string, name: string, key: PactoKey): void {
    const readers = this.#readers.get(read);
    if (readers === undefined) this.#readers.set(read, new Map([[name, key]]));
    else readers.set(name, key);
  }

  #remove(read: string, name: string): void {
    const readers = this.#readers.get(read);
    readers?.delete(name);
    if (readers?.size === 0) this.#readers.delete(read);
  }
}
