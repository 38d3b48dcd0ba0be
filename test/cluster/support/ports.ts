/** Free loopback ports for servers that are stopped and started again on the same port. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that the kernel gives to outgoing connections (32768 on Linux, 49152 by IANA). A port from that
 * range could be taken while the server is down: even by the very client that tries to reach it again, since TCP
 * lets a socket connect to itself.
 */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;

/** More than enough on a machine that has any free port in the range. */
const ATTEMPTS = 100;

/**
 * Finds ports on 127.0.0.1 that nobody listens on at this moment. Somebody else may still take one before it is used:
 * the caller tries again with others when its server says so.
 *
 * @throws Error when no free port turns up.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS && found.size < count; attempt += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (await isFree(port)) found.add(port);
  }
  if (found.size < count)
    throw new Error(`no free port between ${LOWEST_PORT} and ${HIGHEST_PORT} on 127.0.0.1`);
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
