/** Asks ports of Services: `http://<service>.<namespace>.svc:<port>/<path>` (operator.md §5.5). */
import type { Agent } from 'undici';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { WireProtocol } from '../../policies/observation.ts';
import type { HttpAnswer, Prober, ProbeTarget } from './prober.ts';
import { speaks } from './wire-protocol.ts';

/** operator.md §5.5. */
const TIMEOUT_MS = 5_000;
const BODY_BYTES = 4_096;
/** Questions under way at the same time: slow answers hold up nobody else until then. */
const AT_ONCE = 64;
const REASON_LENGTH = 120;

export interface HttpProberOptions {
  readonly clock: Clock;
  /** Where a Service is; default: its name in the cluster. */
  readonly resolve?: (target: ProbeTarget) => { readonly host: string; readonly port: number };
}

export function createHttpProber({ clock, resolve = clusterName }: HttpProberOptions): Prober & {
  close(): Promise<void>;
} {
  const turns = new Turns(AT_ONCE);
  let agent: Promise<Agent> | undefined;
  const open = (): Promise<Agent> =>
    // Loaded at the first question: most installations never ask one.
    (agent ??= import('undici').then(
      ({ Agent: Pool }) =>
        new Pool({
          connect: { timeout: TIMEOUT_MS },
          headersTimeout: TIMEOUT_MS,
          bodyTimeout: TIMEOUT_MS,
          pipelining: 0,
          maxHeaderSize: 16_384,
        }),
    ));
  return {
    get: (target, path, signal) =>
      turns.run(
        () => withLimit(clock, signal, async (limit) => ask(await open(), resolve(target), path, limit)),
        signal,
      ),
    protocols: (target, signal): Promise<readonly WireProtocol[]> =>
      turns.run(() => withLimit(clock, signal, (limit) => speaks(resolve(target), limit)), signal),
    async close() {
      await (await agent)?.destroy();
    },
  };
}

function clusterName({ service, namespace, port }: ProbeTarget): { host: string; port: number } {
  return { host: `${service}.${namespace}.svc`, port };
}

async function ask(
  dispatcher: Agent,
  { host, port }: { readonly host: string; readonly port: number },
  path: string,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  try {
    const { statusCode, headers, body } = await dispatcher.request({
      origin: `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`,
      path,
      method: 'GET',
      headers: { 'user-agent': 'pacto-gate', accept: '*/*' },
      reset: true,
      signal,
    });
    const contentType = headers['content-type'];
    return {
      answered: true,
      status: statusCode,
      contentType: typeof contentType === 'string' ? contentType : '',
      body: await firstBytes(body),
    };
  } catch (error) {
    return { answered: false, reason: messageOf(error).slice(0, REASON_LENGTH) };
  }
}

/** A body that breaks off, or never ends, is still an answer. */
async function firstBytes(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown; on(event: 'error', run: () => void): unknown },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  body.on('error', () => undefined);
  try {
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.length;
      if (length >= BODY_BYTES) break;
    }
  } catch {
    // What came until then counts.
  }
  body.destroy();
  return Buffer.concat(pieces).subarray(0, BODY_BYTES);
}

/** Throws the caller's own reason where it gave up; of our own limit comes an answer, as of any silence. */
async function withLimit<T>(
  clock: Clock,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = clock.setTimer(TIMEOUT_MS, () =>
    limit.abort(new Error(`no answer within ${String(TIMEOUT_MS)} ms`)),
  );
  try {
    const done = await work(AbortSignal.any([signal, limit.signal]));
    signal.throwIfAborted();
    return done;
  } finally {
    timer.cancel();
  }
}

class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running >= this.#most) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    } else this.#running += 1;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
