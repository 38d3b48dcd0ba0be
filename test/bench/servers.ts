/** The servers that are compared, started as the processes a cluster would run. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'rolldown/utils';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { ProcessGuard, ServerProcess } from '../cluster/support/processes.ts';
import { tailOf } from '../cluster/support/processes.ts';
import { reviewBody, type BodyName } from './corpus.ts';
import type { Endpoint } from './load-job.ts';
import { pinned } from './pinning.ts';
import { breakingReview } from './policies/breaking-review.ts';
import {
  benchPolicies,
  pathsOf,
  policyFile,
  together,
  type PolicyObject,
} from './policies/policy-objects.ts';
import type { Backend } from './proxy.ts';

/** The peer in Go is no server of every scenario: it only evaluates policies. */
export type Side = 'ours' | 'bare' | 'go';

/** Keys of the configuration as options, and what is asked first. */
export interface Setting {
  readonly flags: Readonly<Record<string, string>>;
  /** The paths over which reviews of Pods are spread: each enforces something about them. */
  readonly podPaths: readonly string[];
  /** The same of the peer in Go, where it is asked otherwise. */
  readonly peerPaths?: readonly string[];
  /** Before the program; for Node. */
  readonly nodeFlags?: readonly string[];
}

export interface StartOptions {
  readonly side: Side;
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM, what clients trust. */
  readonly ca: readonly string[];
  /** The processor it keeps to; undefined: any. */
  /** A processor of its own; a list such as `0,1`: any of these. */
  readonly core: number | string | undefined;
  /** Default: the sixteen policies of the benchmark, each at a path of its own. */
  readonly setting?: Setting;
  /** Of the peer in Go. */
  readonly program?: string;
}

export interface BenchServer {
  readonly side: Side;
  readonly podPaths: readonly string[];
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
/** Of everything that is no Pod: nodes are no less busy for the policies beside them. */
const IDENTITY_PATH = '/validate/node-identity';
/** What is asked first: a policy evaluated, a whole decision. */
const FIRST: BodyName = 'pod-create-4k';
/** All sixteen policies on one review, which only the peer in Go can be asked (test/bench/go/webhook.go). */
const ALL_OF_PEER = '/validate/policies';
/** The namespace of all reviews; policies are not evaluated without. */
export const REVIEWED_NAMESPACE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop' },
};

/** Whether `side` allows a body: the baseline allows everything, and nothing here breaks a policy. */
export function expects(side: Side, body: BodyName): boolean {
  return side === 'bare' || body !== 'lease-update-foreign';
}

/** Where a body goes to. */
export function pathsFor(server: Pick<BenchServer, 'podPaths'>, body: BodyName): readonly string[] {
  return body.startsWith('pod-') ? server.podPaths : [IDENTITY_PATH];
}

export class ServerStarter {
  private readonly guard: ProcessGuard;
  private readonly directory: string;
  private readonly bareFile: string;
  private readonly bundle = fileURLToPath(new URL('../../dist/pacto-gate.js', import.meta.url));
  private readonly peerPolicies: string;
  /** A policy a request, sixteen of them. */
  readonly sixteen: Setting;
  /** The work of all sixteen in each request. */
  readonly together: Setting;
  private count = 0;

  /** @param directory scratch folder of this run; logs go there. */
  constructor(guard: ProcessGuard, directory: string) {
    this.guard = guard;
    this.directory = directory;
    // Plain JavaScript, or the baseline would pay for the type stripper in start-up time and memory.
    this.bareFile = join(directory, 'bare.mjs');
    this.stripTypes('bare.ts', this.bareFile);
    const policies = benchPolicies();
    const one = together(policies);
    const clusterDirectory = join(directory, 'cluster');
    mkdirSync(clusterDirectory);
    writeFileSync(join(clusterDirectory, 'namespace.yaml'), JSON.stringify(REVIEWED_NAMESPACE));
    this.peerPolicies = join(directory, 'policies.json');
    writeFileSync(this.peerPolicies, JSON.stringify(policies));
    const settingOf = (name: string, enforced: readonly PolicyObject[]): Setting => {
      const file = join(directory, name);
      writeFileSync(file, policyFile(enforced));
      const flags = {
        'cluster-source': 'directory',
        'cluster-directory': clusterDirectory,
        'policies-files': file,
      };
      return { flags, podPaths: pathsOf(enforced) };
    };
    this.sixteen = settingOf('sixteen.yaml', policies);
    this.together = { ...settingOf('together.yaml', [one]), peerPaths: [ALL_OF_PEER] };
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
    const endpoint = { host: '127.0.0.1', port, serverName: SERVER_NAME, ca: options.ca };
    const setting = options.setting ?? this.sixteen;
    const lines = {
      ours: () => this.ourLine({ port, healthPort, metricsPort }, setting, options),
      bare: () => this.bareLine(port, options),
      go: () => this.peerLine(port, options),
    };
    const [file, ...args] = pinned(options.core, lines[options.side]());
    const podPaths = (options.side === 'go' ? setting.peerPaths : undefined) ?? setting.podPaths;
    const startMs = performance.now();
    const process = await this.guard.start(name, file, args, logFile);
    // The last one: those before it are known then too.
    const path = podPaths.at(-1) ?? IDENTITY_PATH;
    const firstAnswerMs = (await firstAnswer(endpoint, path, process)) - startMs;
    const readyUrl = `http://127.0.0.1:${healthPort}/readyz`;
    return {
      side: options.side,
      podPaths,
      pid: process.pid,
      endpoint,
      backend: { name, port, readyUrl },
      process,
      firstAnswerMs,
    };
  }

  /** For `--import`: a server that writes its stalls to `file` (stall-probe.ts), so often. */
  stallProbe(file: string, everyMs = 1_000): string {
    const probe = join(this.directory, 'stall-probe.mjs');
    this.stripTypes('stall-probe.ts', probe);
    const url = pathToFileURL(probe);
    url.searchParams.set('file', file);
    url.searchParams.set('every', String(everyMs));
    return url.href;
  }

  private stripTypes(name: string, file: string): void {
    const source = readFileSync(new URL(name, import.meta.url), 'utf8');
    writeFileSync(file, transformSync(name, source).code);
  }

  private peerLine(
    port: number,
    { certFile, keyFile, program = '' }: StartOptions,
  ): readonly [string, ...string[]] {
    return [program, 'webhook', `127.0.0.1:${port}`, certFile, keyFile, this.peerPolicies];
  }

  private bareLine(port: number, { certFile, keyFile }: StartOptions): readonly [string, ...string[]] {
    return [process.execPath, this.bareFile, String(port), certFile, keyFile];
  }

  private ourLine(
    ports: { readonly port: number; readonly healthPort: number; readonly metricsPort: number },
    { flags: given, nodeFlags = [] }: Setting,
    { certFile, keyFile }: StartOptions,
  ): readonly [string, ...string[]] {
    const flags = {
      ...given,
      // As a chart runs it: verdicts are kept by another process.
      roles: 'webhooks',
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
    return [process.execPath, ...nodeFlags, this.bundle, 'serve', ...args];
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

/**
 * Asks each path about a Pod that everything here refuses: what allows it is not evaluated, and measures nothing.
 * @throws Error naming the paths that do not refuse it
 */
export async function proveEvaluation({ side, endpoint, podPaths }: BenchServer): Promise<void> {
  if (side === 'bare') return;
  const body = breakingReview();
  const allowing: string[] = [];
  for (const path of podPaths) {
    const answer = await ask(endpoint, path, body);
    // A failure policy refuses too, and says so.
    if (!answer.includes('"allowed":false') || answer.includes('InternalError')) allowing.push(path);
  }
  if (allowing.length > 0) throw new Error(`${side} does not evaluate at ${allowing.join(', ')}`);
}

/** Asks until a right answer comes. @returns when it came, on the clock of `performance.now()`. */
async function firstAnswer(endpoint: Endpoint, path: string, process: ServerProcess): Promise<number> {
  const body = reviewBody(FIRST).bytes;
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const ending = process.ending();
    if (ending !== undefined) {
      throw new Error(`${process.name} ended with ${ending}:\n${tailOf(process.logFile)}`);
    }
    if ((await ask(endpoint, path, body)).includes('"allowed":true')) return performance.now();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  throw new Error(`${process.name} gave no right answer in time:\n${tailOf(process.logFile)}`);
}

/** @returns the body of an answer 200, or an empty text. */
function ask(endpoint: Endpoint, path: string, body: Buffer): Promise<string> {
  const { host, port, serverName, ca } = endpoint;
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(
      { host, port, path, servername: serverName, ca: [...ca], method: 'POST', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString('utf8') : ''),
        );
      },
    );
    sent.on('error', () => resolve(''));
    sent.end(body);
  });
}
