/** Which release the API server is, followed over time: it changes when somebody upgrades the control plane. */
import type { Clock, Timer } from '../clock.ts';
import type { Cluster, ServerVersion } from './cluster.ts';

/** An upgrade takes minutes, and `/version` is cheap. */
const REFRESH_MS = 300_000;
/** Until the first answer, and after a failure: soon, as rules may wait for it. */
const RETRY_MS = 2_000;
/** Our own limit for one question; nobody waits for this one alone. */
const CALL_TIMEOUT_MS = 5_000;

export interface ServerVersionFollower {
  /** The last answer; undefined while there was none. */
  current(): ServerVersion | undefined;
  /** Resolves with the first answer, however long that takes. */
  readonly first: Promise<ServerVersion>;
  stop(): void;
}

/** @param onProblem told of each failed question; the last answer stays. */
export function followServerVersion(
  cluster: Pick<Cluster, 'serverVersion'>,
  clock: Clock,
  onProblem: (error: unknown) => void,
): ServerVersionFollower {
  let version: ServerVersion | undefined;
  let timer: Timer | undefined;
  const stopping = new AbortController();
  const { promise: first, resolve } = Promise.withResolvers<ServerVersion>();
  const ask = async (): Promise<void> => {
    const limit = new AbortController();
    const deadline = clock.setTimer(CALL_TIMEOUT_MS, () => {
      limit.abort(new Error(`no answer within ${String(CALL_TIMEOUT_MS)} ms`));
    });
    let answered = false;
    try {
      version = await cluster.serverVersion({ signal: AbortSignal.any([stopping.signal, limit.signal]) });
      answered = true;
      resolve(version);
    } catch (error) {
      if (!stopping.signal.aborted) onProblem(error);
    } finally {
      deadline.cancel();
    }
    if (stopping.signal.aborted) return;
    timer = clock.setTimer(answered ? REFRESH_MS : RETRY_MS, () => void ask());
  };
  void ask();
  return {
    current: () => version,
    first,
    stop() {
      timer?.cancel();
      stopping.abort(new Error('stopped'));
    },
  };
}
