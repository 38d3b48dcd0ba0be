/** Generated entries on real API servers: they are taken, change nothing when applied again, and pass what R1 lists. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { run } from '../../src/cli/program.ts';
import type { WebhookConfiguration } from '../../src/policies/entry.ts';
import { wrongReach } from '../policies/vap/entry-probes.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';
import { pollUntil } from './support/polling.ts';

/** Nobody listens there: what an entry reaches is refused, which shows that it does. */
const DEAD = 'https://127.0.0.1:1';
const APPLY = ['apply', '--server-side', '--field-manager=pacto-gate', '-f', '-'];
const WAIT_MS = 60_000;

function policyWith(name: string, spec: object): readonly object[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const validations = [{ expression: 'false' }];
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec: { validations, ...spec } },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

const rule = (change: object = {}): object => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['configmaps'],
  ...change,
});
const wide = rule({ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] });

/** Of each form that the API server could take in another way than we do. */
const POLICIES: readonly object[] = [
  // Its rules match Events of the other group, too, as versions of the same.
  ...policyWith('core', { matchConstraints: { resourceRules: [rule({ resources: ['*'] })] } }),
  ...policyWith('wide', { matchConstraints: { resourceRules: [wide] } }),
  ...policyWith('main-resources', {
    failurePolicy: 'Ignore',
    matchConstraints: {
      matchPolicy: 'Exact',
      resourceRules: [rule({ resources: ['*', 'pods/*', '*/scale'] })],
    },
  }),
  ...policyWith('limits.example.com', {
    matchConstraints: {
      namespaceSelector: {
        matchLabels: { zone: 'b', area: 'a' },
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
          { key: 'c', operator: 'In', values: ['2', '1'] },
        ],
      },
      objectSelector: { matchExpressions: [{ key: 'd', operator: 'NotIn', values: ['no', 'y', '1'] }] },
      resourceRules: [
        rule({ scope: 'Namespaced', resources: ['pods', 'pods/ephemeralcontainers', 'nodes'] }),
        rule({
          apiGroups: ['apps', ''],
          apiVersions: ['v1', 'v1beta1'],
          resources: ['deployments', 'events'],
        }),
      ],
      excludeResourceRules: [rule({ resourceNames: ['x'] })],
    },
  }),
  ...policyWith('leases', {
    matchConstraints: {
      resourceRules: [rule({ apiGroups: ['coordination.k8s.io'], resources: ['leases'] })],
    },
  }),
];

/** Policies in the cluster itself. */
const INSIDE: readonly object[] = [
  ...policyWith('custom', { matchConstraints: { resourceRules: [rule()] } }).map((object) =>
    Object.assign({}, object, { apiVersion: 'gate.pacto.trianalab.io/v1' }),
  ),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'policies',
      namespace: 'pacto-system',
      labels: { 'gate.pacto.trianalab.io/policies': 'true' },
    },
    data: {
      'policies.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: policyWith('mapped', { matchConstraints: { resourceRules: [rule()] } }),
      }),
    },
  },
];

/** Requests as somebody sends them, and whether the wide policy is asked about them. */
const REQUESTS: readonly (readonly [path: string, body: object, isReached: boolean])[] = [
  ['/api/v1/namespaces/default/configmaps', named('v1', 'ConfigMap'), true],
  ['/api/v1/namespaces/kube-system/configmaps', named('v1', 'ConfigMap'), false],
  ['/api/v1/namespaces/pacto-system/configmaps', named('v1', 'ConfigMap'), false],
  ['/api/v1/namespaces', named('v1', 'Namespace'), true],
  ['/api/v1/nodes', named('v1', 'Node'), false],
  ['/apis/coordination.k8s.io/v1/namespaces/default/leases', named('coordination.k8s.io/v1', 'Lease'), true],
  [
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    named('coordination.k8s.io/v1', 'Lease'),
    false,
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    named('rbac.authorization.k8s.io/v1', 'ClusterRole'),
    true,
  ],
  [
    '/api/v1/namespaces/default/events',
    { ...named('v1', 'Event'), involvedObject: { namespace: 'default', kind: 'Pod', name: 'x' } },
    false,
  ],
  [
    '/apis/events.k8s.io/v1/namespaces/default/events',
    {
      ...named('events.k8s.io/v1', 'Event'),
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/x',
      reportingInstance: 'x',
      action: 'x',
      reason: 'x',
      type: 'Normal',
      regarding: { namespace: 'default' },
    },
    false,
  ],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { nonResourceAttributes: { path: '/x', verb: 'get' } },
    },
    false,
  ],
  [
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } },
    false,
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    named('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'),
    false,
  ],
];

function named(apiVersion: string, kind: string): object {
  return { apiVersion, kind, metadata: { name: 'entries-probe' } };
}

function suiteOf(version: KubernetesVersion): void {
  clusterSuite(`generated entries on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let directory: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'pacto-gate-entries-'));
      const texts = POLICIES.map((one) => stringify(one, { compat: 'yaml-1.1' }));
      await writeFile(join(directory, 'policies.yaml'), texts.join('---\n'));
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      await plane.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pacto-system' } }]);
      // Before there are entries, with nobody behind them.
      await applyPolicyDefinitions(plane, api);
      await plane.apply(INSIDE);
      await writeDiscovery();
    }, WAIT_MS);
    afterAll(async () => {
      await api?.close();
      await plane?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    /** As a person writes it for `--discovery`. */
    async function writeDiscovery(): Promise<void> {
      const { stdout } = await plane.kubectl(['api-versions']);
      const texts: string[] = [];
      for (const groupVersion of stdout.trim().split('\n')) {
        const root = groupVersion === 'v1' ? '/api' : '/apis';
        texts.push((await plane.kubectl(['get', '--raw', `${root}/${groupVersion}`])).stdout);
      }
      await writeFile(join(directory, 'discovery.json'), texts.join(''));
    }

    /** In this process, with the real clock. */
    async function generate(...argv: string[]): Promise<string> {
      const written = { out: '', err: '' };
      const code = await run(
        [
          'generate',
          'webhooks',
          '--url',
          DEAD,
          '--policies-files',
          join(directory, 'policies.yaml'),
          ...argv,
        ],
        {
          stdout: { write: (text) => void (written.out += text) },
          stderr: { write: (text) => void (written.err += text) },
          stdin: (async function* () {})(),
          clock: systemClock,
          env: { POD_NAMESPACE: 'pacto-system' },
          onSignal: () => () => undefined,
        },
      );
      if (code !== 0) throw new Error(written.err);
      return written.out;
    }

    async function versions(): Promise<unknown> {
      const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
      const { items } = (await api.demand({ method: 'GET', path })) as {
        items?: { metadata: { name: string; resourceVersion: string; generation: number } }[];
      };
      return items?.map(({ metadata }) => [metadata.name, metadata.resourceVersion, metadata.generation]);
    }

    async function applyTwice(text: string): Promise<void> {
      const first = await plane.kubectl(APPLY, { stdin: text });
      expect(first).toMatchObject({ code: 0, stderr: '' });
      const before = await versions();
      expect(before).toHaveLength(2);
      expect(await plane.kubectl(APPLY, { stdin: text })).toMatchObject({ code: 0, stderr: '' });
      expect(await versions()).toEqual(before);
    }

    const policiesOf = (text: string): WebhookConfiguration =>
      parseAllDocuments(text).at(-1)?.toJS() as WebhookConfiguration;

    it('are taken, and change nothing when they are applied again', async () => {
      const text = await generate('--kube-version', version);
      expect(policiesOf(text).webhooks).toHaveLength(5);
      await applyTwice(text);
    });

    it('are the same from the cluster itself', async () => {
      const files = await generate('--kube-version', version);
      const cluster = await generate('--from-cluster', '--cluster-kubeconfig', plane.adminKubeconfigPath);
      expect(cluster).toBe(files);
    });

    it('have the policies of custom resources and ConfigMaps', async () => {
      const argv = ['--from-cluster', '--cluster-kubeconfig', plane.adminKubeconfigPath];
      const sources = ['--policies-sources', 'customResources,configMaps'];
      const { webhooks } = policiesOf(await generate(...argv, ...sources));
      expect(webhooks.map(({ name }) => name)).toEqual([
        'core.policies.gate.pacto.trianalab.io',
        'custom.policies.gate.pacto.trianalab.io',
        'leases.policies.gate.pacto.trianalab.io',
        'limits.example.com',
        'main-resources.policies.gate.pacto.trianalab.io',
        'mapped.policies.gate.pacto.trianalab.io',
        'policy-writers.gate.pacto.trianalab.io',
        'wide.policies.gate.pacto.trianalab.io',
      ]);
      await applyTwice(await generate(...argv, ...sources));
    });

    it('are taken without match conditions, from discovery as kubectl prints it', async () => {
      const discovery = join(directory, 'discovery.json');
      const text = await generate('--kube-version', '1.27', '--discovery', discovery);
      const { webhooks } = policiesOf(text);
      expect(webhooks.map(({ matchConditions }) => matchConditions)).toEqual(Array(5).fill(undefined));
      const namespaces = ['kube-system', 'kube-public', 'kube-node-lease', 'pacto-system'];
      expect(webhooks.flatMap((entry) => wrongReach(entry, namespaces))).toEqual([]);
      expect(webhooks.at(-1)?.rules.flatMap(({ apiGroups }) => apiGroups)).toContain('apps');
      await applyTwice(text);
    });

    describe.each([
      ['with match conditions', ['--kube-version', version]],
      ['written out', ['--kube-version', '1.27', '--discovery', 'discovery.json']],
    ])('with nobody behind them, %s', (_form, argv) => {
      it('refuse what they reach, and pass what recovery needs', async () => {
        const text = await generate(
          ...argv.map((one) => (one.endsWith('.json') ? join(directory, one) : one)),
        );
        const configuration = policiesOf(text);
        const outcome = async (path: string, body: object): Promise<boolean> => {
          const answer = await api.request({ method: 'POST', path: `${path}?dryRun=All`, body });
          const { message = '' } = answer.body;
          if (answer.status >= 300 && !/failed calling webhook "(?:core|wide)\./.test(message))
            throw new Error(`${path}: ${message}`);
          return answer.status >= 300;
        };
        const [[path, body] = ['', {}]] = REQUESTS;
        const fill = async (webhooks: readonly unknown[]): Promise<void> => {
          const stdin = JSON.stringify({ ...configuration, webhooks });
          expect(await plane.kubectl(APPLY, { stdin })).toMatchObject({ code: 0, stderr: '' });
          const isWanted = async (): Promise<boolean> => (await outcome(path, body)) === webhooks.length > 0;
          await pollUntil('the entries to count', WAIT_MS, async () => (await isWanted()) || undefined);
        };
        for (const policy of ['core', 'wide']) {
          const name = `${policy}.policies.gate.pacto.trianalab.io`;
          // Those of before must be gone.
          await fill([]);
          await fill(configuration.webhooks.filter((entry) => entry.name === name));
          const found: [string, boolean][] = [];
          for (const [to, of] of REQUESTS) found.push([to, await outcome(to, of)]);
          expect(found).toEqual(
            REQUESTS.map(([to, , isReached]) => [
              to,
              isReached && (policy === 'wide' || to.startsWith('/api/')),
            ]),
          );
        }
      });
    });
  });
}

suiteOf('1.36');
suiteOf('1.29');
