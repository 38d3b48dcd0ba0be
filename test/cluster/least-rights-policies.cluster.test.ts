/** With policies of every source our server does what the roles of `pacto-gate generate rbac` say, and no more. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { bindingObject, configMapObject, policyObject, REVIEW, yamlOf } from '../app/policy-support.ts';
import { ask } from '../support/http-client.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { GATE_USERNAME, startGate, type Gate } from './support/gate.ts';
import { beyond, deedOf, granted } from './support/granted.ts';
import { pollUntil } from './support/polling.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';

const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${GATE_USERNAME}']
  - level: None
`;

const GROUP = 'gate.pacto.trianalab.io';
const OVER_MAPS = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
const DENY = 'Deny';
const of = (paramRef: object) => ({ spec: { paramRef: { ...paramRef, parameterNotFoundAction: DENY } } });
const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const OBJECTS: readonly KubeObject[] = [
  namespace('shop'),
  namespace('policies'),
  policyObject('selecting', { expression: "params.data.allow == 'yes'", spec: OVER_MAPS }),
  bindingObject('selecting', of({ namespace: 'shop', selector: { matchLabels: { app: 'limits' } } })),
  // Of something that is not there.
  policyObject('naming', { expression: "params.data.allow == 'yes'", spec: OVER_MAPS }),
  bindingObject('naming', of({ namespace: 'shop', name: 'never' })),
  policyObject('asking', {
    expression: "authorizer.group('').resource('pods').namespace('shop').check('list').allowed()",
  }),
  configMapObject('limits', { allow: 'yes' }, { namespace: 'shop', labels: { app: 'limits' } }),
  configMapObject('m', { 'asking.yaml': yamlOf(bindingObject('asking')) }, { namespace: 'policies' }),
];

const READS = {
  cached: ['get', 'list', 'watch'],
  live: ['get', 'list'],
} as const;

for (const { version, state } of [
  { version: '1.36', state: 'cached' },
  { version: '1.29', state: 'live' },
] as const) {
  clusterSuite(`least rights with policies on ${version}, ${state}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let gate: Gate;
    beforeAll(async () => {
      plane = await startControlPlane({ version, auditPolicy: AUDIT_POLICY });
      api = createApiClient(plane);
      await applyPolicyDefinitions(plane, api);
      for (const object of OBJECTS) await plane.apply(object);
      gate = await startGate({
        plane,
        flags: [
          `--state=${state}`,
          '--identity-enabled=false',
          '--policies-sources=customResources,configMaps',
          '--policies-namespaces=policies',
          '--policies-param-kinds=v1/ConfigMap',
        ],
      });
    });
    afterAll(async () => {
      await gate?.stop();
      await api?.close();
      await plane?.stop();
    });

    interface Response {
      readonly allowed: boolean;
      readonly status?: { readonly message: string; readonly code: number };
    }
    async function answerTo(path: string, request: object): Promise<Response> {
      const answer = await ask(`${gate.url}${path}?timeout=10s`, {
        ca: gate.authority.certificate,
        body: { ...REVIEW, request: { ...REVIEW.request, ...request } },
      });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      return (answer.json() as { response: Response }).response;
    }
    const decide = (policy: string, request: object = {}): Promise<Response> =>
      answerTo(`/validate/policies/${policy}`, request);

    it('decides by every source, by parameters and by what a user may do', async () => {
      expect(await decide('selecting')).toMatchObject({ allowed: true });
      expect(await decide('naming')).toMatchObject({ allowed: false, status: { code: 422 } });
      expect(await decide('asking')).toMatchObject({
        allowed: false,
        status: { message: expect.stringContaining('asking: no') as string },
      });
      const root = { userInfo: { username: 'root', groups: ['system:masters'] } };
      expect(await decide('asking', root)).toMatchObject({ allowed: true });
      // Of a namespace that is nowhere.
      expect(await decide('asking', { namespace: 'ghost' })).toMatchObject({
        allowed: false,
        status: { code: 404 },
      });
    });

    it('looks up the policy of whoever writes a binding', async () => {
      const kind = { group: GROUP, version: 'v1', kind: 'ValidatingAdmissionPolicyBinding' };
      const resource = { group: GROUP, version: 'v1', resource: 'validatingadmissionpolicybindings' };
      const object = bindingObject('selecting', of({ namespace: 'shop', name: 'limits' }));
      const response = await answerTo('/validate/policy-writers', {
        kind,
        resource,
        name: 'selecting',
        namespace: undefined,
        object,
      });
      expect(response).toMatchObject({ allowed: false, status: { code: 422 } });
    });

    it('asked the API server for nothing beyond its roles, and used all that they give', async () => {
      const rights = await granted(api, ['policies']);
      const given = [...new Set([...rights].map((right) => right.replace(/^.*?: /, '')))].toSorted();
      const reads = READS[state];
      expect(given).toEqual(
        [
          'create authorization.k8s.io/subjectaccessreviews',
          ...reads.map((verb) => `${verb} /configmaps`),
          ...(state === 'live' ? ['get'] : reads).map((verb) => `${verb} /namespaces`),
          ...reads.map((verb) => `${verb} ${GROUP}/validatingadmissionpolicies`),
          ...reads.slice(1).map((verb) => `${verb} ${GROUP}/validatingadmissionpolicybindings`),
        ].toSorted(),
      );
      const events = await pollUntil('all requests in the audit log', 20_000, () => {
        const deeds = new Set(plane.auditEvents().map(deedOf));
        return Promise.resolve(given.every((one) => deeds.has(one)) ? plane.auditEvents() : undefined);
      });
      expect(events.filter(({ user }) => user.username !== GATE_USERNAME)).toEqual([]);
      expect(events.filter(({ responseStatus }) => (responseStatus?.code ?? 200) === 403)).toEqual([]);
      expect(beyond(events, rights)).toEqual([]);
      // Every authenticated client may ask for the version (ClusterRole system:public-info-viewer).
      const deeds = new Set(events.map(deedOf));
      expect([...deeds].filter((deed) => deed !== 'get /version').toSorted()).toEqual(given);
    });

    it.each([
      'create configmaps',
      'get secrets',
      `update validatingadmissionpolicies.${GROUP}`,
      `update validatingadmissionpolicies.${GROUP}/status`,
      'update validatingwebhookconfigurations',
    ])('may not %s', async (question) => {
      const [verb = '', what = ''] = question.split(' ');
      const [resource = '', subresource] = what.split('/');
      const args = ['auth', 'can-i', verb, resource, '--all-namespaces'];
      if (subresource !== undefined) args.push(`--subresource=${subresource}`);
      const { stdout } = await plane.kubectl(args, { as: GATE_USERNAME });
      expect(stdout.trim()).toBe('no');
    });

    it('listed ConfigMaps of no namespace but those that hold policies or parameters', () => {
      const elsewhere = plane
        .auditEvents()
        .filter(
          ({ objectRef, verb }) =>
            objectRef?.resource === 'configmaps' &&
            verb !== 'get' &&
            objectRef.namespace !== undefined &&
            !['policies', 'shop'].includes(objectRef.namespace),
        );
      expect(elsewhere).toEqual([]);
    });
  });
}
