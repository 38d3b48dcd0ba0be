/** Requests that must be refused, one after the other for as long as a test runs, and what became of them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';

export type RefusedBy = 'native' | 'webhook' | 'failed';

export interface RefusalStream {
  /** Requests that were let pass: when, and which. */
  readonly slipped: readonly string[];
  readonly count: number;
  /** By whom the last ones were refused, newest last; of each number of requests in a row one. */
  readonly history: readonly RefusedBy[];
  stop(): Promise<void>;
}

/** Between two requests. */
const PAUSE_MS = 10;

export interface StreamOptions {
  readonly api: ApiClient;
  /** Made anew for each request, as a dry run. */
  readonly path: string;
  readonly body: (index: number) => object;
}

export function startRefusalStream({ api, path, body }: StreamOptions): RefusalStream {
  const slipped: string[] = [];
  const history: RefusedBy[] = [];
  let count = 0;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const index = count;
      count += 1;
      const { status, body: answer } = await api.request({
        method: 'POST',
        path: `${path}?dryRun=All`,
        body: body(index),
      });
      if (status < 300) slipped.push(`request ${index} at ${new Date().toISOString()}`);
      const by = refusedBy(answer.message ?? '');
      if (history.at(-1) !== by) history.push(by);
      await delay(PAUSE_MS);
    }
  };
  const running = run();
  return {
    slipped,
    history,
    get count() {
      return count;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Both word it alike, and a webhook's denial says whose it is. */
function refusedBy(message: string): RefusedBy {
  if (message.startsWith('admission webhook "')) return 'webhook';
  return message.includes("ValidatingAdmissionPolicy '") ? 'native' : 'failed';
}
