/** Long work in steps: one piece of work at a time, and a turn of the event loop before each of its steps. */
export class StepQueue {
  #last: Promise<void> = Promise.resolve();

  /** @throws whatever a step throws. */
  async run<T>(steps: Generator<undefined, T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      for (;;) {
        await turn();
        const step = steps.next();
        if (step.done !== true) continue;
        // What comes of it is worked on in a turn of its own.
        await turn();
        return step.value;
      }
    } finally {
      resolve();
    }
  }
}

/** Whatever has arrived meanwhile comes first. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
