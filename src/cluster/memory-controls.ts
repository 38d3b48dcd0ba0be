/** The hand on a memory cluster from behind: how a test, or a person trying things out, makes it misbehave. */
import { GateError } from '../errors.ts';
import type { Kind } from './kinds.ts';

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'replace'
  | 'replaceStatus'
  | 'apply'
  | 'delete'
  | 'reviewToken'
  | 'reviewAccess'
  | 'serverVersion'
  | 'resources';

export interface MemoryControls {
  /** Breaks every open watch, by default with GATE_CLUSTER_UNREACHABLE, once its waiting events are read. */
  breakWatches(error?: Error): void;
  /** Ends every open watch in peace, as an API server does after its own timeout. */
  endWatches(): void;
  /** Watches that are open. */
  readonly watches: number;
  /**
   * Refuses calls, by default all and with GATE_CLUSTER_UNREACHABLE, until the returned function is called. Open
   * watches go on.
   */
  refuseCalls(error?: Error, verbs?: readonly Verb[]): () => void;
  /** Lets calls (but `watch`) wait, each until its signal aborts or the returned function is called. */
  holdCalls(verbs?: readonly Verb[]): () => void;
  /** Calls so far, refused ones included; without a kind, of all kinds. */
  calls(verb: Verb, kind?: Kind): number;
  /** Moves the resourceVersion on as if other objects had changed. @returns the new one. */
  advanceVersion(by?: number): string;
  /** Forgets what happened so far: older watches and continue tokens are GATE_CLUSTER_GONE. */
  compactHistory(): void;
}

interface Refusal {
  readonly error: Error;
  readonly verbs: readonly Verb[] | undefined;
}

interface Hold {
  readonly verbs: readonly Verb[] | undefined;
  readonly released: Promise<void>;
}

/** What each call passes first. */
export class CallGate {
  readonly #counts = new Map<string, number>();
  readonly #refusals = new Set<Refusal>();
  readonly #holds = new Set<Hold>();
  #closed = false;

  async enter(verb: Verb, kind: Kind | undefined, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.enterNow(verb, kind);
    for (const hold of this.#holds) {
      if (concerns(hold.verbs, verb)) await settled(hold.released, signal);
    }
  }

  enterNow(verb: Verb, kind: Kind | undefined): void {
    const names = kind === undefined ? [verb] : [verb, counterOf(verb, kind)];
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    if (this.#closed) throw new GateError('GATE_CLUSTER_UNREACHABLE', `${verb}: this cluster was closed`);
    for (const refusal of this.#refusals) {
      if (concerns(refusal.verbs, verb)) throw refusal.error;
    }
  }

  refuse(error: Error, verbs: readonly Verb[] | undefined): () => void {
    const refusal = { error, verbs };
    this.#refusals.add(refusal);
    return () => void this.#refusals.delete(refusal);
  }

  hold(verbs: readonly Verb[] | undefined): () => void {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const hold = { verbs, released };
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      resolve();
    };
  }

  calls(verb: Verb, kind: Kind | undefined): number {
    return this.#counts.get(kind === undefined ? verb : counterOf(verb, kind)) ?? 0;
  }

  /** @returns true the first time. */
  close(): boolean {
    const first = !this.#closed;
    this.#closed = true;
    return first;
  }
}

function concerns(verbs: readonly Verb[] | undefined, verb: Verb): boolean {
  return verbs === undefined || verbs.includes(verb);
}

function counterOf(verb: Verb, kind: Kind): string {
  return `${verb} ${kind.group}/${kind.kind}`;
}

/** Waits for the release, or rejects with the signal's reason. */
async function settled(released: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return released;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([released, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
