/** What people and machines see while our server is away, stuck, or cannot decide (design decision 13). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  agentPodObject,
  AGENT_USERNAME,
  kubelet,
  kubeletToken,
  LEASES,
  leaseObject,
  PODS,
} from './support/agents.ts';
import type { ApiAnswer } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { applyEntries, startGate, type Gate } from './support/gate.ts';
import type { KubectlResult } from './support/kubectl.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';

const ENTRY = 'node-identity.gate.pacto.trianalab.io';
const DEADLINE =
  'no decision within 1.6 s of the 2 s that the webhook entry allows: try again, or look at the durations in the metrics of pacto-gate [GATE_DEADLINE_EXCEEDED]';
const CONFIGURATION =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pacto-gate-node-identity';
const ALL_IGNORE = ['', '-tokens', '-pods'].map((rule) => `--identity${rule}-failure-policy=Ignore`);

clusterSuite('failure modes', { versions: ['1.36'] }, () => {
  let site: Site;
  let token = '';

  beforeAll(async () => {
    site = await startSite({ plane: { version: '1.36' }, serveFlags: ['--webhooks-drain-seconds=1'] });
    token = await kubeletToken(site.api, 'node-a');
  });
  afterAll(() => site?.stop());

  /** By the agent on node-a, in a dry run: the verdict of the real request, and nothing to clean up. */
  const create = (node: string): Promise<KubectlResult> =>
    site.plane.kubectl(['create', '--dry-run=server', '-f', '-'], {
      token,
      stdin: JSON.stringify(leaseObject(node)),
    });
  const answersOfOthers = async (): Promise<number[]> => {
    const admin = { username: 'jane', groups: ['system:masters'] };
    const kubeletLeases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const pod = agentPodObject('plain') as { spec: object };
    const others = [
      {
        path: `${kubeletLeases}?dryRun=All`,
        as: kubelet('node-a'),
        body: leaseObject('node-a', 'node-a', 'kube-node-lease'),
      },
      { path: `${LEASES}?dryRun=All`, as: admin, body: leaseObject('node-b') },
      {
        path: `${PODS}?dryRun=All`,
        as: admin,
        body: { ...pod, spec: { ...pod.spec, serviceAccountName: 'default' } },
      },
      {
        path: '/api/v1/namespaces/pacto-system/serviceaccounts/pacto-gate/token',
        as: admin,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [] } },
      },
    ];
    const answers = await Promise.all(others.map((one) => site.api.request({ method: 'POST', ...one })));
    return answers.map(({ status }) => status);
  };
  const configurationVersion = async (): Promise<unknown> =>
    (await site.api.demand({ method: 'GET', path: CONFIGURATION })).metadata?.resourceVersion;

  describe('our server is gone, under Fail', () => {
    afterEach(() => site.gate.start());

    it('refuses agents, leaves everybody else alone, and needs nobody to recover', async () => {
      const version = await configurationVersion();
      await site.gate.end('SIGKILL');
      expect(await create('node-a')).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error from server (InternalError): error when creating "STDIN": Internal error occurred: failed calling webhook "${ENTRY}": failed to call webhook: Post "${site.gate.url}/validate/node-identity?timeout=10s": dial tcp ${site.gate.url.slice('https://'.length)}: connect: connection refused\n`,
      });
      expect(await answersOfOthers()).toEqual([201, 201, 201, 201]);
      await site.gate.start();
      expect((await create('node-a')).code).toBe(0);
      expect((await create('node-b')).stderr).toContain('[NODE_NAME_MISMATCH]');
      expect(await configurationVersion()).toBe(version);
    });

    it('ends with status 0 on SIGTERM', async () => {
      await site.gate.end('SIGTERM');
      expect(site.gate.ending()).toBe('status 0');
    });
  });

  describe('our server is stuck, under Fail', () => {
    beforeAll(() => applyEntries(site.plane, site.gate, { flags: ['--timeout-seconds=1'] }));
    afterAll(async () => {
      site.gate.signal('SIGCONT');
      await applyEntries(site.plane, site.gate);
    });

    it('refuses agents after the time of the entry', async () => {
      await pollUntil('the shorter time to act', 30_000, async () => {
        await create('node-a');
        site.gate.signal('SIGSTOP');
        const { stderr } = await create('node-a');
        site.gate.signal('SIGCONT');
        return stderr.includes('timeout=1s') ? stderr : undefined;
      }).then((stderr) =>
        expect(stderr).toBe(
          `Error from server (InternalError): error when creating "STDIN": Internal error occurred: failed calling webhook "${ENTRY}": failed to call webhook: Post "${site.gate.url}/validate/node-identity?timeout=1s": context deadline exceeded\n`,
        ),
      );
      expect(await answersOfOthers()).toEqual([201, 201, 201, 201]);
    });
  });

  describe('our server is gone, under Ignore', () => {
    beforeAll(() => applyEntries(site.plane, site.gate, { flags: ALL_IGNORE }));
    afterAll(async () => {
      await site.gate.start();
      await applyEntries(site.plane, site.gate);
    });

    it('lets everything pass, which only the audit log tells, and denies again afterwards', async () => {
      await site.gate.end('SIGKILL');
      const passed = await pollUntil('the entry to be ignored', 30_000, async () => {
        const result = await create('node-b');
        return result.code === 0 ? result : undefined;
      });
      expect(passed).toEqual({
        code: 0,
        stdout: 'lease.coordination.k8s.io/node-b created (server dry run)\n',
        stderr: '',
      });
      const event = await site.plane.waitForAuditEvent(
        ({ user, responseStatus, objectRef }) =>
          user.username === AGENT_USERNAME && objectRef?.name === 'node-b' && responseStatus?.code === 201,
      );
      const annotations = Object.entries(event.annotations ?? {});
      expect(annotations).toContainEqual([
        expect.stringMatching(/^failed-open\.validating\.webhook\.admission\.k8s\.io\/round_0_index_\d$/),
        ENTRY,
      ]);
      await site.gate.start();
      expect((await create('node-b')).stderr).toContain('[NODE_NAME_MISMATCH]');
    });
  });
});

clusterSuite('a look-up that finds no answer', { versions: ['1.36'] }, () => {
  let site: Site;
  let proxy: TcpProxy;
  const gates: Gate[] = [];

  beforeAll(async () => {
    site = await startSite({ plane: { version: '1.36' } });
    proxy = await startTcpProxy(Number(new URL(site.plane.url).port));
  });
  afterAll(async () => {
    for (const gate of gates) await gate.stop();
    await proxy?.close();
    await site?.stop();
  });
  afterEach(() => proxy.set('pass'));

  /** Puts a server with this failure policy behind the entries, which reads each Pod through the proxy. */
  async function serve(failurePolicy: 'Fail' | 'Ignore'): Promise<Gate> {
    const policy = `--identity-failure-policy=${failurePolicy}`;
    const gate = await startGate({
      plane: site.plane,
      server: `https://127.0.0.1:${proxy.port}`,
      flags: ['--state=live', '--identity-pod-lookup=always', policy],
    });
    gates.push(gate);
    await applyEntries(site.plane, gate, { flags: ['--timeout-seconds=2', policy] });
    await pollUntil('the entries of this server', 30_000, async () => {
      const { status } = await create('node-a');
      return status === 201 && (await gate.decisions()) > 0 ? true : undefined;
    });
    return gate;
  }
  const claims = async (): Promise<Record<string, string[]>> => {
    const { metadata } = await site.api.demand({ method: 'GET', path: `${PODS}/agent-node-a` });
    return {
      'authentication.kubernetes.io/pod-name': ['agent-node-a'],
      'authentication.kubernetes.io/pod-uid': [metadata?.uid ?? ''],
    };
  };
  /** As the agent on node-a, whose token names its Pod and no node. */
  const create = async (node: string): Promise<ApiAnswer> =>
    site.api.request({
      method: 'POST',
      path: `${LEASES}?dryRun=All`,
      as: { username: AGENT_USERNAME, extra: await claims() },
      body: leaseObject(node),
    });
  const kubectlCreate = async (node: string): Promise<KubectlResult> =>
    site.plane.kubectl(['create', '--dry-run=server', '-f', '-'], {
      as: { user: AGENT_USERNAME, extra: await claims() },
      stdin: JSON.stringify(leaseObject(node)),
    });

  it('refuses under Fail within our own deadline, and says why', async () => {
    const gate = await serve('Fail');
    proxy.set('hang');
    expect(await kubectlCreate('node-a')).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error from server (InternalError): error when creating "STDIN": admission webhook "${ENTRY}" denied the request: ${ENTRY}: no decision: ${DEADLINE}\n`,
    });
    proxy.set('cut');
    expect((await kubectlCreate('node-a')).stderr).toMatch(
      /denied the request: \S+: no decision: cannot read pods "pacto-node-agent\/agent-node-a": no answer from the API server .* \[GATE_CLUSTER_UNREACHABLE\]\n$/,
    );
    expect(await gate.decisions({ verdict: 'failed-closed' })).toBe(2);
    proxy.set('pass');
    expect((await create('node-a')).status).toBe(201);
  });

  it('lets pass under Ignore, with a warning and a trace in the audit log', async () => {
    const gate = await serve('Ignore');
    proxy.set('hang');
    expect(await kubectlCreate('node-b')).toEqual({
      code: 0,
      stdout: 'lease.coordination.k8s.io/node-b created (server dry run)\n',
      stderr: `Warning: ${ENTRY}: not enforced on this request: ${DEADLINE}\n`,
    });
    const event = await site.plane.waitForAuditEvent(
      ({ annotations = {} }) => `${ENTRY}/failed-open` in annotations,
    );
    expect(event.annotations?.[`${ENTRY}/failed-open`]).toBe(DEADLINE);
    expect(await gate.decisions({ verdict: 'failed-open' })).toBe(1);
    proxy.set('pass');
    expect((await create('node-b')).status).toBe(403);
  });

  it('denies without a look-up under either policy', async () => {
    proxy.set('hang');
    const answer = await site.api.request({
      method: 'POST',
      path: `${LEASES}?dryRun=All`,
      as: { username: AGENT_USERNAME },
      body: leaseObject('node-a'),
    });
    expect(answer.body.message).toContain('[NODE_CLAIM_MISSING]');
  });
});
