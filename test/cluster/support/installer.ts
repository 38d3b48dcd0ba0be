/** The role installer as a process of its own beside a control plane, under the rights that are generated for it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ask } from '../../support/http-client.ts';
import type { ControlPlane } from './control-plane.ts';
import { writeKubeconfig } from './credentials.ts';
import { GATE_NAMESPACE, runCommand, type Gate, type GateLogLine } from './gate.ts';
import type { ApiClient } from './api-client.ts';
import { pollUntil } from './polling.ts';
import { findFreePorts } from './ports.ts';
import { createProcessGuard, tailOf, type ServerProcess } from './processes.ts';

const MAIN = resolve('src/main.ts');

export const INSTALLER_ACCOUNT = 'pacto-gate-installer';
export const INSTALLER_USERNAME = `system:serviceaccount:${GATE_NAMESPACE}:${INSTALLER_ACCOUNT}`;
const CONFIGURATIONS = ['pacto-gate-policies', 'pacto-gate-node-identity'] as const;

const READY_TIMEOUT_MS = 60_000;

export interface Installer {
  readonly metricsUrl: string;
  /** Starts it with further flags of `pacto-gate serve`, and waits until it is ready. */
  start(flags: readonly string[]): Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  log(): GateLogLine[];
  stop(): Promise<void>;
}

export interface InstallerOptions {
  readonly plane: ControlPlane;
  readonly gate: Pick<Gate, 'url' | 'authority'>;
  /** Of every start, and of `generate rbac`. */
  readonly flags: readonly string[];
}

/** Makes its account, its rights, and the empty configurations that somebody has to make once; starts nothing yet. */
export async function prepareInstaller({ plane, gate, flags }: InstallerOptions): Promise<Installer> {
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-installer-'));
  const caFile = join(directory, 'ca.crt');
  writeFileSync(caFile, gate.authority.certificate);
  const settings = [
    '--roles=installer',
    `--installer-url=${gate.url}`,
    `--installer-ca-file=${caFile}`,
    `--installer-namespace=${GATE_NAMESPACE}`,
    '--metrics-plain',
    ...flags,
  ];
  await plane.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATE_NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: INSTALLER_ACCOUNT, namespace: GATE_NAMESPACE },
    },
    ...CONFIGURATIONS.map((name) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
    })),
  ]);
  const account = `--service-account=${GATE_NAMESPACE}/${INSTALLER_ACCOUNT}`;
  const rights = await runCommand(['generate', 'rbac', account, ...settings], directory);
  const applied = await plane.kubectl(['apply', '-f', '-'], { stdin: rights });
  if (applied.code !== 0) throw new Error(`kubectl apply failed: ${applied.stderr}`);
  const token = await plane.tokenFor({ serviceAccount: INSTALLER_ACCOUNT, namespace: GATE_NAMESPACE });
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, plane.url, readFileSync(plane.caFile, 'utf8'), { token });
  const [healthPort = 0, metricsPort = 0] = await findFreePorts(2);
  const guard = await createProcessGuard(directory);
  const logFile = join(directory, 'installer.log');
  let server: ServerProcess | undefined;
  return {
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    async start(more) {
      const args = [
        MAIN,
        'serve',
        `--cluster-kubeconfig=${kubeconfig}`,
        `--health-port=${healthPort}`,
        `--metrics-port=${metricsPort}`,
        '--log-format=json',
        ...settings,
        ...more,
      ];
      const started = await guard.start('installer', process.execPath, args, logFile);
      server = started;
      await pollUntil('the installer', READY_TIMEOUT_MS, async () => {
        if (started.ending() !== undefined)
          throw new Error(`the installer ended with ${started.ending()}:\n${tailOf(logFile)}`);
        const answer = await ask(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
        return answer?.status === 200 ? true : undefined;
      });
    },
    async end(signal) {
      await server?.end(signal);
    },
    log: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as GateLogLine),
    stop: () => guard.close(),
  };
}

/** Names of the entries of policies, as they are in the cluster. */
export async function entriesIn(api: Pick<ApiClient, 'demand'>): Promise<readonly string[]> {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pacto-gate-policies';
  const { webhooks = [] } = (await api.demand({ method: 'GET', path })) as { webhooks?: { name: string }[] };
  return webhooks.map(({ name }) => name);
}
