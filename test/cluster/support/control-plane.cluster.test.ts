/** The harness itself: what every other cluster test relies on (control-plane.md). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { clusterSuite } from './cluster-suite.ts';
import { skipReason, startControlPlane, type ControlPlane, type KubernetesVersion } from './control-plane.ts';
import { pollUntil } from './polling.ts';

const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';
const POD_NAME_KEY = 'authentication.kubernetes.io/pod-name';

/** A Node, and a Pod of the account `agent` that is scheduled on it. */
const AGENT_ON_NODE = [
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agent', namespace: 'default' } },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-x', namespace: 'default' },
    spec: {
      nodeName: 'node-a',
      serviceAccountName: 'agent',
      containers: [{ name: 'agent', image: 'registry.invalid/agent:1' }],
    },
  },
];

interface UserInfo {
  readonly username: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Asks the API server who a token is. */
async function whoIs(plane: ControlPlane, token: string): Promise<UserInfo> {
  const { code, stdout, stderr } = await plane.kubectl(['auth', 'whoami', '-o', 'json'], { token });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { status: { userInfo: UserInfo } }).status.userInfo;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What holds for both minors, on a control plane that is started once. */
function suiteOf(version: KubernetesVersion, define: (plane: () => ControlPlane) => void): void {
  clusterSuite(`control plane ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    beforeAll(async () => {
      plane = await startControlPlane({ version });
      await plane.apply(AGENT_ON_NODE);
    });
    afterAll(async () => {
      await plane?.stop();
    });

    it('reports its own version', async () => {
      const { stdout } = await plane.kubectl(['version', '-o', 'json']);
      const { serverVersion } = JSON.parse(stdout) as { serverVersion: { gitVersion: string } };
      expect(serverVersion.gitVersion).toMatch(new RegExp(`^v${version.replace('.', '\\.')}\\.\\d+$`));
    });

    it('returns a refusal as a result, with the words of the API server', async () => {
      const { code, stderr } = await plane.kubectl(['get', 'pods'], {
        as: { user: 'nobody', groups: ['team:a'], extra: { 'example.org/shift': ['night'] } },
      });
      expect(code).toBe(1);
      expect(stderr).toContain('pods is forbidden: User "nobody" cannot list resource "pods"');
      const event = await plane.waitForAuditEvent(
        ({ impersonatedUser }) => impersonatedUser?.username === 'nobody',
      );
      expect(event.impersonatedUser?.groups).toEqual(['team:a', 'system:authenticated']);
      expect(event.impersonatedUser?.extra).toEqual({ 'example.org/shift': ['night'] });
      expect(event.responseStatus?.code).toBe(403);
    });

    it('audits request and response bodies', async () => {
      await plane.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'audited', namespace: 'default' },
        data: { key: 'value' },
      });
      const event = await plane.waitForAuditEvent(
        ({ objectRef, verb }) => objectRef?.resource === 'configmaps' && verb === 'create',
      );
      expect(event.requestObject).toMatchObject({ data: { key: 'value' } });
      expect(event.responseObject).toMatchObject({ metadata: { name: 'audited', namespace: 'default' } });
    });

    it('keeps address and data over a restart of the API server', async () => {
      const before = plane.processIds();
      await plane.stopApiServer();
      const refused = await plane.kubectl(['get', '--raw', '/readyz']);
      expect(refused.stderr).toContain('refused');
      await plane.startApiServer();
      const { stdout } = await plane.kubectl(['get', 'node', 'node-a', '-o', 'name']);
      expect(stdout.trim()).toBe('node/node-a');
      expect(plane.processIds()).not.toEqual(before);
      expect(plane.processIds()).toHaveLength(before.length);
    });

    it('lets a client certificate be a user with groups', async () => {
      const user = await plane.clientCertificateFor({
        commonName: 'jane',
        organizations: ['team:a', 'team:b'],
      });
      const kubeconfig = plane.kubeconfigFor('jane', user);
      const { stdout } = await plane.kubectl(['auth', 'whoami', '-o', 'json'], { kubeconfig });
      const { status } = JSON.parse(stdout) as { status: { userInfo: UserInfo & { groups: string[] } } };
      expect(status.userInfo.username).toBe('jane');
      expect(status.userInfo.groups).toEqual(expect.arrayContaining(['team:a', 'team:b']));
    });

    define(() => plane);
  });
}

suiteOf('1.36', (plane) => {
  it('names the node in the token of a scheduled Pod', async () => {
    const token = await plane().tokenFor({
      serviceAccount: 'agent',
      boundObject: { kind: 'Pod', name: 'agent-x' },
    });
    const { username, extra } = await whoIs(plane(), token);
    expect(username).toBe('system:serviceaccount:default:agent');
    expect(extra?.[POD_NAME_KEY]).toEqual(['agent-x']);
    expect(extra?.[NODE_NAME_KEY]).toEqual(['node-a']);
  });

  it('names the node, and no Pod, in a token bound to the Node itself', async () => {
    const token = await plane().tokenFor({
      serviceAccount: 'agent',
      boundObject: { kind: 'Node', name: 'node-a' },
    });
    const { extra } = await whoIs(plane(), token);
    expect(extra?.[NODE_NAME_KEY]).toEqual(['node-a']);
    expect(extra).not.toHaveProperty([POD_NAME_KEY]);
  });

  it('serves validating admission policies', async () => {
    const { code } = await plane().kubectl([
      'get',
      'validatingadmissionpolicies.v1.admissionregistration.k8s.io',
    ]);
    expect(code).toBe(0);
  });
});

suiteOf('1.29', (plane) => {
  it('names the Pod but no node in the token of a scheduled Pod', async () => {
    const token = await plane().tokenFor({
      serviceAccount: 'agent',
      boundObject: { kind: 'Pod', name: 'agent-x' },
    });
    const { username, extra } = await whoIs(plane(), token);
    expect(username).toBe('system:serviceaccount:default:agent');
    expect(extra?.[POD_NAME_KEY]).toEqual(['agent-x']);
    expect(extra).not.toHaveProperty([NODE_NAME_KEY]);
  });

  it('refuses to bind a token to a Node', async () => {
    await expect(
      plane().tokenFor({ serviceAccount: 'agent', boundObject: { kind: 'Node', name: 'node-a' } }),
    ).rejects.toThrow('kubectl create token agent failed');
  });

  it('serves no validating admission policies', async () => {
    const { stdout } = await plane().kubectl(['get', '--raw', '/apis/admissionregistration.k8s.io']);
    expect(stdout).toContain('admissionregistration.k8s.io/v1');
    const resources = await plane().kubectl(['get', '--raw', '/apis/admissionregistration.k8s.io/v1']);
    expect(resources.stdout).not.toContain('validatingadmissionpolicies');
  });
});

clusterSuite('control plane with controllers', { versions: ['1.36'], controllerManager: true }, () => {
  it('gives a new namespace its account and survives a restart of the API server', async () => {
    const plane = await startControlPlane({ version: '1.36', controllerManager: true });
    try {
      await plane.stopApiServer('SIGKILL');
      await plane.startApiServer();
      await plane.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } });
      const account = await pollUntil('the account of a new namespace', 60_000, async () => {
        const get = ['get', 'serviceaccount', 'default', '--namespace=late', '--output=name'];
        const { code, stdout } = await plane.kubectl(get);
        return code === 0 ? stdout.trim() : undefined;
      });
      expect(account).toBe('serviceaccount/default');
    } finally {
      await plane.stop();
    }
  });

  it('refuses controllers beside an older API server', async () => {
    await expect(startControlPlane({ version: '1.29', controllerManager: true })).rejects.toThrow(TypeError);
  });
});

clusterSuite('end of a control plane', { versions: ['1.36'] }, () => {
  it('leaves neither a process nor a file after stop', async () => {
    const plane = await startControlPlane({ version: '1.36' });
    const ids = plane.processIds();
    expect(ids).toHaveLength(2);
    await plane.stop();
    await plane.stop();
    expect(ids.filter((pid) => isAlive(pid))).toEqual([]);
    expect(existsSync(plane.directory)).toBe(false);
  });

  it('leaves nothing behind a test process that was killed', async () => {
    const module = new URL('control-plane.ts', import.meta.url).href;
    const program = `
      const { startControlPlane } = await import(${JSON.stringify(module)});
      const plane = await startControlPlane({ version: '1.36' });
      process.stdout.write(JSON.stringify({ directory: plane.directory, ids: plane.processIds() }) + '\\n');
      setInterval(() => undefined, 60_000);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { directory, ids } = JSON.parse(line.toString('utf8')) as { directory: string; ids: number[] };
    expect(statSync(directory).isDirectory()).toBe(true);
    expect(ids.filter((pid) => isAlive(pid))).toHaveLength(2);
    child.kill('SIGKILL');
    await pollUntil('the end of the orphans', 20_000, () =>
      Promise.resolve(ids.some((pid) => isAlive(pid)) || existsSync(directory) ? undefined : true),
    );
  });

  it('says what the API server said when it does not start', async () => {
    await expect(
      startControlPlane({ version: '1.36', extraApiserverArgs: ['--no-such-flag'] }),
    ).rejects.toThrow('unknown flag: --no-such-flag');
  });
});

describe('without binaries', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('has a reason that names the command to run', async () => {
    vi.stubEnv('PACTO_GATE_CACHE', '/nonexistent/cache');
    vi.stubEnv('KUBEBUILDER_ASSETS', '');
    expect(skipReason()).toContain('run "npm run controlplane"');
    await expect(startControlPlane({ version: '1.29' })).rejects.toThrow('run "npm run controlplane"');
  });

  it('has a reason that names what KUBEBUILDER_ASSETS lacks', () => {
    vi.stubEnv('KUBEBUILDER_ASSETS', '/nonexistent/assets');
    expect(skipReason({ versions: ['1.36'] })).toContain('has no executable kube-apiserver, etcd, kubectl');
  });
});
