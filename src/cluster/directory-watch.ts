/** Notices that something below a directory may have changed. */
import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';

import type { Clock, Timer } from '../clock.ts';

/** One save, copy or mount swap makes many events: they are let pass before the directory is read. */
const SETTLE_MS = 100;
/** Events without a pause do not keep changes out for longer. */
const SETTLE_AT_MOST_MS = 1_000;
/** Where no events come (network file systems, more directories than inotify has watches), changes are seen so late. */
const POLL_INTERVAL_MS = 60_000;

export class DirectoryWatch {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #settling: Timer | undefined;
  #firstEventMs: number | undefined;
  #poll: Timer | undefined;
  #isClosed = false;

  /** @param onChange may be called although nothing changed. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#schedulePoll();
  }

  /** @param directories all that are to be watched from now on. */
  follow(directories: readonly string[]): void {
    if (this.#isClosed) return;
    const wanted = new Set(directories);
    for (const [directory, watcher] of this.#watchers) {
      if (wanted.has(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of wanted) if (!this.#watchers.has(directory)) this.#watch(directory);
  }

  close(): void {
    this.#isClosed = true;
    this.#settling?.cancel();
    this.#poll?.cancel();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(directory: string): void {
    let watcher: FSWatcher;
    try {
      watcher = watch(directory, { persistent: false });
    } catch {
      // Removed meanwhile, or no watch is left to have: the poll sees to it.
      return;
    }
    watcher.on('change', () => this.#settle());
    watcher.on('error', () => {
      watcher.close();
      this.#watchers.delete(directory);
      this.#settle();
    });
    this.#watchers.set(directory, watcher);
  }

  #settle(): void {
    if (this.#isClosed) return;
    const nowMs = this.#clock.monotonic();
    this.#firstEventMs ??= nowMs;
    this.#settling?.cancel();
    const leftMs = this.#firstEventMs + SETTLE_AT_MOST_MS - nowMs;
    this.#settling = this.#clock.setTimer(Math.max(0, Math.min(SETTLE_MS, leftMs)), () => {
      this.#firstEventMs = undefined;
      this.#onChange();
    });
  }

  #schedulePoll(): void {
    if (this.#isClosed) return;
    this.#poll = this.#clock.setTimer(POLL_INTERVAL_MS, () => {
      this.#onChange();
      this.#schedulePoll();
    });
  }
}
