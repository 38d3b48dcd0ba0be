/** Lists within lists that are written down multiply: nobody waits for what would take for ever. */

/** Nodes looked at for one policy: no real one comes near. */
const MOST = 1_500_000;

export class Effort {
  #left = MOST;

  /** @returns false where it is spent: nothing more is found then */
  spend(): boolean {
    this.#left -= 1;
    return this.#left > 0;
  }
}
