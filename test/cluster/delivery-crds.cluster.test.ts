/** The definitions of Stage, Operation and Approval on real API servers (delivery.md §3.1 to §3.3). */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { createDefinitions } from './support/custom-resources.ts';

const DIRECTORY = 'manifests/crds';
const ROOT = '/apis/delivery.pacto.trianalab.io/v1alpha1/namespaces/default';
const DIGEST = `sha256:${'a'.repeat(64)}`;

type Members = Readonly<Record<string, unknown>>;

const POINTER = {
  name: 'manifests',
  target: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', name: 'payments' },
  field: 'ociDigest',
};
const STAGE: Members = { pacto: { name: 'payments' }, pointers: [POINTER] };
const OPERATION: Members = { stage: 'prod', type: 'Promote', digest: DIGEST };
const APPROVAL: Members = {
  operation: { name: 'p', uid: 'u' },
  digest: DIGEST,
  decision: 'Approve',
  role: 'release-manager',
};

const KINDS = {
  stages: { kind: 'Stage', spec: STAGE },
  operations: { kind: 'Operation', spec: OPERATION },
  approvals: { kind: 'Approval', spec: APPROVAL },
} as const;
type Resource = keyof typeof KINDS;

/** What each refuses, beside what it takes as above. */
const REFUSED: readonly (readonly [Resource, string, Members])[] = [
  ['stages', 'no pointers', { pointers: [] }],
  [
    'stages',
    'nine pointers',
    { pointers: Array.from({ length: 9 }, (_, n) => ({ ...POINTER, name: `p${n}` })) },
  ],
  ['stages', 'two pointers of one name', { pointers: [POINTER, POINTER] }],
  ['stages', 'a field that is a path', { pointers: [{ ...POINTER, field: 'spec.ref' }] }],
  ['stages', 'a field of another kind', { pointers: [{ ...POINTER, field: 'gitCommit' }] }],
  ['stages', 'a key without need', { pointers: [{ ...POINTER, key: 'x' }] }],
  [
    'stages',
    'no key where one is needed',
    { pointers: [{ ...POINTER, field: 'configKey', target: { ...POINTER.target, kind: 'ConfigMap' } }] },
  ],
  [
    'stages',
    'a pointer of another kind',
    { pointers: [{ ...POINTER, target: { ...POINTER.target, kind: 'Secret' } }] },
  ],
  ['stages', 'no gate at all', { gate: { target: 'Ignore' } }],
  ['stages', 'an unknown mode', { gate: { mode: 'Maybe' } }],
  ['stages', 'an age that is none', { gate: { maxVerdictAge: 'soon' } }],
  [
    'stages',
    'a remote stage with a namespace',
    { upstreams: { from: [{ stage: 'a/b', remote: 'eu', namespace: 'c' }] } },
  ],
  ['stages', 'a record of a local stage', { upstreams: { from: [{ stage: 'a', maxRecordAge: '1h' }] } }],
  ['stages', 'nobody who agrees', { approvals: { required: [{ role: 'a', count: 0 }] } }],
  ['stages', 'one role twice', { approvals: { required: [{ role: 'a' }, { role: 'a' }] } }],
  ['stages', 'a freeze until no time', { freeze: { until: 'tomorrow' } }],
  ['stages', 'no good release', { historyLimit: 0 }],
  ['operations', 'a digest that is none', { digest: 'sha256:1' }],
  ['operations', 'an unknown type', { type: 'Jump' }],
  ['operations', 'a rollback without a reason', { type: 'Rollback' }],
  [
    'operations',
    'too many groups',
    { requestedBy: { groups: Array.from({ length: 65 }, (_, n) => `g${n}`) } },
  ],
  ['approvals', 'a digest that is none', { digest: 'latest' }],
  ['approvals', 'no uid', { operation: { name: 'p' } }],
  ['approvals', 'an unknown decision', { decision: 'Maybe' }],
  ['approvals', 'a reject without a reason', { decision: 'Reject' }],
  ['approvals', 'a break-glass without a ticket', { decision: 'BreakGlass', reason: 'down' }],
];

const TAKEN: readonly (readonly [Resource, string, Members])[] = [
  ['stages', 'as little as there must be', {}],
  [
    'stages',
    'everything',
    {
      consumers: [{ kind: 'Kustomization', name: 'payments' }],
      upstreams: {
        strategy: 'Any',
        from: [
          { stage: 'staging', minCompliantFor: '30m' },
          { stage: 'a/b', remote: 'eu', maxRecordAge: '24h' },
        ],
      },
      gate: {
        mode: 'Warn',
        scope: 'Strict',
        target: 'Ignore',
        onUnknown: 'Deny',
        maxVerdictAge: '1h30m',
        requireReadiness: true,
      },
      approvals: {
        required: [{ role: 'release-manager', count: 2 }],
        separationOfDuties: 'None',
        validFor: '2h',
        onVerdictChange: 'Keep',
      },
      verification: { soak: '0', deadline: '1h' },
      freeze: { until: null, reason: '' },
      windows: [{ kind: 'Deny', schedule: '0 18 * * 5', timeZone: 'Europe/Berlin', duration: '60h' }],
      historyLimit: 5,
      suspend: true,
    },
  ],
  ['operations', 'as little as there must be', {}],
  ['operations', 'a rollback with a reason', { type: 'Rollback', reason: 'broken' }],
  ['approvals', 'as little as there must be', {}],
  ['approvals', 'a break-glass', { decision: 'BreakGlass', reason: 'down', ticket: 'INC-1' }],
];

for (const version of ['1.36', '1.29'] satisfies readonly KubernetesVersion[]) {
  clusterSuite(`the definitions of delivery on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let count = 0;
    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      const files = readdirSync(DIRECTORY).filter((file) => file.startsWith('delivery.'));
      if (files.length !== 3) throw new Error(`need three definitions, found ${files.join()}`);
      await createDefinitions(
        api,
        files.map((file) => parse(readFileSync(`${DIRECTORY}/${file}`, 'utf8')) as object),
      );
    });
    afterAll(async () => {
      await api?.close();
      await plane?.stop();
    });

    const create = (resource: Resource, more: Members): ReturnType<ApiClient['request']> =>
      api.request({
        method: 'POST',
        path: `${ROOT}/${resource}?fieldValidation=Strict`,
        body: {
          apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
          kind: KINDS[resource].kind,
          metadata: { name: `x-${count++}` },
          spec: { ...KINDS[resource].spec, ...more },
        },
      });

    describe('take', () => {
      it.each(TAKEN)('%s: %s', async (resource, _what, more) => {
        const { status, body } = await create(resource, more);
        expect([status, body['message']]).toEqual([201, undefined]);
      });
    });

    describe('refuse', () => {
      it.each(REFUSED)('%s: %s', async (resource, _what, more) => {
        expect((await create(resource, more)).status).toBe(422);
      });
    });

    it('give a Stage its defaults, and a status that says in progress', async () => {
      const { body } = await create('stages', {});
      expect(body['spec']).toMatchObject({
        gate: {
          mode: 'Enforce',
          scope: 'Pointer',
          target: 'AllowCures',
          onUnknown: 'Wait',
          maxVerdictAge: '15m',
        },
        approvals: { separationOfDuties: 'Requester', validFor: '24h', onVerdictChange: 'Invalidate' },
        verification: { soak: '10m', deadline: '30m' },
        recording: 'Required',
        historyLimit: 20,
        suspend: false,
      });
      const stored = await api.demand({ method: 'GET', path: `${ROOT}/stages/${body.metadata?.name ?? ''}` });
      expect(stored['status']).toMatchObject({
        conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Pending' }],
      });
    });

    it('let everything change, since what must not is refused by the webhook', async () => {
      const { body } = await create('operations', {});
      const changed = await api.request({
        method: 'PUT',
        path: `${ROOT}/operations/${body.metadata?.name ?? ''}`,
        body: { ...body, spec: { ...OPERATION, digest: `sha256:${'b'.repeat(64)}` } },
      });
      expect(changed.status).toBe(200);
    });
  });
}
