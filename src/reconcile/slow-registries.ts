/**
 * Registries that answer, but slowly: whoever looks at a Pacto waits for its bundle, and all who look must not wait for one
 * registry. One that sends a byte now and then is never away, and would hold each of them for as long as a pull may take.
 */
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';

/** A bundle has some kilobytes, and is most often there in a tenth of a second. */
const SLOW_MS = 5_000;
/** Pulls of a slow registry at the same time: a quarter of the workers there are by default. */
const AT_ONCE = 2;
/** For how long one slow pull is remembered. */
const REMEMBERED_MS = 5 * 60_000;
/** Registries that are remembered; those without a pull under way are forgotten first. */
const REGISTRIES = 1_000;

interface Pulls {
  /** When each one under way began, on the monotonic clock: the oldest first. */
  readonly begun: Set<{ readonly atMs: number }>;
  slowUntilMs: number;
}

export class SlowRegistries {
  readonly #clock: Clock;
  readonly #registries = new Map<string, Pulls>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * A pull begins.
   * @returns tells that it has ended.
   * @throws GateError GATE_OVERLOADED where enough wait for this registry already: who looks tries again later.
   */
  enter(registry: string): () => void {
    const nowMs = this.#clock.monotonic();
    const pulls = this.#pullsOf(registry);
    const [oldest] = pulls.begun;
    const isSlow = nowMs < pulls.slowUntilMs || (oldest !== undefined && nowMs - oldest.atMs >= SLOW_MS);
    if (isSlow && pulls.begun.size >= AT_ONCE)
      throw new GateError(
        'GATE_OVERLOADED',
        `the registry ${registry} is slow, and ${String(pulls.begun.size)} others wait for it: it is tried again`,
      );
    const pull = { atMs: nowMs };
    pulls.begun.add(pull);
    return () => {
      pulls.begun.delete(pull);
      const endMs = this.#clock.monotonic();
      if (endMs - pull.atMs >= SLOW_MS) pulls.slowUntilMs = endMs + REMEMBERED_MS;
    };
  }

  #pullsOf(registry: string): Pulls {
    const known = this.#registries.get(registry);
    if (known !== undefined) return known;
    if (this.#registries.size >= REGISTRIES) this.#forget();
    const pulls = { begun: new Set<{ readonly atMs: number }>(), slowUntilMs: 0 };
    this.#registries.set(registry, pulls);
    return pulls;
  }

  #forget(): void {
    for (const [registry, { begun }] of this.#registries)
      if (begun.size === 0) this.#registries.delete(registry);
  }
}
