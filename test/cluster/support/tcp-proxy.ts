/** A TCP proxy in front of a server on loopback that can go silent or away, as a network can. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * `pass`: hands bytes over both ways. `hang`: accepts, and hands over nothing; what was open stays open and silent.
 * `freeze`: the connection that is open the longest falls silent for good, as one that a firewall forgot; all others
 * pass. `cut`: resets what is open and what comes.
 */
export type ProxyMode = 'pass' | 'hang' | 'freeze' | 'cut';

export interface TcpProxy {
  readonly port: number;
  /** Open at this moment. */
  connections(): number;
  set(mode: ProxyMode): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass';
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket; frozen: boolean }>();
  const listener = createServer((client) => {
    client.on('error', () => undefined);
    if (mode === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: '127.0.0.1', port: targetPort });
    const pair = { client, server, frozen: false };
    pairs.add(pair);
    // Whoever loses its other side is closed as well.
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('data', (chunk: Buffer) => void other.write(chunk));
      one.once('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
      if (mode === 'hang') one.pause();
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    connections: () => pairs.size,
    set(next) {
      mode = next;
      const [oldest] = pairs;
      if (next === 'freeze' && oldest !== undefined) oldest.frozen = true;
      for (const pair of pairs) {
        if (next === 'cut') pair.client.resetAndDestroy();
        for (const socket of [pair.client, pair.server]) {
          if (next === 'hang' || pair.frozen) socket.pause();
          else socket.resume();
        }
      }
    },
    async close() {
      for (const { client } of pairs) client.resetAndDestroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
