/** The check of policy writers as the server puts it together: what it knows of policies, and whom it asks. */
import { afterEach, describe, expect, it } from 'vitest';
import { openPolicies } from '../../src/app/webhooks.ts';
import type { EnforcedPolicies } from '../../src/app/policies.ts';
import { createReader } from '../../src/cluster/cache.ts';
import type { AccessQuestion } from '../../src/cluster/cluster.ts';
import { CONFIG_MAP, GATE_POLICY } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import { silentLog } from '../../src/log.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { edgeOf, rawRequest } from '../webhooks/edge-parts.ts';
import { review } from '../webhooks/policy-writes.ts';
import {
  bindingObject,
  configMapObject,
  policyObject,
  settingsFor,
  yamlOf,
  type PolicySettings,
} from './policy-support.ts';

const PARAM_KINDS = ['v1/ConfigMap', 'rules.example.com/v1/Policy:policies'];
const OVER_MAPS = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
const OVER_POLICIES = { paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Policy' } };
const NAMED = { paramRef: { name: 'limits', namespace: 'shop', parameterNotFoundAction: 'Deny' } };

let opened: EnforcedPolicies | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

interface Answered {
  readonly code: number;
  readonly message: string;
  readonly asked: readonly AccessQuestion['resource'][];
}

interface Site {
  readonly cluster: MemoryCluster;
  readonly policies: EnforcedPolicies;
  /** What somebody without rights is told; code 0 where it is allowed. */
  write(object: KubeObject): Promise<Answered>;
}

async function open(
  settings: PolicySettings,
  prepare: (cluster: MemoryCluster) => void = () => undefined,
): Promise<Site> {
  const clock = new FakeClock();
  const cluster = createMemoryCluster({ clock });
  prepare(cluster);
  const asked: AccessQuestion['resource'][] = [];
  const policies = await openPolicies(settingsFor({ paramKinds: PARAM_KINDS, ...settings }), {
    clock,
    cluster,
    log: silentLog(),
    reviewAccess: (question) => {
      asked.push(question.resource);
      return Promise.resolve({ allowed: false, denied: false, reason: '' });
    },
  });
  if (policies === undefined) throw new Error('no policies');
  opened = policies;
  const reader = createReader({ mode: 'cached', cluster, reflectors: [], clock });
  return {
    cluster,
    policies,
    async write(object) {
      asked.length = 0;
      const webhooks = policies.writers === undefined ? [] : [policies.writers];
      const { edge } = edgeOf(webhooks, reader.forRequest());
      const { body } = await edge.answer(rawRequest('/validate/policy-writers', review({ object })));
      const { response } = JSON.parse(body) as {
        readonly response: { readonly status?: { readonly code: number; readonly message: string } };
      };
      return { code: response.status?.code ?? 0, message: response.status?.message ?? '', asked: [...asked] };
    },
  };
}

const synced = ({ policies }: Site): Promise<void> =>
  until('policies are known', () => policies.unsynced() === undefined);

describe('the check of policy writers', () => {
  it.each<[PolicySettings['sources'], boolean]>([
    [['customResources'], true],
    [['configMaps', 'customResources'], true],
    [['configMaps'], false],
  ])('is there for the sources %j: %s', async (sources, isThere) => {
    const { policies } = await open({ sources: sources ?? [] });
    expect(policies.writers !== undefined).toBe(isThere);
  });

  it('judges a binding by its stored policy, and by that of a ConfigMap where none is stored', async () => {
    const site = await open({}, (cluster) => {
      cluster.load(GATE_POLICY, policyObject('stored', { spec: OVER_MAPS }));
      const text = yamlOf(
        policyObject('stored', { spec: OVER_POLICIES }),
        policyObject('mapped', { spec: OVER_POLICIES }),
      );
      cluster.load(CONFIG_MAP, configMapObject('policies', { 'policies.yaml': text }));
    });
    await synced(site);
    const get = { verb: 'get', name: 'limits', namespace: 'shop', version: 'v1' };
    const judged = async (name: string): Promise<Answered['asked']> =>
      (await site.write(bindingObject(name, { spec: NAMED }))).asked;
    expect(await judged('stored')).toEqual([{ ...get, group: '', resource: 'configmaps' }]);
    expect(await judged('mapped')).toEqual([{ ...get, group: 'rules.example.com', resource: 'policies' }]);
    expect(await judged('absent')).toEqual([{ ...get, group: '*', version: '*', resource: '*' }]);
  });

  it('knows a policy as soon as it is stored, whatever the watch has seen', async () => {
    const site = await open({ sources: ['customResources'] });
    await synced(site);
    site.cluster.load(GATE_POLICY, policyObject('fresh', { spec: OVER_MAPS }));
    const { asked } = await site.write(bindingObject('fresh', { spec: NAMED }));
    expect(asked).toMatchObject([{ group: '', resource: 'configmaps' }]);
  });

  it('compiles what is new as the release before the one that is imitated', async () => {
    // The library is that of 1.34.
    const expression = "semver('1.0.0').isLessThan(semver('2.0.0'))";
    for (const [compatibilityVersion, code] of [
      ['1.36', 0],
      ['1.30', 422],
    ] as const) {
      const site = await open({ sources: ['customResources'], compatibilityVersion });
      expect((await site.write(policyObject('new', { expression }))).code).toBe(code);
      await site.policies.close();
    }
  });

  it('refuses by its failure policy while what is in force is not known', async () => {
    const failing = new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer');
    const site = await open({}, (cluster) => {
      cluster.refuseCalls(failing, ['list']);
    });
    const refused = await site.write(bindingObject('any', { spec: NAMED }));
    expect(refused).toMatchObject({ code: 500, asked: [] });
    // What needs no policy is decided all the same.
    expect((await site.write(policyObject('new'))).code).toBe(0);
  });
});
