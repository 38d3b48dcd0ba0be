/** What is said where a registry lets nobody in: which credentials it refused, and which were left aside. */
import { GateError } from '../errors.ts';
import type { CredentialSource } from './credential.ts';
import type { Subject } from './failures.ts';
import type { Patience } from './patience.ts';
import type { Repository } from './reference.ts';

/** Whom it was asked for, and where credentials could have come from. */
export interface ShutOut {
  readonly repository: Repository;
  readonly subject: Subject;
  readonly sources: readonly CredentialSource[];
  readonly patience: Patience;
}

/** @param tried names of the sources whose credentials were refused. */
export async function shutOut(
  { repository, subject, sources, patience }: ShutOut,
  tried: readonly string[],
): Promise<GateError> {
  const unused: string[] = [];
  const empty: string[] = [];
  for (const source of sources) {
    // What fails here was read a moment ago, and is beside the point.
    const asked = source.unused?.(repository.registry).catch(() => undefined);
    const why = await patience.orAborted(Promise.resolve(asked));
    if (why !== undefined) unused.push(`${source.name} (${why})`);
    else if (!tried.includes(source.name)) empty.push(source.name);
  }
  const parts = [
    `the registry does not let us have ${subject.wanted}`,
    `tried and refused: ${tried.join(', ')}`,
    ...(unused.length > 0 ? [`there and not used: ${unused.join(', ')}`] : []),
    ...(empty.length > 0 ? [`nothing for it in: ${empty.join(', ')}`] : []),
    'check the credentials and what they may read',
  ];
  return new GateError('GATE_REGISTRY_AUTHENTICATION', `${subject.reference}: ${parts.join('; ')}`);
}
