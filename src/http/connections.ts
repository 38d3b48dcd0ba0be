/** The connections of a server, from the first byte on: Node's own list begins only after the handshake. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { sleep, type Clock } from '../clock.ts';

export interface Connections {
  readonly open: ReadonlySet<Socket>;
  /** Whether a request could have come over it: its handshake, where there is one, is done. */
  established(socket: unknown): boolean;
  /** The answer under way on a connection, or the last one. */
  answering(socket: unknown): ServerResponse | undefined;
  /** TLS connections that never brought a request, and when they were made, monotonic. */
  readonly unused: ReadonlyMap<Socket, number>;
  /** The TCP connection below a TLS socket, by the caller's address and port. */
  below(socket: unknown): Socket | undefined;
  dropped: number;
  failedHandshakes: number;
}

export function trackConnections(server: Server, clock: Clock): Connections {
  const open = new Set<Socket>();
  const unused = new Map<Socket, number>();
  const secure = new WeakSet<object>();
  const answers = new WeakMap<object, ServerResponse>();
  const connections: Connections = {
    open,
    unused,
    established: (socket) => open.has(socket as Socket) || secure.has(socket as Socket),
    answering: (socket) => (socket instanceof Object ? answers.get(socket) : undefined),
    below(socket) {
      const { remoteAddress, remotePort } = socket as Socket;
      return [...open].find(
        (raw) =>
          raw.remotePort === remotePort && raw.remoteAddress === remoteAddress && remotePort !== undefined,
      );
    },
    dropped: 0,
    failedHandshakes: 0,
  };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('secureConnection', (socket: Socket) => {
    secure.add(socket);
    unused.set(socket, clock.monotonic());
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', (request, response) => {
    unused.delete(request.socket);
    answers.set(request.socket, response);
  });
  server.on('drop', () => {
    connections.dropped++;
  });
  server.on('tlsClientError', () => {
    connections.failedHandshakes++;
  });
  return connections;
}

/** How often connections that have become idle are looked for (platform.md §3.4: one can outlive `close()` by 95 s). */
const SWEEP_MS = 50;
/**
 * An API server that asks many entries at once makes more connections than it uses, and keeps them (measured: 20 after
 * a hundred requests to 36 entries). Node does not count such as idle, and a connection that was made for a request
 * brings it at once.
 */
const UNUSED_MS = 1_000;

/** Ends idle connections as they become idle, and after the grace all that are left. */
export async function closeConnections(
  server: Server,
  connections: Connections,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  const endMs = clock.monotonic() + graceMs;
  while (connections.open.size > 0 && clock.monotonic() < endMs) {
    server.closeIdleConnections();
    const oldMs = clock.monotonic() - UNUSED_MS;
    for (const [socket, madeMs] of connections.unused) if (madeMs <= oldMs) socket.destroy();
    await sleep(clock, SWEEP_MS);
  }
  for (const socket of connections.open) socket.destroy();
}
