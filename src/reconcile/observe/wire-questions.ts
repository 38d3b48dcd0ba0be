/** What is said to a port to learn what it speaks, byte by byte. */

export interface Address {
  readonly host: string;
  readonly port: number;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** Types and flags of frames (RFC 9113 §6). */
const HEADERS = 1;
const SETTINGS = 4;
const END_STREAM = 1;
const END_HEADERS = 4;
/** HPACK (RFC 7541, appendix A): `:method: POST` and `:scheme: http` as a whole, and the numbers of names. */
const POST_OVER_HTTP = Buffer.from([0x83, 0x86]);
const AUTHORITY = Buffer.from([0x01]);
const PATH = Buffer.from([0x04]);
const CONTENT_TYPE = Buffer.from([0x0f, 0x10]);
const NEW_NAME = Buffer.from([0x00]);

/**
 * The preface, settings and a call of gRPC, all at once: a server that tells gRPC from others by its headers says nothing
 * before it has them.
 */
export function http2Offer({ host, port }: Address): Buffer {
  const headers = Buffer.concat([
    POST_OVER_HTTP,
    AUTHORITY,
    text(`${host}:${String(port)}`),
    PATH,
    text('/pacto.gate.Probe/None'),
    CONTENT_TYPE,
    text('application/grpc'),
    NEW_NAME,
    text('te'),
    text('trailers'),
  ]);
  return Buffer.concat([
    PREFACE,
    frame(SETTINGS, 0, 0, Buffer.alloc(0)),
    frame(HEADERS, END_STREAM | END_HEADERS, 1, headers),
  ]);
}

export function http1Question({ host, port }: Address): Buffer {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  return Buffer.from(
    `GET / HTTP/1.1\r\nhost: ${authority}\r\nuser-agent: pacto-gate\r\naccept: */*\r\nconnection: close\r\n\r\n`,
  );
}

/**
 * The least greeting of TLS 1.2 (RFC 5246 §7.4.1.2): a server of TLS greets back or complains, in TLS either way. What should
 * be random is not: nothing is kept secret by it.
 */
export const TLS_HELLO = Buffer.concat([
  // A record of a handshake, and its length; a ClientHello, its length, and TLS 1.2.
  Buffer.from([0x16, 3, 1, 0, 47, 1, 0, 0, 43, 3, 3]),
  Buffer.alloc(32, 0x70),
  // No session, two suites, no compression.
  Buffer.from([0, 0, 4, 0xc0, 0x2f, 0xc0, 0x2b, 1, 0]),
]);

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** As it is (RFC 7541 §5.2); names of Services and namespaces have at most 63 characters each. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  return Buffer.concat([
    Buffer.from(rest < 128 ? [127, rest] : [127, (rest % 128) | 128, Math.floor(rest / 128)]),
    bytes,
  ]);
}
