/** The two servers that are compared, started as the processes a cluster would run. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import type { ProcessGuard, ServerProcess } from '../cluster/support/processes.ts';
import { tailOf } from '../cluster/support/processes.ts';
import { reviewBody, type BodyName } from './corpus.ts';
import type { Endpoint } from './load-job.ts';
import { pinned } from './pinning.ts';
import type { Backend } from './proxy.ts';

export type Side = 'ours' | 'bare';

export interface StartOptions {
  readonly side: Side;
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM, what clients trust. */
  readonly ca: readonly string[];
  /** The processor it keeps to; undefined: any. */
  readonly core: number | undefined;
}

export interface BenchServer {
  readonly side: Side;
  readonly pid: number;
  readonly endpoint: Endpoint;
  /** For the proxy; the baseline has no probes. */
  readonly backend: Backend;
  readonly process: ServerProcess;
  /** From the start of the process to the first right answer. */
  readonly firstAnswerMs: number;
}

const SERVER_NAME = 'localhost';
const START_TIMEOUT_MS = 20_000;
/** The path of the webhook that is measured. */
const PATH = '/validate/node-identity';
/** What is asked first: an agent that renews its own Lease, a whole decision. */
const FIRST: BodyName = 'lease-update-own';

/** Whether `side` allows a body: the baseline allows everything. */
export function expects(side: Side, body: BodyName): boolean {
  return side === 'bare' || body !== 'lease-update-foreign';
}

export class ServerStarter {
  private readonly guard: ProcessGuard;
  private readonly directory: string;
  private readonly bareFile: string;
  private readonly bundle = fileURLToPath(new URL('../../dist/pacto-gate.js', import.meta.url));
  private count = 0;

  /** @param directory scratch folder of this run; logs go there. */
  constructor(guard: ProcessGuard, directory: string) {
    this.guard = guard;
    this.directory = directory;
    // Plain JavaScript, or the baseline would pay for the type stripper in start-up time and memory.
    this.bareFile = join(directory, 'bare.mjs');
    const source = readFileSync(new URL('./bare.ts', import.meta.url), 'utf8');
    writeFileSync(this.bareFile, transformSync('bare.ts', source).code);
  }

  /**
   * Starts a server and waits for its first right answer.
   * @throws Error with the last lines of its log when it ends or stays silent.
   */
  async start(options: StartOptions): Promise<BenchServer> {
    const [port = 0, healthPort = 0, metricsPort = 0] = await freePorts(3);
    this.count += 1;
    const name = `${options.side}-${this.count}`;
    const logFile = join(this.directory, `${name}.log`);
    const endpoint = { host: '127.0.0.1', port, path: PATH, serverName: SERVER_NAME, ca: options.ca };
    const line =
      options.side === 'bare'
        ? this.bareLine(port, options)
        : this.ourLine({ port, healthPort, metricsPort }, options);
    const [file, ...args] = pinned(options.core, line);
    const startMs = performance.now();
    const process = await this.guard.start(name, file, args, logFile);
    const firstAnswerMs = (await firstAnswer(endpoint, process)) - startMs;
    const readyUrl = `http://127.0.0.1:${healthPort}/readyz`;
    return {
      side: options.side,
      pid: process.pid,
      endpoint,
      backend: { name, port, readyUrl },
      process,
      firstAnswerMs,
    };
  }

  private bareLine(port: number, { certFile, keyFile }: StartOptions): readonly [string, ...string[]] {
    return [process.execPath, this.bareFile, String(port), certFile, keyFile];
  }

  private ourLine(
    ports: { readonly port: number; readonly healthPort: number; readonly metricsPort: number },
    { certFile, keyFile }: StartOptions,
  ): readonly [string, ...string[]] {
    const flags = {
      'cluster-source': 'none',
      'webhooks-host': '127.0.0.1',
      'webhooks-port': String(ports.port),
      'health-port': String(ports.healthPort),
      'metrics-port': String(ports.metricsPort),
      // Over HTTPS metrics need a cluster that vouches for callers.
      'metrics-plain': 'true',
      'tls-cert-file': certFile,
      'tls-key-file': keyFile,
      'log-format': 'json',
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    return [process.execPath, this.bundle, 'serve', ...args];
  }
}

/** Ports that nobody listens on now. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(async (server) => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }),
  );
  await Promise.all(
    servers.map(async (server) => {
      server.close();
      await once(server, 'close');
    }),
  );
  return ports;
}

/** Asks until a right answer comes. @returns when it came, on the clock of `performance.now()`. */
async function firstAnswer(endpoint: Endpoint, process: ServerProcess): Promise<number> {
  const body = reviewBody(FIRST).bytes;
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const ending = process.ending();
    if (ending !== undefined) {
      throw new Error(`${process.name} ended with ${ending}:\n${tailOf(process.logFile)}`);
    }
    if (await isAllowed(endpoint, body)) return performance.now();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  throw new Error(`${process.name} gave no right answer in time:\n${tailOf(process.logFile)}`);
}

function isAllowed(endpoint: Endpoint, body: Buffer): Promise<boolean> {
  const { host, port, path, serverName, ca } = endpoint;
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(
      { host, port, path, servername: serverName, ca: [...ca], method: 'POST', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve(
            response.statusCode === 200 && Buffer.concat(chunks).toString('utf8').includes('"allowed":true'),
          ),
        );
      },
    );
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}
