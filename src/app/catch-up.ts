/** Work that is done again after each change: changes that come while it runs are looked at together, afterwards. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export class CatchUp {
  readonly #work: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #isDue = false;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** @param onError told of what the work throws; the next change begins it again. */
  constructor(work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work;
    this.#onError = onError;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Something changed. Returns at once. */
  wake(): void {
    this.#isDue = true;
    this.#running ??= this.#run();
  }

  /** Resolves once nothing is under way. Never rejects. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Begins nothing more. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.settled();
  }

  async #run(): Promise<void> {
    // Several changes come in one turn.
    await nextTurn();
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      try {
        await this.#work();
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#running = undefined;
  }
}
