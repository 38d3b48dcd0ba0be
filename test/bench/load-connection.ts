/**
 * One TLS connection that carries one HTTP/1.1 request at a time. Raw sockets, because the generator must be at least
 * twice as fast as the fastest server it measures, and a full HTTP client is not.
 */
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Endpoint } from './load-job.ts';

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** The server said `Connection: close`: no further request may go this way. */
  readonly lastOfConnection: boolean;
}

export interface ConnectionEvents {
  opened(connection: LoadConnection): void;
  answered(connection: LoadConnection, answer: Answer): void;
  /** Once, also after a failed dial. `reason` is short and the same for the same fault. */
  closed(connection: LoadConnection, reason: string): void;
}

const HEADER_END = Buffer.from('\r\n\r\n');
/** A verdict is some hundred bytes; more than this is no answer of ours. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export class LoadConnection {
  /** TLS is up and no request is on the way. */
  idle = false;
  private readonly socket: TLSSocket;
  private readonly events: ConnectionEvents;
  private received: Buffer = Buffer.alloc(0);
  private isClosed = false;
  private reason = 'closed by the server';

  constructor(endpoint: Endpoint, secureContext: SecureContext, events: ConnectionEvents) {
    this.events = events;
    const { host, port, serverName } = endpoint;
    // Without a session of an earlier connection: each dial is a full handshake, as for a client that is new.
    this.socket = connect({ host, port, servername: serverName, secureContext, ALPNProtocols: ['http/1.1'] });
    this.socket.setNoDelay(true);
    this.socket.on('secureConnect', () => {
      this.idle = true;
      events.opened(this);
    });
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk));
    this.socket.on('end', () => {
      this.idle = false;
      this.socket.destroy();
    });
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.reason = error.code ?? error.message;
    });
    this.socket.on('close', () => this.finish(this.reason));
  }

  /** SHA-256 fingerprint of the certificate by which the server proved itself. */
  fingerprint(): string {
    return this.socket.getPeerX509Certificate()?.fingerprint256 ?? 'none';
  }

  /** Sends one whole request; small ones in one part. */
  send(parts: readonly Buffer[]): void {
    this.idle = false;
    if (parts.length > 1) this.socket.cork();
    for (const part of parts) this.socket.write(part);
    if (parts.length > 1) this.socket.uncork();
  }

  close(reason: string): void {
    this.reason = reason;
    this.socket.destroy();
    this.finish(reason);
  }

  private finish(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.idle = false;
    this.events.closed(this, reason);
  }

  private receive(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headerEnd = this.received.indexOf(HEADER_END);
    if (headerEnd === -1) return;
    const header = this.received.toString('latin1', 0, headerEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(header)?.[1] ?? 0);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(header)?.[1] ?? -1);
    if (status === 0 || length < 0 || length > MAX_ANSWER_BYTES) {
      this.close('answer that is not HTTP/1.1 with a length');
      return;
    }
    const end = headerEnd + HEADER_END.length + length;
    if (this.received.length < end) return;
    const body = this.received.subarray(end - length, end);
    this.received = Buffer.alloc(0);
    this.idle = true;
    this.events.answered(this, { status, body, lastOfConnection: /\r\nconnection: *close/i.test(header) });
  }
}
