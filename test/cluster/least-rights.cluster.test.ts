/** Our server does with the API server what the roles of `pacto-gate generate rbac` say, and no more. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import { ask } from '../support/http-client.ts';
import {
  agentPodObject,
  AGENT_USERNAME,
  DAEMON_SET_CONTROLLER,
  kubeletToken,
  LEASES,
  leaseObject,
  PODS,
} from './support/agents.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import type { KubernetesVersion } from './support/control-plane.ts';
import { GATE_ACCOUNT, GATE_NAMESPACE, GATE_USERNAME } from './support/gate.ts';
import { beyond, deedOf, granted } from './support/granted.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';

/** Every request of our server, `/version` among them, which the default policy of these tests leaves out. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${GATE_USERNAME}']
  - level: None
`;

interface Case {
  readonly version: KubernetesVersion;
  readonly title: string;
  readonly flags: readonly string[];
  /** Verb, group and resource of what this configuration needs and this test brings about. */
  readonly used: readonly string[];
}

const CASES: readonly Case[] = [
  {
    version: '1.29',
    title: 'Pods looked up',
    flags: [],
    used: [
      'create authentication.k8s.io/tokenreviews',
      'create authorization.k8s.io/subjectaccessreviews',
      'get /nodes',
      'get /pods',
      'get apps/daemonsets',
      'list /pods',
      'watch /pods',
    ],
  },
  {
    version: '1.36',
    title: 'uids of Nodes compared',
    flags: ['--identity-require-node-uid', '--identity-pod-lookup=never'],
    used: [
      'create authentication.k8s.io/tokenreviews',
      'create authorization.k8s.io/subjectaccessreviews',
      'get apps/daemonsets',
      'list /nodes',
      'watch /nodes',
    ],
  },
];

for (const { version, title, flags, used } of CASES) {
  clusterSuite(`least rights on ${version}, ${title}`, { versions: [version] }, () => {
    let site: Site;
    let scraper = '';

    beforeAll(async () => {
      site = await startSite({
        plane: { version, auditPolicy: AUDIT_POLICY },
        serveFlags: ['--metrics-plain=false', ...flags],
      });
      await site.plane.apply([
        {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'scraper', namespace: GATE_NAMESPACE },
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'scraper' },
          rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: 'scraper' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'scraper' },
          subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace: GATE_NAMESPACE }],
        },
      ]);
      scraper = await site.plane.tokenFor({ serviceAccount: 'scraper', namespace: GATE_NAMESPACE });
    });
    afterAll(() => site?.stop());

    async function scrape(token: string | undefined): Promise<number> {
      const url = site.gate.metricsUrl.replace('http:', 'https:');
      const answer = await ask(url, {
        ca: site.gate.authority.certificate,
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      });
      return answer.status;
    }
    it('decides, reads and proves callers', async () => {
      const token = await kubeletToken(site.api, 'node-a');
      const own = await site.api.request({
        method: 'POST',
        path: LEASES,
        token,
        body: leaseObject('node-a'),
      });
      expect(own.status).toBe(201);
      const foreign = await site.api.request({
        method: 'POST',
        path: LEASES,
        token,
        body: leaseObject('node-b'),
      });
      expect(foreign.status).toBe(403);
      const node = await site.api.demand({ method: 'GET', path: '/api/v1/nodes/node-a' });
      const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: node.metadata?.uid };
      const owned = await site.api.request({
        method: 'PATCH',
        path: `${LEASES}/node-a`,
        token,
        contentType: 'application/merge-patch+json',
        body: { metadata: { ownerReferences: [owner] } },
      });
      expect(owned.status).toBe(200);
      // A Pod that is not in the copy.
      const unknown = await site.api.request({
        method: 'POST',
        path: `${LEASES}?dryRun=All`,
        as: {
          username: AGENT_USERNAME,
          extra: {
            'authentication.kubernetes.io/pod-name': ['agent-never'],
            'authentication.kubernetes.io/pod-uid': ['x'],
          },
        },
        body: leaseObject('node-a'),
      });
      expect(unknown.status).toBe(403);
      const pod = await site.api.request({
        method: 'POST',
        path: PODS,
        as: DAEMON_SET_CONTROLLER,
        body: agentPodObject('agent-new', { daemonSetUid: site.daemonSetUid }),
      });
      expect(pod.status).toBe(201);
    });

    it('serves metrics to whoever may read them, and to nobody else', async () => {
      expect(await scrape(scraper)).toBe(200);
      const other = await site.plane.tokenFor({ serviceAccount: GATE_ACCOUNT, namespace: GATE_NAMESPACE });
      expect(await scrape(other)).toBe(403);
      expect(await scrape('nonsense')).toBe(401);
      expect(await scrape(undefined)).toBe(401);
    });

    it('asked the API server for nothing beyond its roles, and used all that they give', async () => {
      const events = await pollUntil('all requests in the audit log', 20_000, () => {
        const names = new Set(site.plane.auditEvents().map(deedOf));
        return Promise.resolve(used.every((one) => names.has(one)) ? site.plane.auditEvents() : undefined);
      });
      expect(events.filter(({ user }) => user.username !== GATE_USERNAME)).toEqual([]);
      expect(events.filter(({ responseStatus }) => (responseStatus?.code ?? 200) === 403)).toEqual([]);
      // Every authenticated client may ask for the version (ClusterRole system:public-info-viewer).
      const names = new Set(events.map(deedOf));
      expect([...names].filter((name) => name !== 'get /version').toSorted()).toEqual([...used]);
      expect(beyond(events, await granted(site.api, [AGENT_NAMESPACE]))).toEqual([]);
    });

    it('made no write but the two reviews', () => {
      const writes = site.plane.auditEvents().filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
      expect(new Set(writes.map(deedOf))).toEqual(
        new Set([
          'create authentication.k8s.io/tokenreviews',
          'create authorization.k8s.io/subjectaccessreviews',
        ]),
      );
    });

    it.each([
      'create leases',
      'patch pods',
      'get secrets',
      'list secrets',
      'update validatingwebhookconfigurations',
    ])('may not %s', async (question) => {
      const [verb = '', resource = ''] = question.split(' ');
      const args = ['auth', 'can-i', verb, resource, '--all-namespaces'];
      const { stdout } = await site.plane.kubectl(args, { as: GATE_USERNAME });
      expect(stdout.trim()).toBe('no');
    });
  });
}
