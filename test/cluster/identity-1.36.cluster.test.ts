/** Node identity on an API server whose tokens name their node: our server, the generated entries, real tokens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import {
  AGENT_USERNAME,
  kubelet,
  kubeletToken,
  LEASES,
  leaseObject,
  OBSERVATIONS,
  observationObject,
} from './support/agents.ts';
import type { AuditEvent } from './support/audit-log.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubectlOptions, KubectlResult } from './support/kubectl.ts';
import { startSite, type Site } from './support/site.ts';

const PROOF = 'node-identity.gate.pacto.trianalab.io/proof';
const NODE = 'node-identity.gate.pacto.trianalab.io/node';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const NODE_UID = 'authentication.kubernetes.io/node-uid';

const denied = (what: string): string =>
  `admission webhook "node-identity.gate.pacto.trianalab.io" denied the request: ${what}`;
const foreign = (verb: string, where = 'metadata.name'): string =>
  denied(
    `${where}: the agent on node "node-a" may not ${verb} "node-b"; only the object named after its own node [NODE_NAME_MISMATCH]`,
  );

clusterSuite('node identity on 1.36', { versions: ['1.36'] }, () => {
  let site: Site;
  let tokenA = '';
  let tokenB = '';

  beforeAll(async () => {
    site = await startSite({ plane: { version: '1.36' } });
    tokenA = await kubeletToken(site.api, 'node-a');
    tokenB = await kubeletToken(site.api, 'node-b');
  });
  afterAll(() => site?.stop());

  const kubectl = (args: readonly string[], options: KubectlOptions): Promise<KubectlResult> =>
    site.plane.kubectl([...args, `--namespace=${AGENT_NAMESPACE}`], options);
  /** By the agent on node-a. */
  const asAgent = (args: readonly string[], object?: object): Promise<KubectlResult> =>
    kubectl(args, { token: tokenA, ...(object !== undefined && { stdin: JSON.stringify(object) }) });
  /** Both Leases are there, or neither. */
  async function reset(wanted: 'present' | 'absent'): Promise<void> {
    for (const [node, token] of [
      ['node-a', tokenA],
      ['node-b', tokenB],
    ] as const) {
      await site.api.request({ method: 'DELETE', path: `${LEASES}/${node}`, token });
      if (wanted === 'present')
        await site.api.demand({ method: 'POST', path: LEASES, token, body: leaseObject(node) });
    }
  }
  const auditOf = (verb: string, code: number, name: string): Promise<AuditEvent> =>
    site.plane.waitForAuditEvent(
      (event) =>
        event.verb === verb &&
        event.responseStatus?.code === code &&
        event.user.username === AGENT_USERNAME &&
        event.requestURI.startsWith(LEASES) &&
        (event.objectRef?.name ?? '') === name,
    );

  describe('create', () => {
    beforeAll(() => reset('absent'));

    it('allows an agent its own Lease, with the proof in the audit log', async () => {
      expect(await asAgent(['create', '-f', '-'], leaseObject('node-a'))).toEqual({
        code: 0,
        stdout: 'lease.coordination.k8s.io/node-a created\n',
        stderr: '',
      });
      const event = await auditOf('create', 201, 'node-a');
      expect(event.annotations).toMatchObject({ [PROOF]: 'node-claim', [NODE]: 'node-a' });
      // What the decision was made of is what the API server says itself of the caller.
      expect(event.user.extra?.[NODE_NAME]).toEqual(['node-a']);
    });

    it('denies an agent another node’s Lease, with the proof in the audit log', async () => {
      expect(await asAgent(['create', '-f', '-'], leaseObject('node-b'))).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error from server (Forbidden): error when creating "STDIN": ${foreign('create')}\n`,
      });
      const event = await auditOf('create', 403, 'node-b');
      expect(event.annotations).toMatchObject({ [PROOF]: 'node-claim', [NODE]: 'node-a' });
      expect(event.responseStatus?.reason).toBe('Forbidden');
    });

    it('denies a generated name', async () => {
      const { metadata: _metadata, ...rest } = leaseObject('node-a') as { metadata: object };
      const { stderr } = await asAgent(['create', '-f', '-'], {
        ...rest,
        metadata: { generateName: 'node-a-' },
      });
      expect(stderr).toMatch(/may not create "node-a-[a-z0-9]{5}"; .* \[NODE_NAME_MISMATCH\]\n$/);
    });

    it('NI15 denies an agent the kubelet’s Lease of its own node', async () => {
      const object = leaseObject('node-a', 'node-a', 'kube-node-lease');
      expect(
        await site.plane.kubectl(['create', '-f', '-'], { token: tokenA, stdin: JSON.stringify(object) }),
      ).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error from server (Forbidden): error when creating "STDIN": admission webhook "node-lease.node-identity.gate.pacto.trianalab.io" denied the request: metadata.namespace: an agent may not write in "kube-node-lease"; use "pacto-node-agent", or change identity.namespaces [NODE_NAMESPACE_FOREIGN]\n`,
      });
    });

    it('NI10 allows a PUT that creates the own Lease and denies one that creates another node’s', async () => {
      await reset('absent');
      const put = (node: string): ReturnType<typeof site.api.request> =>
        site.api.request({
          method: 'PUT',
          path: `${LEASES}/${node}`,
          token: tokenA,
          body: leaseObject(node),
        });
      expect((await put('node-a')).status).toBe(201);
      const { status, body } = await put('node-b');
      expect(status).toBe(403);
      expect(body.message).toBe(foreign('create'));
    });
  });

  describe('server-side apply', () => {
    beforeAll(() => reset('absent'));
    const apply = ['apply', '--server-side', '-f', '-'];

    it('NI11 allows creating the own Lease', async () => {
      const { stdout, stderr } = await asAgent(apply, leaseObject('node-a'));
      expect({ stdout, stderr }).toEqual({
        stdout: 'lease.coordination.k8s.io/node-a serverside-applied\n',
        stderr: '',
      });
    });

    it('NI11 allows updating the own Lease', async () => {
      const object = {
        ...leaseObject('node-a'),
        spec: { holderIdentity: 'node-a', leaseDurationSeconds: 60 },
      };
      expect((await asAgent(apply, object)).stderr).toBe('');
      const { body } = await site.api.request({ method: 'GET', path: `${LEASES}/node-a` });
      expect(body['spec']).toMatchObject({ leaseDurationSeconds: 60 });
    });

    it('NI11 denies creating another node’s Lease', async () => {
      const { code, stderr } = await asAgent(apply, leaseObject('node-b'));
      expect(code).toBe(1);
      expect(stderr).toBe(`Error from server (Forbidden): ${foreign('create')}\n`);
    });

    it('NI11 denies updating another node’s Lease, with or without force', async () => {
      await site.api.demand({ method: 'POST', path: LEASES, token: tokenB, body: leaseObject('node-b') });
      const object = { ...leaseObject('node-b'), spec: { leaseDurationSeconds: 1 } };
      for (const force of [[], ['--force-conflicts']]) {
        const { code, stderr } = await asAgent([...apply, ...force, '--field-manager=agent'], object);
        expect(code).toBe(1);
        // Without force the API server finds the conflict first; no write either way.
        expect(stderr).toMatch(force.length === 0 ? /conflict|may not update/ : /may not update "node-b"/);
      }
      const { body } = await site.api.request({ method: 'GET', path: `${LEASES}/node-b` });
      expect(body['spec']).toMatchObject({ leaseDurationSeconds: 40 });
    });
  });

  describe('patch and replace', () => {
    beforeAll(() => reset('present'));

    it.each([
      ['merge', '{"spec":{"leaseDurationSeconds":50}}'],
      ['strategic', '{"spec":{"leaseDurationSeconds":51}}'],
      ['json', '[{"op":"replace","path":"/spec/leaseDurationSeconds","value":52}]'],
    ])('NI11 allows a %s patch of the own Lease and denies one of another node’s', async (type, patch) => {
      const run = (node: string): Promise<KubectlResult> =>
        asAgent(['patch', 'lease', node, `--type=${type}`, `--patch=${patch}`]);
      expect(await run('node-a')).toEqual({
        code: 0,
        stdout: 'lease.coordination.k8s.io/node-a patched\n',
        stderr: '',
      });
      expect(await run('node-b')).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error from server (Forbidden): ${foreign('update')}\n`,
      });
    });

    it('allows replacing the own Lease and denies replacing another node’s', async () => {
      const allowed = await asAgent(['replace', '-f', '-'], leaseObject('node-a'));
      expect(allowed.stdout).toBe('lease.coordination.k8s.io/node-a replaced\n');
      const refused = await asAgent(['replace', '-f', '-'], leaseObject('node-b'));
      expect(refused.stderr).toBe(
        `Error from server (Forbidden): error when replacing "STDIN": ${foreign('update')}\n`,
      );
    });

    it('denies giving the own Lease to another holder', async () => {
      const { stderr } = await asAgent([
        'patch',
        'lease',
        'node-a',
        '--type=merge',
        '--patch={"spec":{"holderIdentity":"node-b"}}',
      ]);
      expect(stderr).toBe(
        `Error from server (Forbidden): ${denied('spec.holderIdentity: found "node-b", needed "node-a" or nothing [NODE_HOLDER_MISMATCH]')}\n`,
      );
    });

    it('NI17 denies a finalizer, with all that is wrong in one answer', async () => {
      const patch = '{"metadata":{"finalizers":["example.com/stuck"],"labels":{"a":"b"}}}';
      const { stderr } = await asAgent(['patch', 'lease', 'node-a', '--type=merge', `--patch=${patch}`]);
      expect(stderr).toContain('[NODE_FINALIZERS_CHANGED]; ');
      expect(stderr).toContain('[NODE_LABELS_CHANGED]');
    });

    it('NI16 allows the own Node as owner and denies another', async () => {
      const owner = async (node: string): Promise<string> => {
        const { metadata } = await site.api.demand({ method: 'GET', path: `/api/v1/nodes/${node}` });
        return JSON.stringify({
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: metadata?.uid }] },
        });
      };
      const patch = async (node: string): Promise<KubectlResult> =>
        asAgent(['patch', 'lease', 'node-a', '--type=merge', `--patch=${await owner(node)}`]);
      expect((await patch('node-b')).stderr).toContain('[NODE_OWNER_FOREIGN]');
      expect((await patch('node-a')).stdout).toBe('lease.coordination.k8s.io/node-a patched\n');
    });
  });

  describe('delete', () => {
    beforeAll(() => reset('present'));

    it('NI12 denies deleting another node’s Lease', async () => {
      expect((await asAgent(['delete', 'lease', 'node-b'])).stderr).toBe(
        `Error from server (Forbidden): ${foreign('delete', 'oldObject.metadata.name')}\n`,
      );
    });

    it('NI13 denies a collection that holds another node’s Lease, which stays', async () => {
      const { status, body } = await site.api.request({ method: 'DELETE', path: LEASES, token: tokenA });
      expect(status).toBe(403);
      expect(body.message).toBe(foreign('delete', 'oldObject.metadata.name'));
      expect((await site.api.request({ method: 'GET', path: `${LEASES}/node-b` })).status).toBe(200);
    });

    it('NI13 allows a collection of the own Lease alone', async () => {
      await reset('present');
      const path = `${LEASES}?fieldSelector=metadata.name%3Dnode-a`;
      expect((await site.api.request({ method: 'DELETE', path, token: tokenA })).status).toBe(200);
      expect((await site.api.request({ method: 'GET', path: `${LEASES}/node-a` })).status).toBe(404);
    });

    it('NI12 allows deleting the own Lease', async () => {
      await reset('present');
      expect((await asAgent(['delete', 'lease', 'node-a'])).stdout).toContain('"node-a" deleted');
    });
  });

  describe('dry run', () => {
    beforeAll(() => reset('absent'));

    it('NI27 denies in the words of the real request', async () => {
      const real = await asAgent(['create', '-f', '-'], leaseObject('node-b'));
      const dry = await asAgent(['create', '--dry-run=server', '-f', '-'], leaseObject('node-b'));
      expect(dry).toEqual(real);
      expect(dry.stderr).toContain(foreign('create'));
    });

    it('NI27 allows and changes nothing', async () => {
      const dry = await asAgent(['create', '--dry-run=server', '-f', '-'], leaseObject('node-a'));
      expect(dry).toEqual({
        code: 0,
        stdout: 'lease.coordination.k8s.io/node-a created (server dry run)\n',
        stderr: '',
      });
      expect((await site.api.request({ method: 'GET', path: `${LEASES}/node-a` })).status).toBe(404);
    });
  });

  describe('observations', () => {
    it.each(['v1alpha1', 'v1'])(
      'NI28 allows the own and denies another node’s through %s',
      async (version) => {
        await site.api.request({ method: 'DELETE', path: `${OBSERVATIONS}/node-a`, token: tokenA });
        const allowed = await asAgent(['create', '-f', '-'], observationObject('node-a', version));
        expect(allowed.stdout).toBe('noderuntimeobservation.pacto.trianalab.io/node-a created\n');
        const refused = await asAgent(['create', '-f', '-'], observationObject('node-b', version));
        expect(refused.stderr).toBe(
          `Error from server (Forbidden): error when creating "STDIN": ${foreign('create')}\n`,
        );
      },
    );

    it('NI14 allows the status of the own observation and denies that of another node’s', async () => {
      await site.api.demand({
        method: 'POST',
        path: OBSERVATIONS,
        token: tokenB,
        body: observationObject('node-b'),
      });
      const patch = (node: string): Promise<KubectlResult> =>
        asAgent([
          'patch',
          'noderuntimeobservation',
          node,
          '--subresource=status',
          '--type=merge',
          '--patch={"status":{"state":"Ready"}}',
        ]);
      expect((await patch('node-a')).stdout).toBe(
        'noderuntimeobservation.pacto.trianalab.io/node-a patched\n',
      );
      expect((await patch('node-b')).stderr).toBe(`Error from server (Forbidden): ${foreign('update')}\n`);
    });
  });

  describe('impersonated users', () => {
    beforeAll(() => reset('absent'));
    const uidOfA = async (): Promise<string> =>
      (await site.api.demand({ method: 'GET', path: '/api/v1/nodes/node-a' })).metadata?.uid ?? '';
    const create = (as: KubectlOptions['as'], node = 'node-a'): Promise<KubectlResult> =>
      kubectl(['create', '--dry-run=server', '-f', '-'], {
        stdin: JSON.stringify(leaseObject(node)),
        ...(as !== undefined && { as }),
      });
    const claiming = (...nodes: string[]): KubectlOptions['as'] => ({
      user: AGENT_USERNAME,
      extra: { [NODE_NAME]: nodes },
    });

    it.each([
      ['NI01 denies the agent without any claim', AGENT_USERNAME, 'NODE_CLAIM_MISSING'],
      ['NI03 denies an empty node name', claiming(''), 'NODE_CLAIM_MALFORMED'],
      ['NI04 denies two node names', claiming('node-a', 'node-b'), 'NODE_CLAIM_MALFORMED'],
      ['NI05 denies two equal node names', claiming('node-a', 'node-a'), 'NODE_CLAIM_MALFORMED'],
      [
        'NI29 denies a node name under another key',
        { user: AGENT_USERNAME, extra: { 'example.com/node-name': ['node-a'] } },
        'NODE_CLAIM_MISSING',
      ],
      [
        'NI24 denies the agent’s name without its group',
        { user: AGENT_USERNAME, groups: ['system:masters'], extra: { [NODE_NAME]: ['node-a'] } },
        'NODE_GROUP_MISSING',
      ],
    ] as const)('%s', async (_title, as, code) => {
      const { code: exit, stderr } = await create(as);
      expect(exit).toBe(1);
      expect(stderr).toMatch(new RegExp(`denied the request: .*\\[${code}\\]\\n$`));
    });

    it('NI01 tells the operator what to do', async () => {
      expect((await create(AGENT_USERNAME)).stderr).toBe(
        `Error from server (Forbidden): error when creating "STDIN": ${denied(
          "userInfo.extra[authentication.kubernetes.io/node-name]: the token carries no node claim; use the token that the kubelet mounts into the agent's Pod, not one from a Secret, from kubectl create token or by impersonation; after an upgrade of the API server to 1.30 or later wait until the kubelet has refreshed the token, at most about an hour, or set identity.podLookup to always meanwhile [NODE_CLAIM_MISSING]",
        )}\n`,
      );
    });

    it('NI06 allows a claim by impersonation its own Lease, which no review can tell from a token', async () => {
      expect((await create(claiming('node-a'))).code).toBe(0);
      expect((await create(claiming('node-a'), 'node-b')).stderr).toContain('[NODE_NAME_MISMATCH]');
    });

    it('NI20 allows a claim with and without the uid of the node', async () => {
      const withUid = {
        user: AGENT_USERNAME,
        extra: { [NODE_NAME]: ['node-a'], [NODE_UID]: [await uidOfA()] },
      };
      expect((await create(withUid)).code).toBe(0);
      expect((await create(claiming('node-a'))).code).toBe(0);
    });
  });

  describe('everybody else', () => {
    it('NI21 never asks us about kubelets', async () => {
      const before = await site.gate.decisions();
      const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
      const as = kubelet('node-a');
      const body = leaseObject('node-a', 'node-a', 'kube-node-lease');
      expect((await site.api.request({ method: 'POST', path, as, body })).status).toBe(201);
      const patch = { spec: { leaseDurationSeconds: 41 } };
      const contentType = 'application/merge-patch+json';
      const renewed = await site.api.request({
        method: 'PATCH',
        path: `${path}/node-a`,
        as,
        body: patch,
        contentType,
      });
      expect(renewed.status).toBe(200);
      const event = await site.plane.waitForAuditEvent(
        ({ verb, impersonatedUser }) =>
          verb === 'patch' && impersonatedUser?.username === 'system:node:node-a',
      );
      expect(Object.keys(event.annotations ?? {}).filter((key) => key.includes('node-identity'))).toEqual([]);
      expect(await site.gate.decisions()).toBe(before);
      // The same write by an agent does reach us.
      await site.api.request({
        method: 'PATCH',
        path: `${path}/node-a`,
        token: tokenA,
        body: patch,
        contentType,
      });
      expect(await site.gate.decisions()).toBe(before + 1);
    });

    it('NI23 never asks us about accounts that are called nearly so', async () => {
      const before = await site.gate.decisions();
      for (const user of [`${AGENT_USERNAME}:`, 'system:serviceaccount:other:pacto-node-agent']) {
        const as = { username: user, groups: ['system:masters'] };
        const body = leaseObject('node-b');
        const { status } = await site.api.request({ method: 'POST', path: `${LEASES}?dryRun=All`, as, body });
        expect(status).toBe(201);
      }
      expect(await site.gate.decisions()).toBe(before);
    });
  });
});
