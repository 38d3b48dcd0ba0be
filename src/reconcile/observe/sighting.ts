/** Outcomes that several dimensions have in common. */
import { messageOf } from '../../errors.ts';
import type { Observation, ObservationKind, ObservedValue, Subject } from '../../policies/observation.ts';
import { observation, type Surveyed } from './dimension.ts';

/** What is shown of a reason. */
const REASON_LENGTH = 300;

/** Observations of one subject and kind. */
export class Sightings {
  readonly #surveyed: Pick<Surveyed, 'nowMs'>;
  readonly #kind: ObservationKind;
  readonly #subject: Subject;

  constructor(surveyed: Pick<Surveyed, 'nowMs'>, kind: ObservationKind, subject: Subject) {
    this.#surveyed = surveyed;
    this.#kind = kind;
    this.#subject = subject;
  }

  observed(value: ObservedValue, collector?: string): Observation {
    return this.#make({ outcome: 'Observed', value, ...(collector !== undefined && { collector }) });
  }

  /** Nobody can see it here. */
  unsupported(): Observation {
    return this.#make({ outcome: 'Unsupported' });
  }

  /** It neither confirms nor contradicts. */
  insufficient(): Observation {
    return this.#make({ outcome: 'Insufficient' });
  }

  stale(reason: string): Observation {
    return this.#make({ outcome: 'Stale', reason });
  }

  failed(error: unknown): Observation {
    const reason = typeof error === 'string' ? error : messageOf(error);
    return this.#make({ outcome: 'Failed', reason: reason.slice(0, REASON_LENGTH) });
  }

  #make(rest: Omit<Parameters<typeof observation>[1], 'kind' | 'subject'>): Observation {
    return observation(this.#surveyed, { kind: this.#kind, subject: this.#subject, ...rest });
  }
}

/** A read whose failure is an outcome. The signal's own reason is thrown on. */
export async function attempt<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }> {
  try {
    return { ok: true, value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, error };
  }
}
