/** Starts, restarts and ends the servers of one control plane, in one temporary folder. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assets } from '../../../scripts/controlplane/assets.ts';
import { createCredentials, writeKubeconfig, type Credentials } from './credentials.ts';
import { pollUntil } from './polling.ts';
import { findFreePorts } from './ports.ts';
import { createProcessGuard, tailOf, type ProcessGuard, type ServerProcess } from './processes.ts';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './server-arguments.ts';

export interface ServersSettings {
  readonly assets: Assets;
  readonly controllerManager: boolean;
  readonly disabledAdmissionPlugins: readonly string[];
  /** YAML of an audit.k8s.io/v1 Policy. */
  readonly auditPolicy: string;
  readonly extraApiserverArgs: readonly string[];
}

/** A server that ended, or did not become ready, while it was started. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
  /** True when somebody else listens on its port: worth another try with other ports. */
  readonly portTaken: boolean;

  constructor(server: ServerProcess, what: string) {
    const log = tailOf(server.logFile);
    super(`${server.name} ${what}; the end of its log:\n${log}`);
    this.portTaken = log.includes('address already in use');
  }
}

/** Start takes 2 to 3 s on two quiet cores; a loaded machine with a cold disk needs many times that. */
const READY_TIMEOUT_MS = 120_000;

/** One question to a server that may be half started. */
const PROBE_TIMEOUT_MS = 5_000;

export class Servers {
  readonly directory: string;
  readonly url: string;
  readonly etcdUrl: string;
  readonly credentials: Credentials;
  readonly adminKubeconfig: string;
  readonly auditLogFile: string;
  readonly #settings: ServersSettings;
  readonly #guard: ProcessGuard;
  readonly #ports: Ports;
  readonly #apiServerArguments: readonly string[];
  #apiServer: ServerProcess | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(
    settings: ServersSettings,
    directory: string,
    credentials: Credentials,
    guard: ProcessGuard,
    ports: Ports,
  ) {
    this.#settings = settings;
    this.#guard = guard;
    this.#ports = ports;
    this.directory = directory;
    this.credentials = credentials;
    this.url = `https://127.0.0.1:${ports.apiServer}`;
    this.etcdUrl = loopback(ports.etcdClient);
    this.adminKubeconfig = join(directory, 'admin.kubeconfig');
    this.auditLogFile = join(directory, 'audit.log');
    writeKubeconfig(this.adminKubeconfig, this.url, credentials.authority.certificate, credentials.admin);
    const auditPolicyFile = join(directory, 'audit-policy.yaml');
    writeFileSync(auditPolicyFile, settings.auditPolicy);
    this.#apiServerArguments = apiServerArguments({
      port: ports.apiServer,
      etcdUrl: this.etcdUrl,
      certificateDirectory: this.#certificateDirectory(),
      credentials: credentials.files,
      auditPolicyFile,
      auditLogFile: this.auditLogFile,
      disabledAdmissionPlugins: settings.disabledAdmissionPlugins,
      extra: settings.extraApiserverArgs,
    });
  }

  /**
   * Starts everything and waits until it serves.
   *
   * @throws ServerStartError when a server does not; nothing is left running then.
   */
  static async start(settings: ServersSettings): Promise<Servers> {
    const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-cluster-'));
    const guard = await createProcessGuard(directory);
    try {
      const [apiServer = 0, etcdClient = 0, etcdPeer = 0, controllerManager = 0] = await findFreePorts(4);
      const ports = { apiServer, etcdClient, etcdPeer, controllerManager };
      const servers = new Servers(settings, directory, await createCredentials(directory), guard, ports);
      await servers.#startEtcd();
      await servers.startApiServer();
      if (settings.controllerManager) await servers.#startControllerManager();
      return servers;
    } catch (error) {
      await guard.close();
      throw error;
    }
  }

  /** Starts kube-apiserver on its port, with the data that etcd has. Does nothing when it runs. */
  async startApiServer(): Promise<void> {
    if (this.#apiServer?.ending() === undefined && this.#apiServer !== undefined) return;
    const server = await this.#spawn(
      'kube-apiserver',
      this.#settings.assets.kubeApiserver,
      this.#apiServerArguments,
    );
    this.#apiServer = server;
    await waitReady(server, async () => {
      // The system namespaces are made by the server itself, shortly after it says that it is ready.
      return (await this.#get('/readyz')) === 200 && (await this.#get('/api/v1/namespaces/default')) === 200;
    });
  }

  async stopApiServer(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#apiServer?.end(signal);
    this.#apiServer = undefined;
  }

  processIds(): number[] {
    return this.#guard.processIds();
  }

  /** Ends everything and removes the folder. A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#guard.close();
    return this.#stopped;
  }

  async #startEtcd(): Promise<void> {
    const clientUrl = loopback(this.#ports.etcdClient);
    const args = etcdArguments(join(this.directory, 'etcd'), clientUrl, loopback(this.#ports.etcdPeer));
    const server = await this.#spawn('etcd', this.#settings.assets.etcd, args);
    await waitReady(server, async () => {
      const response = await fetch(`${clientUrl}/health`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
      await response.arrayBuffer();
      return response.ok;
    });
  }

  async #startControllerManager(): Promise<void> {
    const file = this.#settings.assets.kubeControllerManager;
    if (file === undefined) throw new TypeError('there is no kube-controller-manager among the binaries');
    const args = controllerManagerArguments(
      this.adminKubeconfig,
      this.#ports.controllerManager,
      this.#certificateDirectory(),
      this.credentials.files,
    );
    const server = await this.#spawn('kube-controller-manager', file, args);
    // A controller's first work is the proof that they run; /healthz answers before any of them does.
    await waitReady(
      server,
      async () => (await this.#get('/api/v1/namespaces/default/serviceaccounts/default')) === 200,
    );
  }

  #spawn(name: string, file: string, args: readonly string[]): Promise<ServerProcess> {
    return this.#guard.start(name, file, args, join(this.directory, `${name}.log`));
  }

  #certificateDirectory(): string {
    const directory = join(this.directory, 'generated-certificates');
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  /** Status code of a GET as administrator. */
  #get(path: string): Promise<number> {
    const { authority, admin } = this.credentials;
    return new Promise((resolve, reject) => {
      const probe = request(
        this.url + path,
        {
          ca: authority.certificate,
          cert: admin.certificate,
          key: admin.key,
          // A kept connection would survive in the default agent and break at the next restart.
          agent: false,
          timeout: PROBE_TIMEOUT_MS,
        },
        (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode ?? 0));
          response.once('error', reject);
        },
      );
      probe.once('timeout', () => probe.destroy(new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`)));
      probe.once('error', reject);
      probe.end();
    });
  }
}

interface Ports {
  readonly apiServer: number;
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly controllerManager: number;
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/**
 * Waits until `isReady` says so; a refused connection counts as "not yet".
 *
 * @throws ServerStartError when the server ends first or the time is over.
 */
async function waitReady(server: ServerProcess, isReady: () => Promise<boolean>): Promise<void> {
  const answer = pollUntil(server.name, READY_TIMEOUT_MS, async () => {
    const ending = server.ending();
    if (ending !== undefined) return { ending };
    const ready = await isReady().catch(() => false);
    return ready ? { ending: undefined } : undefined;
  });
  const { ending } = await answer.catch(() => ({ ending: `nothing within ${READY_TIMEOUT_MS} ms` }));
  if (ending !== undefined) throw new ServerStartError(server, `did not become ready (${ending})`);
}
