/** A TLS handshake as the API server begins a call of a webhook, and what the certificate is worth to it. */
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import type { Handshake, HandshakeTarget } from '../install/preflight/service-checks.ts';

/** From outside the cluster most Services are out of reach: nobody should wait long to hear that. */
const TIMEOUT_MS = 3_000;

/** Never rejects: a server that cannot be reached is an answer. */
export function shakeHands({ host, port, bundle }: HandshakeTarget): Promise<Handshake> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      // No name of a server for an address (RFC 6066 §3).
      ...(isIP(host) === 0 && { servername: host }),
      ...(bundle !== undefined && { ca: bundle }),
      // What is wrong with the certificate is what we want to know.
      rejectUnauthorized: false,
    });
    const end = (answer: Handshake): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(TIMEOUT_MS, () =>
      end({ reached: false, why: `no answer within ${String(TIMEOUT_MS / 1000)} s` }),
    );
    socket.once('error', (error) => end({ reached: false, why: messageOf(error) }));
    socket.once('secureConnect', () => end(worthOf(socket)));
  });
}

function worthOf(socket: TLSSocket): Handshake {
  const { valid_to: end } = socket.getPeerCertificate();
  // Node's types promise an Error; at run time it is a code, or the message of a name that does not fit.
  const fault: unknown = socket.authorizationError;
  return {
    reached: true,
    trusted: socket.authorized,
    why: socket.authorized ? '' : messageOf(fault),
    notAfterMs: Date.parse(end),
  };
}
