/**
 * What a port speaks (operator.md §5.2), by its first words to two clients: one that offers HTTP/2 without TLS and asks for a
 * method of gRPC (RFC 9113 §3.3), and one that asks for the root over HTTP/1.1. Whatever is not certain is nothing: TLS hides
 * what is inside it, and a server behind it may still answer a plain question with a complaint over HTTP.
 */
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { WireProtocol } from '../../policies/observation.ts';
import { http1Question, http2Offer, TLS_HELLO, type Address } from './wire-questions.ts';
import { MOST_BYTES, wordsOf, type Words } from './wire-words.ts';

/**
 * @returns each that it speaks for certain; empty where that is not known, also when the signal aborts. Never rejects.
 */
export async function speaks(address: Address, signal: AbortSignal): Promise<readonly WireProtocol[]> {
  const [offered, asked] = await Promise.all([
    ask(address, http2Offer(address), signal),
    ask(address, http1Question(address), signal),
  ]);
  const words = [offered.words, asked.words];
  if (words.some((one) => one?.of === 'tls')) return [];
  const plain = words.find((one) => one?.of === 'http1');
  if (offered.words?.of === 'http2') {
    const second = await overHttp2(address, signal);
    if (second === undefined) return [];
    return plain === undefined || second === 'http' ? [second] : [second, 'http'];
  }
  if (plain?.of === 'http1') {
    // Whoever says nothing to the offer may still wait for more of it.
    if (!offered.isAnswered) return [];
    const isSure = plain.status < 300 || plain.status >= 500;
    return isSure || !(await hidesBehindTls(address, signal)) ? ['http'] : [];
  }
  return words.some((one) => one?.of === 'other') ? ['other'] : [];
}

interface Said {
  /** Undefined: nothing by which it could be known. */
  readonly words: Words | undefined;
  /** Whether it said anything, or hung up on the question. */
  readonly isAnswered: boolean;
}

/** @returns when its words are known, or there will be no more of them. */
function ask({ host, port }: Address, question: Buffer, signal: AbortSignal): Promise<Said> {
  return new Promise((resolve) => {
    let said = Buffer.alloc(0);
    let isConnected = false;
    const socket = connectTcp({ host, port });
    const done = (isAnswered: boolean): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve({ words: wordsOf(said), isAnswered });
    };
    const onAbort = (): void => done(said.length > 0);
    const onEnd = (): void => done(isConnected);
    socket.on('error', onEnd);
    socket.on('close', onEnd);
    socket.on('connect', () => {
      isConnected = true;
      socket.write(question);
    });
    socket.on('data', (piece) => {
      said = Buffer.concat([said, piece]);
      if (said.length >= MOST_BYTES || wordsOf(said) !== undefined) done(true);
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function hidesBehindTls(address: Address, signal: AbortSignal): Promise<boolean> {
  const { words } = await ask(address, TLS_HELLO, signal);
  return words?.of === 'tls' || signal.aborted;
}

/** gRPC says so in every answer, also to a method that nobody has. Undefined: it cannot be told. */
function overHttp2({ host, port }: Address, signal: AbortSignal): Promise<'grpc' | 'http' | undefined> {
  return new Promise((resolve) => {
    const session = connect(`http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`);
    const done = (spoken?: 'grpc' | 'http'): void => {
      signal.removeEventListener('abort', onAbort);
      session.destroy();
      resolve(spoken);
    };
    const onAbort = (): void => done();
    session.on('error', () => done());
    session.on('close', () => done());
    const stream = session.request({
      ':method': 'POST',
      ':path': '/pacto.gate.Probe/None',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => done());
    stream.on('response', (headers) => done(judge(headers)));
    // One message without content.
    stream.end(Buffer.alloc(5));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function judge(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): 'grpc' | 'http' | undefined {
  const type = headers['content-type'];
  if (headers['grpc-status'] !== undefined || type?.startsWith('application/grpc') === true) return 'grpc';
  const status = headers[':status'] ?? 0;
  // A refusal may be of something in front of a gRPC server that knows this method only.
  return status >= 200 && status < 300 ? 'http' : undefined;
}
