/** Asks ports of Services: `http://<service>.<namespace>.svc:<port>/<path>` (operator.md §5.5). */
import type { Dispatcher } from 'undici';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import { Turns } from '../../registry/turns.ts';
import { ANSWER_BYTES, type HttpAnswer, type Prober, type ProbeTarget } from './prober.ts';
import { speaks } from './wire-protocol.ts';
import type { Address } from './wire-questions.ts';

/** For one question, from the first packet on (operator.md §5.5). */
const TIMEOUT_MS = 5_000;
/** Questions under way at once, at most half of them in one namespace: slow answers hold up nobody else until then. */
const AT_ONCE = 64;
const HEADER_BYTES = 16_384;
const REASON_LENGTH = 120;

export interface HttpProberOptions {
  readonly clock: Clock;
  /** Where a Service is; default: its name in the cluster. */
  readonly resolve?: (target: ProbeTarget) => Address;
}

/**
 * Nothing is kept between two questions: each has a connection of its own, which is closed with its answer. Variables of the
 * environment that name a proxy mean nothing here. `close` ends what is under way: it gets no answer, as any later question.
 */
export function createHttpProber({ clock, resolve = clusterName }: HttpProberOptions): Prober & {
  close(): Promise<void>;
} {
  const turns = new Turns(AT_ONCE);
  const closing = new AbortController();
  const inTurn = async <T>(
    target: ProbeTarget,
    signal: AbortSignal,
    question: (address: Address, limit: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const leave = await turns.take(target.namespace, signal);
    const limit = new AbortController();
    const timer = clock.setTimer(TIMEOUT_MS, () =>
      limit.abort(new Error(`no answer within ${String(TIMEOUT_MS)} ms`)),
    );
    try {
      const ends = AbortSignal.any([signal, limit.signal, closing.signal]);
      const answer = await question(resolve(target), ends);
      // Of our own limit comes an answer, as of any silence.
      signal.throwIfAborted();
      return answer;
    } finally {
      timer.cancel();
      leave();
    }
  };
  return {
    get: (target, path, signal) => inTurn(target, signal, (address, ends) => ask(address, path, ends)),
    protocols: (target, signal) => inTurn(target, signal, speaks),
    close() {
      closing.abort(new Error('the program is stopping'));
      return Promise.resolve();
    },
  };
}

function clusterName({ service, namespace, port }: ProbeTarget): Address {
  return { host: `${service}.${namespace}.svc`, port };
}

async function ask({ host, port }: Address, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  try {
    // Loaded at the first question: most installations never ask one.
    const { Client } = await import('undici');
    const client = new Client(`http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`, {
      connect: { timeout: TIMEOUT_MS },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES,
    });
    try {
      const answer = await client.request({
        path,
        method: 'GET',
        headers: { 'user-agent': 'pacto-gate', accept: '*/*' },
        reset: true,
        signal,
      });
      return {
        answered: true,
        status: answer.statusCode,
        contentType: [answer.headers['content-type'] ?? ''].flat()[0] ?? '',
        body: await firstBytes(answer.body),
      };
    } finally {
      await client.destroy();
    }
  } catch (error) {
    return { answered: false, reason: messageOf(error).slice(0, REASON_LENGTH) };
  }
}

/** A body that breaks off, or never ends, is still an answer. */
async function firstBytes(body: Dispatcher.ResponseData['body']): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  body.on('error', () => undefined);
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= ANSWER_BYTES) break;
    }
  } catch {
    // What came until then counts.
  }
  body.destroy();
  return Buffer.concat(pieces).subarray(0, ANSWER_BYTES);
}
