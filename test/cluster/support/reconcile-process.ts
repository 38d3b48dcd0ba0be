/** The role reconciler as a process of its own beside a control plane, under the rights that are generated for it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SecretMount } from '../../bench/secret-mount.ts';
import { ask, type Answered } from '../../support/http-client.ts';
import { createAuthority } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';
import { writeKubeconfig } from './credentials.ts';
import { GATE_NAMESPACE, runCommand, servingPair, type GateLogLine } from './gate.ts';
import { pollUntil } from './polling.ts';
import { findFreePorts } from './ports.ts';
import { createProcessGuard, tailOf, type ServerProcess } from './processes.ts';

const MAIN = resolve('src/main.ts');
const CLOCK = resolve('test/cluster/support/reconcile-clock.ts');
const READY_TIMEOUT_MS = 60_000;

export const RECONCILER_ACCOUNT = 'pacto-gate-reconciler';
export const RECONCILER_USERNAME = `system:serviceaccount:${GATE_NAMESPACE}:${RECONCILER_ACCOUNT}`;
const CALLER = 'verdict-reader';

export interface ReconcilerOptions {
  readonly plane: ControlPlane;
  readonly flags?: readonly string[];
  /** A proxy in front of the API server, where there is one. */
  readonly through?: { readonly url: string; readonly ca: string };
  /** Of its wall clock, milliseconds. */
  readonly shiftMs?: number;
  /** What Node is given before `serve`. Default: our sources, with a wall clock that can be set. */
  readonly program?: readonly string[];
  /** Default: debug. */
  readonly logLevel?: string;
}

export interface ReconcilerProcess {
  readonly metricsUrl: string;
  /** Of its API: where it is, who vouches for it (PEM), and a token of somebody who may read and force verdicts. */
  readonly api: { readonly url: string; readonly ca: string; readonly token: string };
  /** Undefined before it was started. */
  pid(): number | undefined;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** Starts it, and waits for nothing. */
  launch(): Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGUSR2'): void;
  /** Sets its wall clock. */
  shift(shiftMs: number): void;
  ending(): string | undefined;
  log(): GateLogLine[];
  /** GET of its API, as somebody who may read and force verdicts. */
  verdict(namespace: string, name: string, fresh?: string): Promise<Answered>;
  /** Of its metrics, in the order of the text. */
  metric(name: string): Promise<number>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

const ACCOUNTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: GATE_NAMESPACE } },
  ...[RECONCILER_ACCOUNT, CALLER].map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: GATE_NAMESPACE },
  })),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: CALLER },
    rules: [{ apiGroups: ['pacto.trianalab.io'], resources: ['pactos/verdict'], verbs: ['get', 'update'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: CALLER },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: CALLER },
    subjects: [{ kind: 'ServiceAccount', name: CALLER, namespace: GATE_NAMESPACE }],
  },
];

/** Makes accounts and rights, and starts nothing yet. */
export async function prepareReconciler(options: ReconcilerOptions): Promise<ReconcilerProcess> {
  const { plane, through, flags = [], program = [`--import=${CLOCK}`, MAIN], logLevel = 'debug' } = options;
  const settings = ['--roles=reconciler', `--reconciler-namespace=${GATE_NAMESPACE}`, ...flags];
  if (!flags.some((flag) => flag.startsWith('--metrics-plain'))) settings.push('--metrics-plain');
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-reconciler-'));
  await plane.apply(ACCOUNTS);
  const account = `--service-account=${GATE_NAMESPACE}/${RECONCILER_ACCOUNT}`;
  const rights = await runCommand(['generate', 'rbac', account, ...settings], directory);
  const applied = await plane.kubectl(['apply', '-f', '-'], { stdin: rights });
  if (applied.code !== 0) throw new Error(`kubectl apply failed: ${applied.stderr}`);
  const [token, caller] = await Promise.all(
    [RECONCILER_ACCOUNT, CALLER].map((serviceAccount) =>
      plane.tokenFor({ serviceAccount, namespace: GATE_NAMESPACE }),
    ),
  );
  const kubeconfig = join(directory, 'kubeconfig');
  const ca = through?.ca ?? readFileSync(plane.caFile, 'utf8');
  writeKubeconfig(kubeconfig, through?.url ?? plane.url, ca, { token: token ?? '' });
  const shift = (shiftMs: number): void => writeFileSync(join(directory, 'clock-shift'), String(shiftMs));
  shift(options.shiftMs ?? 0);
  const guard = await createProcessGuard(directory);
  const [apiPort = 0, healthPort = 0, metricsPort = 0] = await findFreePorts(3);
  const authority = await createAuthority('api-ca');
  const mount = new SecretMount(join(directory, 'tls'), await servingPair(authority));
  const args = [
    ...program,
    'serve',
    `--cluster-kubeconfig=${kubeconfig}`,
    `--tls-cert-file=${mount.certFile}`,
    `--tls-key-file=${mount.keyFile}`,
    `--api-port=${apiPort}`,
    `--health-port=${healthPort}`,
    `--metrics-port=${metricsPort}`,
    '--log-format=json',
    `--log-level=${logLevel}`,
    ...settings,
  ];
  const logFile = join(directory, 'reconciler.log');
  let server: ServerProcess | undefined;
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;

  async function launch(): Promise<void> {
    if (server !== undefined && server.ending() === undefined) return;
    server = await guard.start('reconciler', process.execPath, args, logFile);
  }

  const apiUrl = `https://127.0.0.1:${apiPort}`;

  return {
    metricsUrl,
    api: { url: apiUrl, ca: authority.certificate, token: caller ?? '' },
    pid: () => server?.pid,
    launch,
    async start() {
      await launch();
      let unready = '';
      await pollUntil('the reconciler', READY_TIMEOUT_MS, async () => {
        const ending = server?.ending();
        if (ending !== undefined) throw new Error(`the reconciler ended with ${ending}`);
        const answer = await ask(`http://127.0.0.1:${healthPort}/readyz?verbose`).catch(() => undefined);
        unready = answer?.text ?? '';
        return answer?.status === 200 ? true : undefined;
      }).catch((error: unknown) => {
        throw new Error(`the reconciler is not ready: ${unready}\n${tailOf(logFile)}`, { cause: error });
      });
    },
    async end(signal) {
      await server?.end(signal);
    },
    signal(signal) {
      if (server !== undefined) process.kill(server.pid, signal);
    },
    shift(shiftMs) {
      shift(shiftMs);
      if (server !== undefined) process.kill(server.pid, 'SIGUSR2');
    },
    ending: () => server?.ending(),
    log: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as GateLogLine),
    verdict(namespace, name, fresh) {
      const query = fresh === undefined ? '' : `?fresh=${fresh}`;
      return ask(`${apiUrl}/v1/verdicts/${namespace}/${name}${query}`, {
        ca: authority.certificate,
        headers: { authorization: `Bearer ${caller ?? ''}` },
      });
    },
    async metric(name) {
      const { text } = await ask(metricsUrl);
      const line = text.split('\n').find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
      return Number(line?.slice(line.lastIndexOf(' ') + 1));
    },
    stop: () => guard.close(),
  };
}
