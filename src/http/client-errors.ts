/** Answers to what Node could not read as a request; written to the bare socket, for there is no reply yet. */
import type { Socket } from 'node:net';
import { bodyOf, TEXT, type Answer } from './answers.ts';
import type { Connections } from './connections.ts';
import type { OnRefusal } from './refusals.ts';

const SLOW: Answer = {
  status: 408,
  code: 'GATE_REVIEW_SLOW',
  message: 'request: the head or the body did not arrive in time: send it without pauses',
};
const HEADERS: Answer = {
  status: 431,
  code: 'GATE_HTTP_HEADERS',
  message: 'request: the header fields are larger than 16384 bytes: send less',
};
const MALFORMED: Answer = {
  status: 400,
  code: 'GATE_HTTP_MALFORMED',
  message: 'request: not HTTP/1.1 as RFC 9112 has it: send a well-formed request',
};
const NOT_TLS: Answer = {
  status: 400,
  code: 'GATE_HTTP_NOT_TLS',
  message: 'request: plain HTTP on an HTTPS port: use https',
};

interface ClientError {
  readonly code?: string;
}

export function answerClientErrors(
  connections: Connections,
  onRefusal: OnRefusal,
): (error: ClientError, socket: Socket) => void {
  const refuse = (socket: Socket, answer: Answer): void => {
    onRefusal(answer);
    write(socket, answer);
  };
  return (error, socket) => {
    if (error.code === 'ERR_SSL_HTTP_REQUEST') {
      // The TLS socket cannot write before its handshake; the TCP connection below it can.
      const below = connections.below(socket);
      if (below !== undefined) refuse(below, NOT_TLS);
      return;
    }
    const current = connections.answering(socket);
    // An answer that has begun cannot be followed by another one for the same request.
    const begun = current?.headersSent === true && !current.writableFinished;
    if (begun || !connections.established(socket) || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    refuse(socket, answerTo(error));
  };
}

function answerTo(error: ClientError): Answer {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return SLOW;
    case 'HPE_HEADER_OVERFLOW':
      return HEADERS;
    default:
      return MALFORMED;
  }
}

function write(socket: Socket, answer: Answer): void {
  // See makeServer in server.ts for why this is no import.
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const body = bodyOf(answer);
  socket.end(
    `HTTP/1.1 ${String(answer.status)} ${STATUS_CODES[answer.status] ?? ''}\r\nContent-Type: ${TEXT}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroySoon(),
  );
}
