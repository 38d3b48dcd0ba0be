/** The companion rules for tokens and Pods of agent accounts (NI07, NI08), beside the real DaemonSet controller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_ACCOUNT, AGENT_NAMESPACE } from '../support/builders.ts';
import {
  agentPodObject,
  AGENT_USERNAME,
  DAEMON_SET_CONTROLLER,
  kubelet,
  kubeletToken,
  nodeObject,
  PODS,
} from './support/agents.ts';
import type { ApiAnswer } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubectlResult } from './support/kubectl.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';

const IMAGE_PATCH = {
  spec: { containers: [{ name: 'agent', image: 'registry.invalid/other:1' }] },
};
const tokenDenied = (what: string): string =>
  `error: failed to create token: admission webhook "node-identity-tokens.gate.pacto.trianalab.io" denied the request: ${what}\n`;
const REQUESTER = `userInfo: tokens of ServiceAccount "pacto-node-agent/pacto-node-agent" are for kubelets to ask for; read a token inside the agent's Pod instead [AGENT_TOKEN_REQUESTER]`;
const podDenied = (what: string): string =>
  `admission webhook "node-identity-pods.gate.pacto.trianalab.io" denied the request: ${what}`;

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly spec: { readonly nodeName?: string };
  }[];
}

clusterSuite('companion rules', { versions: ['1.36'], controllerManager: true }, () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite({
      plane: { version: '1.36', controllerManager: true },
      nodes: [],
    });
    // Only now: the DaemonSet controller makes the Pods under the eyes of the entries.
    await site.plane.apply(['node-a', 'node-b'].map(nodeObject));
  });
  afterAll(() => site?.stop());

  const agentPods = async (): Promise<PodList['items']> =>
    ((await site.api.demand({ method: 'GET', path: PODS })) as unknown as PodList).items;

  describe('Pods', () => {
    const create = (pod: object, as = DAEMON_SET_CONTROLLER): Promise<ApiAnswer> =>
      site.api.request({ method: 'POST', path: `${PODS}?dryRun=All`, as, body: pod });

    it('NI08 allows the DaemonSet controller its Pods, one for each Node', async () => {
      const pods = await pollUntil('a Pod for each Node', 60_000, async () => {
        const items = await agentPods();
        return items.length === 2 ? items : undefined;
      });
      expect(pods.map(({ spec }) => spec.nodeName)).toEqual([undefined, undefined]);
      expect(
        await site.gate.decisions({ webhook: 'node-identity-pods', verdict: 'allowed' }),
      ).toBeGreaterThanOrEqual(2);
    });

    it('NI08 denies a person a bare Pod with the agent account, in kubectl’s words', async () => {
      const stdin = JSON.stringify(agentPodObject('mine', { node: 'node-b' }));
      expect(await site.plane.kubectl(['create', '-f', '-'], { stdin })).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error from server (Forbidden): error when creating "STDIN": ${podDenied(
          'userInfo.username: found "admin", needed "system:serviceaccount:kube-system:daemon-set-controller"; run the agent as a DaemonSet, or use another account [AGENT_POD_CREATOR]; spec.nodeName: a Pod with an agent account may not choose its node itself; leave the field out [AGENT_POD_NODE_NAME]; metadata.ownerReferences: found 0 controllers, needed DaemonSet "pacto-node-agent" as the one controller; run the agent as that DaemonSet, or change identity.pods.daemonSets [AGENT_POD_OWNER]',
        )}\n`,
      });
    });

    it('NI08 denies a person a Pod that names the real DaemonSet as its owner', async () => {
      const pod = agentPodObject('mine', { daemonSetUid: site.daemonSetUid });
      const { status, body } = await create(pod, { username: 'admin', groups: ['system:masters'] });
      expect(status).toBe(403);
      expect(body.message).toMatch(
        /^[^;]*; run the agent as a DaemonSet, or use another account \[AGENT_POD_CREATOR\]$/,
      );
    });

    it('NI08 allows the controller’s account the uid of the real DaemonSet and denies another', async () => {
      const own = await create(agentPodObject('agent-x', { daemonSetUid: site.daemonSetUid }));
      expect(own.status).toBe(201);
      const daemonSetUid = '00000000-0000-4000-8000-000000000000';
      const { status, body } = await create(agentPodObject('agent-x', { daemonSetUid }));
      expect(status).toBe(403);
      expect(body.message).toBe(
        podDenied(
          'metadata.ownerReferences: the reference does not carry the uid of DaemonSet "pacto-node-agent/pacto-node-agent" (it differs); let the DaemonSet controller create the Pod [AGENT_POD_OWNER]',
        ),
      );
    });

    it('NI08 denies the controller’s account a Pod that chose its node', async () => {
      const { body } = await create(
        agentPodObject('agent-x', { daemonSetUid: site.daemonSetUid, node: 'node-b' }),
      );
      expect(body.message).toContain('[AGENT_POD_NODE_NAME]');
    });

    it('NI08 allows Pods with another account in the agents’ namespace', async () => {
      const pod = agentPodObject('plain') as { spec: object };
      const body = { ...pod, spec: { ...pod.spec, serviceAccountName: 'default' } };
      const before = await site.gate.decisions();
      expect((await create(body, { username: 'admin', groups: ['system:masters'] })).status).toBe(201);
      expect(await site.gate.decisions()).toBe(before);
    });

    it('NI08 allows a label on an agent Pod and denies another image and a debug container', async () => {
      const name = (await agentPods())[0]?.metadata.name ?? '';
      const patch = (path: string, body: object): Promise<ApiAnswer> =>
        site.api.request({
          method: 'PATCH',
          path: `${PODS}/${path}`,
          body,
          contentType: 'application/strategic-merge-patch+json',
        });
      expect((await patch(name, { metadata: { labels: { seen: 'yes' } } })).status).toBe(200);
      const image = await patch(name, IMAGE_PATCH);
      expect(image.status).toBe(403);
      expect(image.body.message).toBe(
        podDenied(
          'spec.containers: may not change in a Pod with an agent account; change the DaemonSet, and debug on the node instead of in the Pod [AGENT_POD_CHANGED]',
        ),
      );
      const debug = await patch(`${name}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: 'debug', image: 'registry.invalid/debug:1' }] },
      });
      expect(debug.body.message).toContain('spec.ephemeralContainers: may not change');
    });
  });

  describe('tokens', () => {
    let pod = '';
    beforeAll(async () => {
      pod = (await agentPods())[0]?.metadata.name ?? '';
      // The scheduler's part.
      await site.api.demand({
        method: 'POST',
        path: `${PODS}/${pod}/binding`,
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: pod },
          target: { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
        },
      });
    });
    const createToken = (...args: readonly string[]): Promise<KubectlResult> =>
      site.plane.kubectl(['create', 'token', ...args, `--namespace=${AGENT_NAMESPACE}`]);

    it('NI07 allows the kubelet a token for the agent’s Pod, which names the node', async () => {
      const token = await kubeletToken(site.api, 'node-a', pod);
      const whoami = await site.plane.kubectl(['auth', 'whoami', '-o', 'json'], { token });
      const { status } = JSON.parse(whoami.stdout) as {
        status: { userInfo: { username: string; extra: Record<string, string[]> } };
      };
      expect(status.userInfo.username).toBe(AGENT_USERNAME);
      expect(status.userInfo.extra['authentication.kubernetes.io/node-name']).toEqual(['node-a']);
    });

    it('NI07 denies the administrator a token that is bound to nothing', async () => {
      expect(await createToken(AGENT_ACCOUNT)).toEqual({
        code: 1,
        stdout: '',
        stderr: tokenDenied(
          `spec.boundObjectRef.kind: found nothing, needed "Pod" for ServiceAccount "pacto-node-agent/pacto-node-agent"; read a token inside the agent's Pod instead [AGENT_TOKEN_UNBOUND]; ${REQUESTER}`,
        ),
      });
    });

    it('NI07 denies the administrator a token that is bound to a Node', async () => {
      const { stderr } = await createToken(
        AGENT_ACCOUNT,
        '--bound-object-kind=Node',
        '--bound-object-name=node-b',
      );
      expect(stderr).toContain('spec.boundObjectRef.kind: found "Node", needed "Pod"');
    });

    it('NI07 denies the administrator a token for the agent’s Pod', async () => {
      expect(
        await createToken(AGENT_ACCOUNT, '--bound-object-kind=Pod', `--bound-object-name=${pod}`),
      ).toEqual({
        code: 1,
        stdout: '',
        stderr: tokenDenied(REQUESTER),
      });
    });

    it('NI07 allows tokens of other accounts, without asking us', async () => {
      const before = await site.gate.decisions();
      const { code, stdout } = await createToken('default');
      expect(code).toBe(0);
      expect(stdout.split('.')).toHaveLength(3);
      expect(await site.gate.decisions()).toBe(before);
    });

    it('denies a kubelet of another node the token, by the API server itself', async () => {
      const answer = await site.api.request({
        method: 'POST',
        path: `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`,
        as: kubelet('node-b'),
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { audiences: [], boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod } },
        },
      });
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain(
        'User "system:node:node-b" cannot create resource "serviceaccounts/token"',
      );
    });
  });
});
