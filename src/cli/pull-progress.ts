/** Says how far a long download is, on standard error: nothing for one that is done at once. */
import { quote } from '../errors.ts';
import { say } from './output.ts';
import type { Surroundings } from './surroundings.ts';

const EVERY_MS = 1000;
const MIB = 1024 * 1024;

export class PullProgress {
  readonly #around: Pick<Surroundings, 'stderr' | 'clock'>;
  readonly #name: string;
  #next: number;

  /** @param name what is fetched, as the user wrote it. */
  constructor(around: Pick<Surroundings, 'stderr' | 'clock'>, name: string) {
    this.#around = around;
    this.#name = name;
    this.#next = around.clock.monotonic() + EVERY_MS;
  }

  received(receivedBytes: number, totalBytes: number): void {
    const now = this.#around.clock.monotonic();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    say(this.#around, `fetching ${quote(this.#name)}: ${inMib(receivedBytes)} of ${inMib(totalBytes)} MiB`);
  }
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
