/** Network is off in tests: a socket to anything but loopback fails loudly (style.md H18). */
import { Socket } from 'node:net';

type Connect = typeof Socket.prototype.connect;

/** Names below .test are in no DNS (RFC 6761): they lead only where a test's own look-up says. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost|([a-z0-9-]+\.)+test)$/i;

// The one prototype through which every client library dials.
const connect: Connect = Reflect.get(Socket.prototype, 'connect');

Socket.prototype.connect = function guarded(this: Socket, ...args: Parameters<Connect>): Socket {
  const flat: unknown[] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const first = flat[0];
  const host =
    typeof first === 'object' && first !== null
      ? 'path' in first && typeof first.path === 'string'
        ? 'localhost'
        : 'host' in first && typeof first.host === 'string'
          ? first.host
          : 'localhost'
      : typeof flat[1] === 'string'
        ? flat[1]
        : 'localhost';
  if (!LOOPBACK.test(host)) throw new Error(`a test tried to connect to ${host}: only loopback is allowed`);
  return Reflect.apply<Socket, unknown[], Socket>(connect as (...all: unknown[]) => Socket, this, args);
} as Connect;
