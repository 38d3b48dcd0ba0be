/** First words of a server, and what they are of. */

export type Words =
  | { readonly of: 'http1'; /** 100 to 999. */ readonly status: number }
  | { readonly of: 'http2' }
  | { readonly of: 'tls' }
  /** Of one known protocol that is neither HTTP nor gRPC. */
  | { readonly of: 'other' };

/** More is not waited for: whoever has said so much and is not known will not be. */
export const MOST_BYTES = 512;

const HTTP1 = /^HTTP\/1\.[01] (\d{3})[ \r\n]/;

/** First words that belong to one protocol and to nothing that is HTTP or gRPC. */
const GREETINGS: readonly RegExp[] = [
  // SMTP and FTP (RFC 5321, RFC 959): a code, and a line.
  /^220[ -][\x20-\x7e]+\r\n/,
  // SSH (RFC 4253).
  /^SSH-[12]\.\d+-/,
  // Redis, of a command that it does not know, or may not do yet.
  /^-(?:ERR (?:unknown command|wrong number of arguments)|NOAUTH Authentication required)/i,
  // IMAP and POP3 (RFC 3501, RFC 1939).
  /^\* OK [\x20-\x7e]*IMAP/i,
  /^\+OK [\x20-\x7e]*POP/i,
  // NATS.
  /^INFO \{"server_id":/,
  // RFB, which is VNC (RFC 6143).
  /^RFB \d{3}\.\d{3}\n/,
];

/** Of a packet of MySQL and MariaDB: its length has three bytes, its number one. */
const MYSQL_HEADER_BYTES = 4;
const MYSQL_PROTOCOL = 10;
/** AMQP answers another header than its own with its own, of eight bytes: the name, and four small numbers. */
const AMQP = 'AMQP';
const AMQP_HEADER_BYTES = 8;

/** Of a frame of HTTP/2 (RFC 9113 §4.1). */
const FRAME_HEADER_BYTES = 9;
const SETTINGS_TYPE = 4;
const SETTING_BYTES = 6;
/** Of a record of TLS (RFC 8446 §5.1): an alert, or a part of a handshake. */
const TLS_TYPES: ReadonlySet<number> = new Set([0x15, 0x16]);

/** @returns undefined for what is too short to be known, or unknown. */
export function wordsOf(said: Buffer): Words | undefined {
  if (said.length >= 3 && TLS_TYPES.has(said[0] ?? 0) && said[1] === 3 && (said[2] ?? 9) <= 4)
    return { of: 'tls' };
  if (isSettings(said)) return { of: 'http2' };
  const text = said.toString('latin1', 0, MOST_BYTES);
  const status = HTTP1.exec(text)?.[1];
  if (status !== undefined) return { of: 'http1', status: Number(status) };
  const isOther = isMysql(said) || isAmqp(said) || GREETINGS.some((greeting) => greeting.test(text));
  return isOther ? { of: 'other' } : undefined;
}

/** The first packet, the version of the protocol, and that of the server as a text that a zero ends. */
function isMysql(said: Buffer): boolean {
  const version = MYSQL_HEADER_BYTES + 1;
  const end = said.indexOf(0, version);
  return (
    said[2] === 0 &&
    said[3] === 0 &&
    said[MYSQL_HEADER_BYTES] === MYSQL_PROTOCOL &&
    end !== -1 &&
    /^\d+\.\d+[\x20-\x7e]*$/.test(said.toString('latin1', version, end))
  );
}

function isAmqp(said: Buffer): boolean {
  return (
    said.toString('latin1', 0, AMQP.length) === AMQP &&
    said.length >= AMQP_HEADER_BYTES &&
    said.subarray(AMQP.length, AMQP_HEADER_BYTES).every((number) => number < 10)
  );
}

/** A server begins HTTP/2 with its SETTINGS, which are of no stream and acknowledge nothing (RFC 9113 §3.4, §6.5). */
function isSettings(said: Buffer): boolean {
  return (
    said.length >= FRAME_HEADER_BYTES &&
    said.readUIntBE(0, 3) % SETTING_BYTES === 0 &&
    said[3] === SETTINGS_TYPE &&
    said[4] === 0 &&
    said.readUInt32BE(5) === 0
  );
}
