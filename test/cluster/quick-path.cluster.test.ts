/** What docs/webhooks.md tells an operator to type, on an API server that has no ValidatingAdmissionPolicy. */
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAssets } from '../../scripts/controlplane/assets.ts';
import { ask } from '../support/http-client.ts';
import { missingLines, sectionOf, stepsOf } from '../support/readme.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import { findFreePorts } from './support/ports.ts';
import { createProcessGuard, tailOf, type ProcessGuard, type ServerProcess } from './support/processes.ts';

const STEPS = stepsOf(
  sectionOf(readFileSync('docs/webhooks.md', 'utf8'), 'Put policies in front of a cluster'),
);
const NAMESPACE = 'pacto-system';

/** The page is for a cluster with nodes, and here is none: nobody runs Pods, reaches Services or empties namespaces. */
const HERE: readonly (readonly [page: string, here: (port: number) => string])[] = [
  ['service: pacto-system/pacto-gate', (port) => `url: https://127.0.0.1:${port}\n  namespace: ${NAMESPACE}`],
  ['--dns pacto-gate.pacto-system.svc', () => '--dns pacto-gate.pacto-system.svc --ip 127.0.0.1'],
  ['delete namespace pacto-system', () => 'delete namespace pacto-system --wait=false'],
];
/** Waits for the Pods of a Deployment: here its container is started as a process, with what it mounts as files. */
const WAITS_FOR_PODS = /^kubectl rollout status deployment\/(\S+) --namespace pacto-system$/;
/** The Pods come anew: here the process ends, and the wait that follows starts it with what is mounted by then. */
const RESTARTS_PODS = /^kubectl rollout restart (.+) --namespace pacto-system$/;
/** The kubelet writes a Secret that changed into the Pods that mount it. */
const RENEWS_CERTIFICATE = /^kubectl create secret tls .* \| kubectl replace -f -$/;
const ENDS_PODS = /^kubectl scale deployment\/(\S+) --replicas 0 --namespace pacto-system$/;

/** What the page shows of a command that exits with 1. */
const SHOWS_NO = /^(?:PROBLEM|Error from server|The \S+ "\S+" is invalid)/m;
/** For what acts a moment after it is written, on a loaded machine. */
const TIMEOUT_MS = 30_000;

interface Container {
  readonly args: readonly string[];
  readonly workingDir: string;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
}
interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly [Container];
        readonly volumes: readonly Volume[];
      };
    };
  };
}

clusterSuite('the quick path of docs/webhooks.md', { versions: ['1.29'] }, () => {
  let plane: ControlPlane;
  let guard: ProcessGuard;
  let directory: string;
  let port = 0;
  const running = new Map<string, ServerProcess>();

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quick-path-'));
    guard = await createProcessGuard(directory);
    plane = await startControlPlane({ version: '1.29' });
    [port = 0] = await findFreePorts(1);
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    symlinkSync(findAssets('1.29').kubectl, join(bin, 'kubectl'));
    const program = join(bin, 'pacto-gate');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${resolve('src/main.ts')}" "$@"\n`);
    chmodSync(program, 0o755);
    cpSync('manifests', join(directory, 'manifests'), { recursive: true });
  });
  afterAll(async () => {
    await guard?.close();
    await plane?.stop();
  });

  const here = (text: string): string =>
    HERE.reduce((all, [page, instead]) => all.replaceAll(page, instead(port)), text);

  async function run(text: string): Promise<{ readonly output: string; readonly code: number }> {
    const child = spawn('sh', ['-c', text], {
      cwd: directory,
      env: {
        PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: directory,
        KUBECONFIG: plane.adminKubeconfigPath,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const [code] = (await once(child, 'close')) as [number];
    return { output, code };
  }

  async function read<T>(...what: readonly string[]): Promise<T> {
    const { stdout, stderr } = await plane.kubectl(['get', ...what, '-n', NAMESPACE, '-o', 'json']);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  /** Files of a volume, as the kubelet would mount them. */
  async function mount({ configMap, secret }: Volume, at: string): Promise<void> {
    mkdirSync(at, { recursive: true });
    const kind = configMap === undefined ? 'secret' : 'configmap';
    const name = configMap?.name ?? secret?.secretName ?? '';
    const { data } = await read<{ data: Record<string, string> }>(kind, name);
    for (const [file, content] of Object.entries(data))
      writeFileSync(join(at, file), Buffer.from(content, kind === 'secret' ? 'base64' : 'utf8'));
  }

  async function mountAll(deployment: string, root: string): Promise<void> {
    const { spec } = (await read<Deployment>('deployment', deployment)).spec.template;
    for (const { name, mountPath } of spec.containers[0].volumeMounts) {
      const volume = spec.volumes.find((one) => one.name === name);
      if (volume !== undefined) await mount(volume, join(root, mountPath));
    }
  }

  async function servedCertificate(): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  }

  async function renewCertificate(): Promise<void> {
    const { fingerprint256 } = new X509Certificate(readFileSync(join(directory, 'tls.crt')));
    expect(await servedCertificate()).not.toBe(fingerprint256);
    await mountAll('pacto-gate', join(directory, 'pods', 'pacto-gate'));
    await pollUntil('the new certificate', TIMEOUT_MS, async () =>
      (await servedCertificate()) === fingerprint256 ? true : undefined,
    );
  }

  async function startPod(deployment: string): Promise<void> {
    const { spec } = (await read<Deployment>('deployment', deployment)).spec.template;
    const root = join(directory, 'pods', deployment);
    const { args, workingDir } = spec.containers[0];
    await mountAll(deployment, root);
    const token = await plane.tokenFor({ serviceAccount: spec.serviceAccountName, namespace: NAMESPACE });
    const [healthPort = 0, metricsPort = 0] = await findFreePorts(2);
    const environment = {
      POD_NAMESPACE: NAMESPACE,
      KUBECONFIG: plane.kubeconfigFor(deployment, { token }),
      PACTO_GATE_WEBHOOKS_PORT: port,
      PACTO_GATE_HEALTH_PORT: healthPort,
      PACTO_GATE_METRICS_PORT: metricsPort,
    };
    const logFile = join(directory, `${deployment}.log`);
    const started = await guard.start(
      deployment,
      '/bin/sh',
      [
        '-c',
        'cd "$0" && exec env "$@"',
        join(root, workingDir),
        ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
        join(directory, 'bin', 'pacto-gate'),
        ...args.map((arg) => (arg.startsWith('/') ? join(root, arg) : arg)),
      ],
      logFile,
    );
    running.set(deployment, started);
    await pollUntil(deployment, TIMEOUT_MS, async () => {
      if (started.ending() !== undefined) throw new Error(`${deployment} ended:\n${tailOf(logFile)}`);
      const answer = await ask(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    });
  }

  /** A denial acts a moment after its policy was written: until then the command would succeed. */
  async function untilDenied(text: string): Promise<void> {
    await pollUntil(`"${text}" to be denied`, TIMEOUT_MS, async () =>
      (await run(`${text} --dry-run=server`)).code === 1 ? true : undefined,
    );
  }

  it('shows what the commands print, from nothing to a policy and back', async () => {
    // Of a page without the section, nothing would be run.
    expect(STEPS.filter(({ does }) => does === 'run').length).toBeGreaterThan(20);
    for (const special of [RESTARTS_PODS, RENEWS_CERTIFICATE, ENDS_PODS])
      expect(STEPS.some((step) => step.does === 'run' && special.test(step.text))).toBe(true);
    expect(HERE.filter(([page]) => !STEPS.some(({ text }) => text.includes(page)))).toEqual([]);
    for (const step of STEPS) {
      if (step.does === 'write') {
        const file = join(directory, step.file);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, here(step.text));
        continue;
      }
      const [, waitsFor] = WAITS_FOR_PODS.exec(step.text) ?? [];
      const [, ends] = ENDS_PODS.exec(step.text) ?? [];
      if (waitsFor !== undefined) {
        await startPod(waitsFor);
        continue;
      }
      if (ends !== undefined) await running.get(ends)?.end('SIGTERM');
      const [, restarted = ''] = RESTARTS_PODS.exec(step.text) ?? [];
      for (const [, deployment = ''] of restarted.matchAll(/deployment\/(\S+)/g))
        await running.get(deployment)?.end('SIGTERM');
      const shown = step.shown.join('\n');
      const text = here(step.text);
      if (shown.includes('denied the request')) await untilDenied(text);
      let last = await run(text);
      // What was allowed or shown waits for the policy, too.
      await pollUntil('what the page shows', TIMEOUT_MS, async () => {
        const isShown = missingLines(step, last.output).length === 0;
        if (isShown && last.code === (SHOWS_NO.test(shown) ? 1 : 0)) return true;
        if (step.shown.length === 0) return true;
        last = await run(text);
        return undefined;
      }).catch(() => undefined);
      expect(missingLines(step, last.output), `${text}\n${last.output}`).toEqual([]);
      expect(last.code, `${text}\n${last.output}`).toBe(SHOWS_NO.test(shown) ? 1 : 0);
      if (RENEWS_CERTIFICATE.test(step.text)) await renewCertificate();
    }
    const { stdout } = await plane.kubectl([
      'get',
      'validatingwebhookconfigurations,crd,clusterroles',
      '-o',
      'name',
    ]);
    expect(stdout).not.toContain('pacto');
  });
});
