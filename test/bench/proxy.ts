/**
 * A TCP proxy on loopback that does what a Service does: new connections go to backends that were ready at the last
 * look, in turn; connections that exist stay where they are, also when their backend is ready no more.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** About what an endpoints controller and kube-proxy need on a small cluster at best. */
const LOOK_EVERY_MS = 150;
/** A probe that hangs is a probe that failed. */
const LOOK_TIMEOUT_MS = 1_000;

export interface Backend {
  readonly name: string;
  readonly port: number;
  /** Plain HTTP on loopback; 200 means ready. */
  readonly readyUrl: string;
}

export class ReadinessProxy {
  private readonly server: Server;
  private readonly backends = new Map<Backend, boolean>();
  private readonly sockets = new Set<Socket>();
  private readonly timer: NodeJS.Timeout;
  private turn = 0;
  /** Connections that were refused because no backend was ready. */
  refused = 0;

  private constructor(server: Server) {
    this.server = server;
    server.on('connection', (client: Socket) => this.forward(client));
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  static async start(): Promise<ReadinessProxy> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ReadinessProxy(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Not ready until the next look. */
  add(backend: Backend): void {
    this.backends.set(backend, false);
  }

  remove(backend: Backend): void {
    this.backends.delete(backend);
  }

  isReady(backend: Backend): boolean {
    return this.backends.get(backend) === true;
  }

  /** Resolves when the proxy has seen `backend` ready, or not ready. */
  async seen(backend: Backend, ready: boolean, timeoutMs: number): Promise<void> {
    const startMs = performance.now();
    while (this.isReady(backend) !== ready) {
      if (performance.now() - startMs > timeoutMs) {
        throw new Error(`${backend.name} was not ${ready ? 'ready' : 'unready'} within ${timeoutMs} ms`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async look(): Promise<void> {
    await Promise.all(
      [...this.backends.keys()].map(async (backend) => {
        const ready = await probe(backend.readyUrl);
        if (this.backends.has(backend)) this.backends.set(backend, ready);
      }),
    );
  }

  private forward(client: Socket): void {
    const ready = [...this.backends].filter(([, isReady]) => isReady).map(([backend]) => backend);
    const backend = ready[this.turn % Math.max(ready.length, 1)];
    this.turn += 1;
    if (backend === undefined) {
      this.refused += 1;
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: backend.port, noDelay: true });
    this.join(client, upstream);
    this.join(upstream, client);
  }

  /** What comes in on one side goes out on the other, and so do its end and its loss. */
  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.pipe(to);
    // A reset is passed on as one; 'close' follows. A socket that is being shut down cannot be reset any more: it
    // would stay half-closed, and the process could not end.
    from.on('error', () => {
      if (to.writableEnded) to.destroy();
      else to.resetAndDestroy();
    });
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroySoon();
    });
  }
}

function probe(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: LOOK_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.on('close', () => resolve(false));
  });
}
