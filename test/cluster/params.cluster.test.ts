/** Parameters and the authorizer's answers of a real API server, as our server reads them with its own rights. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/http-client.ts';
import { aBinding, aPolicy, aReview, responseIn, type PolicyResponse } from '../webhooks/policy-webhook.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { startGate, type Gate } from './support/gate.ts';
import { pollUntil } from './support/polling.ts';

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'limits.x.example.com' },
  spec: {
    group: 'x.example.com',
    scope: 'Cluster',
    names: { kind: 'Limit', plural: 'limits', singular: 'limit' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { most: { type: 'integer', format: 'int64' } } },
            },
          },
        },
      },
    ],
  },
};

const map = (name: string, most: number, labels: object, namespace = 'rules'): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
  data: { most: String(most) },
});
const namespace = (name: string, labels: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
/** As text: JSON.stringify knows no integers beyond 2^53. */
const limit = (name: string, most: string): string =>
  `{"apiVersion":"x.example.com/v1","kind":"Limit","metadata":{"name":"${name}","labels":{"used":"yes"}},"spec":{"most":${most}}}`;

const MAPS = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
const messageExpression = "params.metadata.name + ' allows ' + params.data.most";
const atMost = { expression: 'int(object.data.size) <= int(params.data.most)', messageExpression };
const POLICIES = [
  aPolicy('selected', { ...MAPS, validations: [atMost] }),
  aBinding('selected', {
    paramRef: {
      namespace: 'rules',
      parameterNotFoundAction: 'Deny',
      selector: {
        matchLabels: { used: 'yes' },
        matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['', 'old'] }],
      },
    },
  }),
  aPolicy('own', { ...MAPS, validations: [atMost] }),
  aBinding('own', { paramRef: { name: 'own', parameterNotFoundAction: 'Deny' } }),
  aPolicy('exact', {
    paramKind: { apiVersion: 'x.example.com/v1', kind: 'Limit' },
    validations: [
      {
        expression: 'params.spec.most == 9007199254740993',
        messageExpression: "'found ' + string(params.spec.most)",
      },
    ],
  }),
  aBinding('exact', {
    paramRef: { selector: { matchLabels: { used: 'yes' } }, parameterNotFoundAction: 'Deny' },
  }),
  aPolicy('namespaced', { validations: [{ expression: "namespaceObject.metadata.labels.env == 'prod'" }] }),
  aBinding('namespaced'),
  aPolicy('authorized', {
    validations: [
      { expression: "authorizer.group('').resource('secrets').namespace('shop').check('get').allowed()" },
    ],
  }),
  aBinding('authorized'),
];

clusterSuite('what policies look up on 1.29', { versions: ['1.29'] }, () => {
  let plane: ControlPlane;
  const directory = mkdtempSync(join(tmpdir(), 'pacto-gate-params-'));
  const file = join(directory, 'policies.json');

  beforeAll(async () => {
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: POLICIES }));
    plane = await startControlPlane({ version: '1.29' });
    await plane.apply([
      DEFINITION,
      namespace('rules'),
      namespace('shop', { env: 'prod' }),
      namespace('test', { env: 'test' }),
    ]);
    await plane.apply([
      map('low', 5, { used: 'yes', tier: 'new' }),
      map('high', 20, { used: 'yes' }),
      map('old', 1, { used: 'yes', tier: 'old' }),
      map('unused', 1, { used: 'no' }),
      map('own', 7, {}, 'shop'),
    ]);
    await pollUntil('the kind of limits to be served', 30_000, async () => {
      const { code } = await plane.kubectl(['get', 'limits']);
      return code === 0 ? true : undefined;
    });
    await apply(limit('big', '9007199254740993'));
  });
  afterAll(async () => {
    await plane?.stop();
    rmSync(directory, { recursive: true });
  });

  async function apply(text: string): Promise<void> {
    const applied = await plane.kubectl(['apply', '-f', '-'], { stdin: text });
    expect(applied.stderr).toBe('');
  }

  describe.each(['cached', 'live'])('with state %s', (state) => {
    let gate: Gate;

    beforeAll(async () => {
      const flags = [
        `--policies-files=${file}`,
        '--policies-param-kinds=v1/ConfigMap,x.example.com/v1/Limit:limits:Cluster',
        `--state=${state}`,
        '--identity-enabled=false',
      ];
      gate = await startGate({ plane, flags });
    });
    afterAll(() => gate?.stop());

    async function answer(policy: string, request: object = {}): Promise<PolicyResponse> {
      const { text } = await ask(`${gate.url}/validate/policies/${policy}?timeout=10s`, {
        ca: gate.authority.certificate,
        body: aReview(request),
      });
      return responseIn(text);
    }
    const sized = (size: number): object => ({
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'shop' },
        data: { size: String(size) },
      },
    });

    it('denies by each of the parameters that labels select', async () => {
      expect(await answer('selected', sized(5))).toMatchObject({ allowed: true });
      expect((await answer('selected', sized(6))).status?.message).toContain('low allows 5');
      expect((await answer('selected', sized(21))).status?.message).toContain('high allows 20');
    });

    it('denies by the parameter of a name in the namespace of the request', async () => {
      expect(await answer('own', sized(7))).toMatchObject({ allowed: true });
      expect((await answer('own', sized(8))).status?.message).toContain('own allows 7');
      const elsewhere = await answer('own', { namespace: 'test', ...sized(1) });
      expect(elsewhere.status?.message).toContain('no params found');
    });

    it('allows by numbers that no double holds, and sees a change', async () => {
      expect(await answer('exact')).toEqual({ uid: 'u-1', allowed: true });
      await apply(limit('other', '9007199254740992'));
      const denied = await pollUntil('the change to be seen', 20_000, async () => {
        const found = await answer('exact');
        return found.allowed ? undefined : found;
      });
      expect(denied.status?.message).toContain('found 9007199254740992');
      await plane.kubectl(['delete', 'limits', 'other']);
    });

    it('denies by the namespace of the request, and knows that one is gone', async () => {
      expect(await answer('namespaced')).toMatchObject({ allowed: true });
      expect(await answer('namespaced', { namespace: 'test' })).toMatchObject({
        allowed: false,
        status: { code: 422 },
      });
      expect(await answer('namespaced', { namespace: 'gone' })).toMatchObject({
        allowed: false,
        status: { code: 404, reason: 'NotFound', message: 'namespaces "gone" not found' },
      });
    });

    it('denies by what the user may do', async () => {
      const asked = (groups: readonly string[]): Promise<PolicyResponse> =>
        answer('authorized', { userInfo: { username: 'alice', groups } });
      expect(await asked(['system:masters'])).toMatchObject({ allowed: true });
      expect(await asked(['dev'])).toMatchObject({ allowed: false, status: { code: 422 } });
    });

    it('did all of that without a failure', () => {
      const loud = gate.log().filter(({ level }) => level === 'warn' || level === 'error');
      expect(loud).toEqual([]);
    });

    it('asked as often as it says', async () => {
      const { text } = await ask(gate.metricsUrl);
      const calls = [...text.matchAll(/^pacto_gate_live_calls_total\{call="(\w+)",outcome="(\w+)"\}/gm)];
      // Beside what watches have: a parameter, and a namespace, that are not there.
      const expected = state === 'live' ? ['access', 'get', 'list'] : ['access', 'get'];
      expect(calls.map(([, call = '']) => call).toSorted()).toEqual(expected);
      expect(new Set(calls.map(([, , outcome]) => outcome))).toEqual(new Set(['answered']));
    });
  });
});
