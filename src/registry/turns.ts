/**
 * A limit for what is under way at once, first come, first served; and half of it for any one registry, so that one that
 * hangs does not keep the others waiting.
 */
export class Turns {
  readonly #count: number;
  readonly #all: Queue;
  readonly #registries = new Map<string, Queue>();

  constructor(count: number) {
    this.#count = count;
    this.#all = new Queue(count);
  }

  /**
   * @returns gives the turn back; calling it again does nothing.
   * @throws the signal's reason
   */
  async take(registry: string, signal: AbortSignal): Promise<() => void> {
    let queue = this.#registries.get(registry);
    if (queue === undefined) {
      queue = new Queue(Math.max(1, Math.ceil(this.#count / 2)));
      this.#registries.set(registry, queue);
    }
    const own = queue;
    const leave = (): void => {
      own.leave();
      if (own.isIdle) this.#registries.delete(registry);
    };
    try {
      await own.enter(signal);
    } catch (error) {
      if (own.isIdle) this.#registries.delete(registry);
      throw error;
    }
    try {
      await this.#all.enter(signal);
    } catch (error) {
      leave();
      throw error;
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#all.leave();
      leave();
    };
  }
}

class Queue {
  readonly #count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get isIdle(): boolean {
    return this.#free === this.#count;
  }

  enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#free > 0) {
        this.#free -= 1;
        resolve();
        return;
      }
      const go = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(go);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
