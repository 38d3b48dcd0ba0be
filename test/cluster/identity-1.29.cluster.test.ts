/** Node identity on an API server whose tokens name no node: the Pod that a token is bound to is looked up (§3.1). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_ACCOUNT, AGENT_NAMESPACE } from '../support/builders.ts';
import {
  agentPodObject,
  AGENT_USERNAME,
  kubeletToken,
  LEASES,
  leaseObject,
  OBSERVATIONS,
  observationObject,
  PODS,
} from './support/agents.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubectlResult } from './support/kubectl.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';

const denied = (what: string): string =>
  `Error from server (Forbidden): error when creating "STDIN": admission webhook "node-identity.gate.pacto.trianalab.io" denied the request: ${what}\n`;

/** What holds by watched Pods and by one read for each decision alike. */
function suiteOf(state: 'cached' | 'live'): void {
  clusterSuite(`node identity on 1.29, state ${state}`, { versions: ['1.29'] }, () => {
    let site: Site;
    let unbound = '';
    let gone = '';

    beforeAll(async () => {
      site = await startSite({
        plane: { version: '1.29' },
        serveFlags: [`--state=${state}`],
        async beforeEntries({ plane, api }) {
          // The entries refuse both from then on: a token for a person, and a Pod that comes with its node.
          unbound = await plane.tokenFor({ serviceAccount: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE });
          for (const pod of [
            agentPodObject('agent-gone', { node: 'node-a' }),
            agentPodObject('agent-waiting'),
          ])
            await api.demand({ method: 'POST', path: PODS, body: pod });
        },
      });
      gone = await kubeletToken(site.api, 'node-a', 'agent-gone');
    });
    afterAll(() => site?.stop());

    const create = (token: string, object: object, ...args: readonly string[]): Promise<KubectlResult> =>
      site.plane.kubectl(['create', '-f', '-', ...args], { token, stdin: JSON.stringify(object) });
    /** As somebody with claims of the test's choice, which no token of this API server would carry. */
    const createAs = (extra: Record<string, readonly string[]>): Promise<KubectlResult> =>
      site.plane.kubectl(['create', '-f', '-', '--dry-run=server'], {
        as: { user: AGENT_USERNAME, extra },
        stdin: JSON.stringify(leaseObject('node-a')),
      });
    const uidOfPod = async (name: string): Promise<string> =>
      (await site.api.demand({ method: 'GET', path: `${PODS}/${name}` })).metadata?.uid ?? '';

    describe('the Pod’s token', () => {
      it('allows the own Lease, with the proof in the audit log', async () => {
        const token = await kubeletToken(site.api, 'node-a');
        expect(await create(token, leaseObject('node-a'))).toEqual({
          code: 0,
          stdout: 'lease.coordination.k8s.io/node-a created\n',
          stderr: '',
        });
        const event = await site.plane.waitForAuditEvent(
          ({ verb, user, responseStatus }) =>
            verb === 'create' && user.username === AGENT_USERNAME && responseStatus?.code === 201,
        );
        expect(event.annotations).toMatchObject({
          'node-identity.gate.pacto.trianalab.io/proof': 'pod-lookup',
          'node-identity.gate.pacto.trianalab.io/node': 'node-a',
        });
        // Nothing else could have told the node.
        expect(Object.keys(event.user.extra ?? {}).toSorted()).toEqual([POD_NAME, POD_UID]);
      });

      it('denies another node’s Lease', async () => {
        const token = await kubeletToken(site.api, 'node-a');
        expect(await create(token, leaseObject('node-b'))).toEqual({
          code: 1,
          stdout: '',
          stderr: denied(
            'metadata.name: the agent on node "node-a" may not create "node-b"; only the object named after its own node [NODE_NAME_MISMATCH]',
          ),
        });
      });

      it('allows the agent on the other node that Lease', async () => {
        const token = await kubeletToken(site.api, 'node-b');
        expect((await create(token, leaseObject('node-b'))).code).toBe(0);
      });

      it('allows the status of the own observation and denies that of another node’s', async () => {
        const tokens = {
          a: await kubeletToken(site.api, 'node-a'),
          b: await kubeletToken(site.api, 'node-b'),
        };
        expect((await create(tokens.a, observationObject('node-a'))).code).toBe(0);
        expect((await create(tokens.b, observationObject('node-b'))).code).toBe(0);
        const patch = (node: string): ReturnType<typeof site.api.request> =>
          site.api.request({
            method: 'PATCH',
            path: `${OBSERVATIONS}/${node}/status`,
            token: tokens.a,
            contentType: 'application/merge-patch+json',
            body: { status: { state: 'Ready' } },
          });
        expect((await patch('node-a')).status).toBe(200);
        expect((await patch('node-b')).body.message).toContain('[NODE_NAME_MISMATCH]');
      });

      it('allows an apply that updates the own Lease and denies one of another node’s', async () => {
        const token = await kubeletToken(site.api, 'node-a');
        const apply = (node: string): Promise<KubectlResult> =>
          site.plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], {
            token,
            stdin: JSON.stringify(leaseObject(node)),
          });
        expect((await apply('node-a')).stdout).toBe('lease.coordination.k8s.io/node-a serverside-applied\n');
        expect((await apply('node-b')).stderr).toContain('may not update "node-b"');
      });

      it('allows the own Node as owner of the Lease and denies another', async () => {
        const token = await kubeletToken(site.api, 'node-a');
        const patch = async (node: string): ReturnType<typeof site.api.request> => {
          const { metadata } = await site.api.demand({ method: 'GET', path: `/api/v1/nodes/${node}` });
          const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid: metadata?.uid };
          return site.api.request({
            method: 'PATCH',
            path: `${LEASES}/node-a`,
            token,
            contentType: 'application/merge-patch+json',
            body: { metadata: { ownerReferences: [owner] } },
          });
        };
        expect((await patch('node-b')).body.message).toContain('[NODE_OWNER_FOREIGN]');
        expect((await patch('node-a')).status).toBe(200);
      });
    });

    describe('other users with the agent’s name', () => {
      it('denies a token that is bound to nothing, and tells what to do', async () => {
        expect((await create(unbound, leaseObject('node-a'))).stderr).toBe(
          denied(
            "userInfo.extra[authentication.kubernetes.io/node-name]: the token carries neither a node claim nor the name and uid of a Pod to look up; use the token that the kubelet mounts into the agent's Pod, not one from a Secret, from kubectl create token or by impersonation [NODE_CLAIM_MISSING]",
          ),
        );
      });

      it('denies the claims of a Pod that is not there', async () => {
        const { stderr } = await createAs({ [POD_NAME]: ['agent-never'], [POD_UID]: ['x'] });
        expect(stderr).toBe(
          denied(
            'userInfo.extra[authentication.kubernetes.io/pod-name]: there is no Pod "pacto-node-agent/agent-never"; a token outlives its Pod for a moment only, so let the agent\'s new Pod write [NODE_POD_UNKNOWN]',
          ),
        );
      });

      it('denies the uid of another Pod', async () => {
        const { stderr } = await createAs({
          [POD_NAME]: ['agent-node-a'],
          [POD_UID]: [await uidOfPod('agent-node-b')],
        });
        expect(stderr).toContain('is not the one of this token (uid differs)');
        expect(stderr).toContain('[NODE_POD_MISMATCH]');
      });

      it('denies a Pod that has no node yet', async () => {
        const { stderr } = await createAs({
          [POD_NAME]: ['agent-waiting'],
          [POD_UID]: [await uidOfPod('agent-waiting')],
        });
        expect(stderr).toContain('[NODE_POD_UNSCHEDULED]');
      });

      it('denies a malformed node claim although the Pod would prove the node', async () => {
        const { stderr } = await createAs({
          [POD_NAME]: ['agent-node-a'],
          [POD_UID]: [await uidOfPod('agent-node-a')],
          'authentication.kubernetes.io/node-name': ['node-a', 'node-b'],
        });
        expect(stderr).toContain('[NODE_CLAIM_MALFORMED]');
      });
    });

    describe('a Pod that is deleted', () => {
      it('denies its real token, which the API server still takes for some seconds', async () => {
        const claims = { [POD_NAME]: ['agent-gone'], [POD_UID]: [await uidOfPod('agent-gone')] };
        const write = (): Promise<KubectlResult> => create(gone, leaseObject('node-a'));
        // So far it is as good as any, and the API server remembers it for ten seconds.
        expect((await write()).stderr).toContain('AlreadyExists');
        await site.api.demand({ method: 'DELETE', path: `${PODS}/agent-gone?gracePeriodSeconds=0` });
        const stderr = await pollUntil('the deletion to be seen', 5_000, async () => {
          const result = await write();
          return result.stderr.includes('AlreadyExists') ? undefined : result.stderr;
        });
        expect(stderr).toContain('there is no Pod "pacto-node-agent/agent-gone"');
        expect(stderr).toContain('[NODE_POD_UNKNOWN]');
        expect((await createAs(claims)).stderr).toContain('[NODE_POD_UNKNOWN]');
      });
    });
  });
}

suiteOf('cached');
suiteOf('live');
