/**
 * A real control plane for one test file: etcd and kube-apiserver, on request kube-controller-manager, on loopback
 * and in a temporary folder, with the binaries of `npm run controlplane`.
 *
 * There is no kubelet and no proxy: a test writes Pod and Deployment status itself, and a webhook must be configured
 * by URL (`https://127.0.0.1:PORT/path`), not by Service.
 */
import { join } from 'node:path';
import { findAssets } from '../../../scripts/controlplane/assets.ts';
import { KUBERNETES_VERSIONS, type KubernetesVersion } from '../../../scripts/controlplane/recipes.ts';
import { DEFAULT_AUDIT_POLICY, readAuditEvents, waitForAuditEvent, type AuditEvent } from './audit-log.ts';
import type { CertificatePair, LeafOptions } from './certificates.ts';
import { writeKubeconfig, type KubeconfigUser } from './credentials.ts';
import { runKubectl, type KubectlOptions, type KubectlResult, type KubectlTarget } from './kubectl.ts';
import { ServerStartError, Servers } from './servers.ts';

export type { KubernetesVersion } from '../../../scripts/controlplane/recipes.ts';

export interface ControlPlaneOptions {
  readonly version: KubernetesVersion;
  /** Also starts kube-controller-manager 1.36 (only beside an API server of 1.36: an older one is not supported). */
  readonly controllerManager?: boolean;
  /**
   * Admission plugins to leave out. Default: `ServiceAccount`, so that a Pod can be created without waiting for the
   * account of its namespace.
   */
  readonly disableAdmissionPlugins?: readonly string[];
  /** YAML of an audit.k8s.io/v1 Policy. Default: every request at RequestResponse. */
  readonly auditPolicy?: string;
  /** Further flags for kube-apiserver, for example `--admission-control-config-file=…`; they win over ours. */
  readonly extraApiserverArgs?: readonly string[];
}

/** What a test needs of the built binaries. */
export interface ControlPlaneNeeds {
  /** Default: both. */
  readonly versions?: readonly KubernetesVersion[];
  readonly controllerManager?: boolean;
}

/** What a service account token is for. */
export interface TokenOptions {
  readonly serviceAccount: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** The object whose life bounds the token's; it must exist. Node: 1.36 only. */
  readonly boundObject?: { readonly kind: 'Pod' | 'Node' | 'Secret'; readonly name: string };
  /** Default: the API server's own audience. */
  readonly audiences?: readonly string[];
  /** At least 600 (the API server's minimum). Default: the API server's, an hour. */
  readonly durationSeconds?: number;
}

export interface ControlPlane {
  readonly version: KubernetesVersion;
  /** `https://127.0.0.1:PORT`; the same after a restart. */
  readonly url: string;
  /** `http://127.0.0.1:PORT` of etcd, for what no API server does at once, such as compaction. */
  readonly etcdUrl: string;
  /** Folder of everything below; removed by `stop`. A test may put files of its own there. */
  readonly directory: string;
  /** PEM file of the authority that signed the API server's certificate and signs its clients'. */
  readonly caFile: string;
  /** Client certificate in `system:masters`. */
  readonly adminKubeconfigPath: string;
  readonly auditLogFile: string;
  /** Ids of the servers that run at this moment. */
  processIds(): number[];
  /** Runs the built kubectl, as the administrator unless told otherwise. A non-zero code is a result. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /**
   * `kubectl apply` of objects.
   * @throws Error with kubectl's words when it fails.
   */
  apply(objects: object | readonly object[], options?: KubectlOptions): Promise<void>;
  /**
   * A real service account token.
   * @throws Error with kubectl's words when it is refused.
   */
  tokenFor(options: TokenOptions): Promise<string>;
  /** Issues a client certificate: common name = user, organizations = groups. */
  clientCertificateFor(options: LeafOptions): Promise<CertificatePair>;
  /** Writes a kubeconfig for a certificate, a token or nobody and returns its path. */
  kubeconfigFor(name: string, user: KubeconfigUser): string;
  /** What was audited so far; an event may follow its answer by some milliseconds. */
  auditEvents(): AuditEvent[];
  /** @throws Error when no event matches in time (milliseconds). */
  waitForAuditEvent(matches: (event: AuditEvent) => boolean, timeoutMs?: number): Promise<AuditEvent>;
  /** Ends kube-apiserver, orderly unless `SIGKILL` is given; etcd keeps the data. Does nothing when it is down. */
  stopApiServer(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same port and waits until it is ready. Does nothing when it runs. */
  startApiServer(): Promise<void>;
  /** Ends everything and removes the folder. May be called again. */
  stop(): Promise<void>;
}

/** How often to try with other ports when somebody else took one between looking and listening. */
const START_ATTEMPTS = 3;

/**
 * Why a control plane cannot be started here, in one sentence with the next step; undefined when it can.
 */
export function skipReason(needs: ControlPlaneNeeds = {}): string | undefined {
  for (const version of needs.versions ?? KUBERNETES_VERSIONS) {
    const assets = findAssets(version);
    if (assets.problem !== undefined) return assets.problem;
    if (needs.controllerManager === true && assets.kubeControllerManager === undefined) {
      return `${assets.directory} (KUBEBUILDER_ASSETS) has no kube-controller-manager; add it there, or unset the variable`;
    }
  }
  return undefined;
}

/**
 * Starts a control plane and waits until it serves.
 *
 * @throws Error when the binaries are missing (see `skipReason`) or a server does not become ready; the message holds
 *   the end of that server's log. Nothing is left running then.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { version, controllerManager = false } = options;
  const reason = skipReason({ versions: [version], controllerManager });
  if (reason !== undefined) throw new Error(`cannot start a control plane: ${reason}`);
  if (controllerManager && version !== '1.36') {
    throw new TypeError(`kube-controller-manager 1.36 does not support an API server of ${version}`);
  }
  const servers = await startServers(options);
  return describeControlPlane(version, servers);
}

async function startServers(options: ControlPlaneOptions): Promise<Servers> {
  const settings = {
    assets: findAssets(options.version),
    controllerManager: options.controllerManager === true,
    disabledAdmissionPlugins: options.disableAdmissionPlugins ?? ['ServiceAccount'],
    auditPolicy: options.auditPolicy ?? DEFAULT_AUDIT_POLICY,
    extraApiserverArgs: options.extraApiserverArgs ?? [],
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Servers.start(settings);
    } catch (error) {
      const again = error instanceof ServerStartError && error.portTaken && attempt < START_ATTEMPTS;
      if (!again) throw error;
    }
  }
}

function describeControlPlane(version: KubernetesVersion, servers: Servers): ControlPlane {
  const { directory, url, etcdUrl, credentials, adminKubeconfig, auditLogFile } = servers;
  const kubeconfigFor = (name: string, user: KubeconfigUser): string =>
    writeKubeconfig(join(directory, `${name}.kubeconfig`), url, credentials.authority.certificate, user);
  const target: KubectlTarget = {
    file: findAssets(version).kubectl,
    home: directory,
    adminKubeconfig,
    anonymousKubeconfig: kubeconfigFor('anonymous', undefined),
  };
  const kubectl = (args: readonly string[], options?: KubectlOptions): Promise<KubectlResult> =>
    runKubectl(target, args, options);
  return {
    version,
    url,
    etcdUrl,
    directory,
    caFile: credentials.files.caFile,
    adminKubeconfigPath: adminKubeconfig,
    auditLogFile,
    processIds: () => servers.processIds(),
    kubectl,
    async apply(objects, options) {
      const items = Array.isArray(objects) ? objects : [objects];
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await demand(kubectl(['apply', '-f', '-'], { ...options, stdin }), 'apply');
    },
    async tokenFor(options) {
      const { stdout } = await demand(
        kubectl(tokenArguments(options)),
        `create token ${options.serviceAccount}`,
      );
      return stdout.trim();
    },
    clientCertificateFor: (options) => credentials.authority.issue(options),
    kubeconfigFor,
    auditEvents: () => readAuditEvents(auditLogFile),
    waitForAuditEvent: (matches, timeoutMs) => waitForAuditEvent(auditLogFile, matches, timeoutMs),
    stopApiServer: (signal = 'SIGTERM') => servers.stopApiServer(signal),
    startApiServer: () => servers.startApiServer(),
    stop: () => servers.stop(),
  };
}

/** The result of a kubectl that must succeed. */
async function demand(running: Promise<KubectlResult>, what: string): Promise<KubectlResult> {
  const result = await running;
  if (result.code !== 0) throw new Error(`kubectl ${what} failed: ${result.stderr.trim()}`);
  return result;
}

function tokenArguments(options: TokenOptions): string[] {
  const args = ['create', 'token', options.serviceAccount, `--namespace=${options.namespace ?? 'default'}`];
  if (options.boundObject !== undefined) {
    args.push(
      `--bound-object-kind=${options.boundObject.kind}`,
      `--bound-object-name=${options.boundObject.name}`,
    );
  }
  for (const audience of options.audiences ?? []) args.push(`--audience=${audience}`);
  if (options.durationSeconds !== undefined) args.push(`--duration=${options.durationSeconds}s`);
  return args;
}
