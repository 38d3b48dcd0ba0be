/**
 * What the last look at each Pacto read, turned round: what is read → who read it. So a change wakes exactly those whose
 * verdict may depend on it, and what is absent can be waited for as well as what is there (operator.md §20, T23).
 *
 * A read is a text (read-keys.ts). A look has some dozens of them, and never more than its contract and its Pacto have
 * entries, which their own bounds hold to some thousands; what the look before the last one read is not kept.
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
  /** What counts. */
  reads: Set<string>;
  /** What the look that began last has read; only its end takes something away. */
  latest: Set<string> | undefined;
}

export class Interests {
  readonly #readers = new Map<string, Map<string, PactoKey>>();
  readonly #interested = new Map<string, Interested>();

  /** Begins a look. One that never ends leaves its reads beside those of the look before, until a later one ends. */
  begin(key: PactoKey): NotedReads {
    const name = keyText(key);
    const interested = this.#interested.get(name) ?? { key, reads: new Set(), latest: undefined };
    this.#interested.set(name, interested);
    const noted = new Set<string>();
    interested.latest = noted;
    // A Pacto that went meanwhile must not come back through a look at what it was.
    const counts = (): boolean => this.#interested.get(name) === interested;
    return {
      note: (read) => {
        if (noted.has(read) || !counts()) return;
        const isNew = !interested.reads.has(read);
        noted.add(read);
        interested.reads.add(read);
        if (isNew) this.#add(read, name, key);
      },
      end: () => {
        if (interested.latest !== noted || !counts()) return;
        for (const read of interested.reads) if (!noted.has(read)) this.#remove(read, name);
        interested.reads = noted;
      },
    };
  }

  /** The Pacto is gone. */
  forget(key: PactoKey): void {
    const name = keyText(key);
    for (const read of this.#interested.get(name)?.reads ?? []) this.#remove(read, name);
    this.#interested.delete(name);
  }

  /** Whoever read any of these, each once, as of now. */
  of(reads: Iterable<string>): readonly PactoKey[] {
    const readers = new Map<string, PactoKey>();
    for (const read of reads) for (const [name, key] of this.#readers.get(read) ?? []) readers.set(name, key);
    return [...readers.values()];
  }

  /** Reads that somebody has. */
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
