/** Our server as a process of its own beside a control plane, and its webhook entries as the command line writes them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SecretMount } from '../../bench/secret-mount.ts';
import { ask } from '../../support/http-client.ts';
import { AGENT_NAMESPACE, aLease } from '../../support/builders.ts';
import { AGENT_USERNAME, LEASES } from './agents.ts';
import type { ApiClient } from './api-client.ts';
import { createAuthority, type Authority } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';
import { writeKubeconfig } from './credentials.ts';
import { pollUntil } from './polling.ts';
import { findFreePorts } from './ports.ts';
import { createProcessGuard, tailOf, type ServerProcess } from './processes.ts';

const MAIN = resolve('src/main.ts');

export const GATE_NAMESPACE = 'pacto-system';
export const GATE_ACCOUNT = 'pacto-gate';
export const GATE_USERNAME = `system:serviceaccount:${GATE_NAMESPACE}:${GATE_ACCOUNT}`;

const ACCOUNT_OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATE_NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: GATE_ACCOUNT, namespace: GATE_NAMESPACE } },
];

export interface GateOptions {
  readonly plane: ControlPlane;
  /** Further flags of `pacto-gate serve`. */
  readonly flags?: readonly string[];
  /** Address of the API server, where it is not the control plane's own: a proxy in between. */
  readonly server?: string;
}

/** One line of the server's log. */
export interface GateLogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface Gate {
  /** `https://127.0.0.1:PORT`; the same after a restart. */
  readonly url: string;
  readonly metricsUrl: string;
  /** Its certificate files, as the kubelet mounts a Secret, and the authority that issued them. */
  readonly mount: SecretMount;
  readonly authority: Authority;
  /** Starts the server and waits until it is ready. Does nothing when it runs. */
  start(): Promise<void>;
  /** Ends it. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** How it ended; undefined while it runs. */
  ending(): string | undefined;
  /** Stops the process where it is, and lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  log(): GateLogLine[];
  /** Reviews answered since it was started, by metric labels that are given. */
  decisions(labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** Starting takes half a second on a quiet machine. */
const READY_TIMEOUT_MS = 60_000;

/**
 * Starts our server with its own account and the rights that `pacto-gate generate rbac` prints for its flags, and waits
 * until it is ready.
 */
export async function startGate(options: GateOptions): Promise<Gate> {
  const { plane } = options;
  const settings = ['--metrics-plain', ...withRoles(options.flags ?? [])];
  await plane.apply(ACCOUNT_OBJECTS);
  const account = `--service-account=${GATE_NAMESPACE}/${GATE_ACCOUNT}`;
  const rights = await runCommand(['generate', 'rbac', account, ...settings], plane.directory);
  await applyManifest(plane, rights);
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-server-'));
  const guard = await createProcessGuard(directory);
  const [port = 0, healthPort = 0, metricsPort = 0] = await findFreePorts(3);
  const authority = await createAuthority('webhook-ca');
  const mount = new SecretMount(join(directory, 'tls'), await servingPair(authority));
  const token = await plane.tokenFor({ serviceAccount: GATE_ACCOUNT, namespace: GATE_NAMESPACE });
  const ca = readFileSync(plane.caFile, 'utf8');
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, options.server ?? plane.url, ca, { token });
  const logFile = join(directory, 'server.log');
  const args = [
    MAIN,
    'serve',
    `--cluster-kubeconfig=${kubeconfig}`,
    `--tls-cert-file=${mount.certFile}`,
    `--tls-key-file=${mount.keyFile}`,
    `--webhooks-port=${port}`,
    `--health-port=${healthPort}`,
    `--metrics-port=${metricsPort}`,
    '--log-format=json',
    ...settings,
  ];
  let server: ServerProcess | undefined;
  const readyUrl = `http://127.0.0.1:${healthPort}/readyz`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;

  const gate: Gate = {
    url: `https://127.0.0.1:${port}`,
    metricsUrl,
    mount,
    authority,
    async start() {
      if (server !== undefined && server.ending() === undefined) return;
      const started = await guard.start('pacto-gate', process.execPath, args, logFile);
      server = started;
      let unready = '';
      await pollUntil('pacto-gate', READY_TIMEOUT_MS, async () => {
        if (started.ending() !== undefined)
          throw new Error(`pacto-gate ended with ${started.ending()}:\n${tailOf(logFile)}`);
        const answer = await ask(readyUrl).catch(() => undefined);
        unready = answer?.text ?? '';
        return answer?.status === 200 ? true : undefined;
      }).catch((error: unknown) => {
        throw new Error(`pacto-gate is not ready: ${unready}\n${tailOf(logFile)}`, { cause: error });
      });
    },
    async end(signal) {
      await server?.end(signal);
    },
    ending: () => server?.ending(),
    signal(signal) {
      if (server !== undefined) process.kill(server.pid, signal);
    },
    log: () => logLines(logFile),
    async decisions(labels = {}) {
      return countDecisions((await ask(metricsUrl)).text, labels);
    },
    stop: () => guard.close(),
  };
  try {
    await gate.start();
    return gate;
  } catch (error) {
    await guard.close();
    throw error;
  }
}

/** Most tests are about admission alone. */
function withRoles(flags: readonly string[]): readonly string[] {
  return flags.some((flag) => flag.startsWith('--roles')) ? flags : ['--roles=webhooks', ...flags];
}

/** A certificate for where the API server calls us. */
export async function servingPair(authority: Authority): Promise<{ certPem: string; keyPem: string }> {
  const { certificate, key } = await authority.issue({
    commonName: 'pacto-gate',
    ipAddresses: ['127.0.0.1'],
  });
  return { certPem: certificate, keyPem: key };
}

export interface EntryOptions {
  /** Of `pacto-gate generate webhooks`. */
  readonly flags?: readonly string[];
  /** PEM; default: of the gate's authority. */
  readonly ca?: string;
}

/**
 * Applies what `pacto-gate generate webhooks` prints for this server and waits until the API server acts on it.
 * @throws Error with what either of them said when it fails.
 */
export async function installEntries(
  plane: ControlPlane,
  api: ApiClient,
  gate: Gate,
  options: EntryOptions = {},
): Promise<void> {
  await applyEntries(plane, gate, options);
  await waitUntilEnforced(api);
}

/** As `installEntries`, without waiting. */
export async function applyEntries(
  plane: ControlPlane,
  gate: Pick<Gate, 'url' | 'authority'>,
  { flags = [], ca = gate.authority.certificate }: EntryOptions = {},
): Promise<void> {
  const caFile = join(plane.directory, 'webhook-ca.crt');
  writeFileSync(caFile, ca);
  const args = [`--url=${gate.url}`, `--ca-file=${caFile}`, `--kube-version=${plane.version}`, ...flags];
  const manifest = await runCommand(['generate', 'webhooks', ...args], plane.directory);
  await applyManifest(plane, manifest);
}

/** @throws Error with kubectl's words when it fails. */
async function applyManifest(plane: ControlPlane, manifest: string): Promise<void> {
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
  const applied = await plane.kubectl(apply, { stdin: manifest });
  if (applied.code !== 0) throw new Error(`kubectl apply failed: ${applied.stderr}`);
}

/** @returns standard output of our command line. */
/** Runs `pacto-gate` to its end. @returns what it printed. */
export async function runCommand(args: readonly string[], home: string): Promise<string> {
  mkdirSync(home, { recursive: true });
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0)
    throw new Error(`pacto-gate ${args.join(' ')} ended with ${code}: ${Buffer.concat(err).toString()}`);
  return Buffer.concat(out).toString('utf8');
}

/**
 * Entries act up to a second after they are written (control-plane.md): asks until an agent without a claim is refused,
 * in a dry run that changes nothing.
 */
async function waitUntilEnforced(api: ApiClient): Promise<void> {
  await pollUntil('the webhook entries to act', 30_000, async () => {
    const { status } = await api.request({
      method: 'POST',
      path: `${LEASES}?dryRun=All`,
      as: { username: AGENT_USERNAME },
      body: aLease({ name: 'probe', namespace: AGENT_NAMESPACE }),
    });
    return status === 403 ? true : undefined;
  });
}

function logLines(logFile: string): GateLogLine[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as GateLogLine);
}

/** Sum of `pacto_gate_decisions_total` over the series that have these labels. */
function countDecisions(scrape: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return scrape
    .split('\n')
    .filter((line) => line.startsWith('pacto_gate_decisions_total{'))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
