/**
 * What a port speaks, by its first words to a client that offers HTTP/2 without TLS (RFC 9113 §3.3): a server of HTTP/2
 * answers with its SETTINGS, one of HTTP/1 with a refusal that begins with its version, others with a greeting or a
 * complaint of their own. Whatever is not certain is nothing.
 */
import { connect, type ClientHttp2Session } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { WireProtocol } from '../../policies/observation.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** An empty SETTINGS frame (RFC 9113 §6.5). */
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const SETTINGS_TYPE = 4;
/** Enough of an answer to know it by. */
const FIRST_BYTES = 64;

/** First words that belong to one protocol and to nothing that is HTTP or gRPC. */
const GREETINGS: readonly RegExp[] = [
  // RFC 5321 and RFC 959: a code, and a name.
  /^220[ -][\x20-\x7e]+\r\n/,
  // RFC 4253.
  /^SSH-[12]\.[\d]+-/,
  // Redis answers a command that it does not know.
  /^-ERR (?:unknown command|wrong number)/i,
  // RFC 3501 and RFC 1939.
  /^\* OK [\x20-\x7e]*IMAP/i,
  /^\+OK [\x20-\x7e]*POP/i,
];

/** @returns empty where it is not known, also when the signal aborts. */
export async function speaks(address: Address, signal: AbortSignal): Promise<readonly WireProtocol[]> {
  const first = await firstWords(address, signal);
  const text = first.toString('latin1');
  if (text.startsWith('HTTP/1.')) return ['http'];
  if (isSettings(first)) return await overHttp2(address, signal);
  return GREETINGS.some((greeting) => greeting.test(text)) ? ['other'] : [];
}

function isSettings(bytes: Buffer): boolean {
  return bytes.length >= 9 && bytes[3] === SETTINGS_TYPE && bytes.readUInt32BE(5) === 0;
}

function firstWords({ host, port }: Address, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port });
    const pieces: Buffer[] = [];
    let length = 0;
    const done = (): void => {
      signal.removeEventListener('abort', done);
      socket.destroy();
      resolve(Buffer.concat(pieces));
    };
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) {
      done();
      return;
    }
    socket.once('connect', () => socket.write(Buffer.concat([PREFACE, EMPTY_SETTINGS])));
    socket.on('data', (piece) => {
      pieces.push(piece);
      length += piece.length;
      // A greeting comes as one line, and SETTINGS as one frame.
      if (length >= 9) done();
      if (length >= FIRST_BYTES) done();
    });
    socket.on('error', done);
    socket.on('close', done);
  });
}

/** gRPC says so in every answer, also to a method that nobody has; a server may speak both. */
function overHttp2({ host, port }: Address, signal: AbortSignal): Promise<readonly WireProtocol[]> {
  return new Promise((resolve) => {
    const authority = host.includes(':') ? `[${host}]` : host;
    const session: ClientHttp2Session = connect(`http://${authority}:${String(port)}`);
    const done = (spoken: readonly WireProtocol[]): void => {
      signal.removeEventListener('abort', onAbort);
      session.destroy();
      resolve(spoken);
    };
    const onAbort = (): void => done([]);
    signal.addEventListener('abort', onAbort, { once: true });
    session.on('error', () => done([]));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/pacto.gate.Probe/None',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => done([]));
    stream.on('response', (headers) => {
      const type = headers['content-type'];
      const isGrpc =
        headers['grpc-status'] !== undefined ||
        (typeof type === 'string' && type.startsWith('application/grpc'));
      done(isGrpc ? ['grpc'] : ['http']);
    });
    // An empty message of no length.
    stream.end(Buffer.alloc(5));
  });
}
