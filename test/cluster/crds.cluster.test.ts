/** The CustomResourceDefinitions of manifests/crds on real API servers: they take what the native kinds take. */
import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJson } from '../../src/json.ts';
import { policyStatus } from '../../src/policies/vap/policy-status.ts';
import { createApiClient, type ApiAnswer, type ApiBody, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';

const GROUP = 'gate.pacto.trianalab.io';
const ROOT = `/apis/${GROUP}/v1`;
const GOLDEN = 'test/golden/vap';

interface Written {
  readonly kind: string;
  readonly metadata: object;
  readonly spec?: object;
}

interface Case {
  readonly id: string;
  readonly policies?: readonly Written[];
  readonly bindings?: readonly Written[];
  readonly object?: Written;
  readonly answer?: { readonly accepted?: boolean; readonly defaulted?: unknown };
}

function recorded(): readonly { readonly family: string; readonly cases: readonly Case[] }[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith('.json'))
    .map((file) => readJson(readFileSync(`${GOLDEN}/${file}`)) as { family: string; cases: readonly Case[] });
}

/** The group is changed and nothing else. */
function ours(object: Written): object {
  return { ...object, apiVersion: `${GROUP}/v1` };
}

function pathOf({ kind }: Pick<Written, 'kind'>): string {
  const plural = kind.endsWith('Binding')
    ? 'validatingadmissionpolicybindings'
    : 'validatingadmissionpolicies';
  return `${ROOT}/${plural}`;
}

const SPEC = {
  matchConstraints: {
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
    ],
  },
  validations: [{ expression: 'true' }],
};

const policyWith = (spec: object): Written => ({
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'tried' },
  spec: { ...SPEC, ...spec },
});
const bindingWith = (spec: object): Written => ({
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'tried' },
  spec: { policyName: 'tried', validationActions: ['Deny'], ...spec },
});
const rule = (change: object): object => ({
  matchConstraints: { resourceRules: [{ ...SPEC.matchConstraints.resourceRules[0], ...change }] },
});
const items = (count: number, make: (index: number) => object): readonly object[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** What no schema may let through, with a word of the refusal. */
const REFUSED: readonly (readonly [string, Written, string])[] = [
  ['a policy without match constraints', policyWith({ matchConstraints: null }), 'matchConstraints'],
  ['no rule', policyWith({ matchConstraints: { resourceRules: [] } }), 'resourceRules'],
  ['a rule without operations', policyWith(rule({ operations: [] })), 'operations'],
  ['an unknown operation', policyWith(rule({ operations: ['create'] })), 'operations'],
  ['an unknown scope', policyWith(rule({ scope: 'All' })), 'scope'],
  ['neither validations nor annotations', policyWith({ validations: [] }), 'at least one item'],
  ['an unknown failure policy', policyWith({ failurePolicy: 'Deny' }), 'failurePolicy'],
  [
    'a reason that the API server refuses',
    policyWith({ validations: [{ expression: 'true', reason: 'Unauthorized' }] }),
    'reason',
  ],
  ['a validation without expression', policyWith({ validations: [{ message: 'no' }] }), 'expression'],
  [
    '65 match conditions',
    policyWith({ matchConditions: items(65, (n) => ({ name: `c${String(n)}`, expression: 'true' })) }),
    'matchConditions',
  ],
  [
    '21 audit annotations',
    policyWith({ auditAnnotations: items(21, (n) => ({ key: `k${String(n)}`, valueExpression: "'a'" })) }),
    'auditAnnotations',
  ],
  [
    'two match conditions of one name',
    policyWith({ matchConditions: items(2, () => ({ name: 'c', expression: 'true' })) }),
    'Duplicate value',
  ],
  [
    'two annotations of one key',
    policyWith({ auditAnnotations: items(2, () => ({ key: 'k', valueExpression: "'a'" })) }),
    'Duplicate value',
  ],
  ['an expression that is a number', policyWith({ validations: [{ expression: 1 }] }), 'expression'],
  ['a binding of nothing', bindingWith({ policyName: '' }), 'policyName'],
  ['a binding that does nothing', bindingWith({ validationActions: [] }), 'validationActions'],
  ['Deny twice', bindingWith({ validationActions: ['Deny', 'Deny'] }), 'Duplicate value'],
  ['Deny with Warn', bindingWith({ validationActions: ['Deny', 'Warn'] }), 'may not be used together'],
  ['an unknown action', bindingWith({ validationActions: ['Block'] }), 'validationActions'],
  [
    'a parameter by name and selector',
    bindingWith({ paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } }),
    'exactly one of',
  ],
  [
    'a parameter by neither',
    bindingWith({ paramRef: { parameterNotFoundAction: 'Deny' } }),
    'exactly one of',
  ],
  [
    'a parameter without an action for its absence',
    bindingWith({ paramRef: { name: 'a' } }),
    'parameterNotFoundAction',
  ],
];

for (const version of ['1.36', '1.29'] satisfies readonly KubernetesVersion[]) {
  clusterSuite(`our definitions on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      await applyPolicyDefinitions(plane, api);
    });
    afterAll(async () => {
      await api?.close();
      await plane?.stop();
    });

    const tried = (object: Written): Promise<ApiAnswer> =>
      api.request({ method: 'POST', path: `${pathOf(object)}?dryRun=All`, body: ours(object) });

    it('take every policy and binding that the native kinds take, with the same defaults', async () => {
      const refused: string[] = [];
      let taken = 0;
      const take = async (id: string, object: Written, defaulted?: unknown): Promise<void> => {
        const { status, body } = await tried(object);
        if (status === 201) taken++;
        else refused.push(`${id}: ${body.message ?? String(status)}`);
        if (status === 201 && defaulted !== undefined && !isDeepStrictEqual(body['spec'], defaulted))
          refused.push(`${id}: ${JSON.stringify(body['spec'])}`);
      };
      for (const { family, cases } of recorded()) {
        // What was stored without validation no API server takes.
        if (family === 'stored') continue;
        for (const { id, policies = [], bindings = [], object, answer } of cases) {
          for (const one of [...policies, ...bindings]) await take(`${family} ${id}`, one);
          if (object !== undefined && answer?.accepted === true)
            await take(`${family} ${id}`, object, answer.defaulted);
        }
      }
      expect(refused).toEqual([]);
      expect(taken).toBeGreaterThan(500);
    });

    it.each(REFUSED)('refuse %s', async (_title, object, word) => {
      const { status, body } = await tried(object);
      expect([status, body.reason]).toEqual([422, 'Invalid']);
      expect(body.message).toContain(word);
    });

    describe('status', () => {
      const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
      const CONDITIONS = { compileErrors: [{ field: 'spec.validations[0].expression', error: 'no' }] };

      it('is taken as it is made, shown, and then the same', async () => {
        const made = await api.demand({
          method: 'POST',
          path: pathOf({ kind: 'ValidatingAdmissionPolicy' }),
          body: { ...ours(policyWith({ paramKind })), status: { enforcedBy: 'Native' } },
        });
        expect(made['status']).toBeUndefined();
        const facts = {
          ...CONDITIONS,
          generation: 1,
          typeWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: '/v1, Kind=ConfigMap: no' }],
          notEnforced: ['Nodes are left out'],
          enforcedBy: 'Webhook',
          entry: 'tried.policies.gate.pacto.trianalab.io',
          now: '2026-01-01T00:00:00Z',
        } as const;
        const path = `${pathOf({ kind: 'ValidatingAdmissionPolicy' })}/tried`;
        const stored: ApiBody = await api.demand({
          method: 'PUT',
          path: `${path}/status`,
          body: { ...made, status: policyStatus(facts) },
        });
        const previous = stored['status'];
        expect(previous).toEqual(policyStatus(facts));
        expect(policyStatus({ ...facts, previous, now: '2026-01-02T00:00:00Z' })).toBe(previous);
        const { stdout } = await plane.kubectl(['get', 'gvap', '-o', 'wide', '--no-headers']);
        expect(stdout.trim().split(/\s+/).slice(0, 6)).toEqual([
          'tried',
          'Fail',
          'ConfigMap',
          'Webhook',
          'False',
          'tried.policies.gate.pacto.trianalab.io',
        ]);
      });

      it('is taken at its largest', async () => {
        const path = `${pathOf({ kind: 'ValidatingAdmissionPolicy' })}/tried`;
        const made = await api.demand({ method: 'GET', path });
        const long = 'x'.repeat(10_000);
        const status = policyStatus({
          generation: 2,
          compileErrors: items(200, () => ({ field: 'f', error: long })) as {
            field: string;
            error: string;
          }[],
          typeWarnings: [],
          notEnforced: items(200, () => ({})).map(() => long),
          enforcedBy: 'None',
          faults: [long],
          now: '2026-01-01T00:00:00Z',
        });
        const stored = await api.demand({
          method: 'PUT',
          path: `${path}/status`,
          body: { ...made, status },
        });
        expect(stored['status']).toMatchObject({ enforcedBy: 'None', observedGeneration: 2 });
      });
    });
  });
}
