/** Our server follows policies of a real API server, with and without watches. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { bindingObject, configMapObject, policyObject, REVIEW, yamlOf } from '../app/policy-support.ts';
import { ask } from '../support/http-client.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { GATE_NAMESPACE, startGate, type Gate } from './support/gate.ts';
import { pollUntil } from './support/polling.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';

const SHOP: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'gate.pacto.trianalab.io';

for (const { version, state } of [
  { version: '1.36', state: 'cached' },
  { version: '1.29', state: 'cached' },
  { version: '1.29', state: 'live' },
] as const) {
  clusterSuite(`policies followed on ${version}, ${state}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let gate: Gate;
    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      await plane.apply(SHOP);
      // The kinds come while the server waits for them.
      const starting = startGate({
        plane,
        flags: [
          `--state=${state}`,
          '--identity-enabled=false',
          '--policies-sources=customResources,configMaps',
          `--policies-namespaces=${GATE_NAMESPACE}`,
        ],
      });
      await applyPolicyDefinitions(plane, api);
      gate = await starting;
    });
    afterAll(async () => {
      await gate?.stop();
      await api?.close();
      await plane?.stop();
    });

    async function answerOf(policy: string): Promise<string> {
      const answer = await ask(`${gate.url}/validate/policies/${policy}?timeout=10s`, {
        ca: gate.authority.certificate,
        body: REVIEW,
      });
      if (answer.status !== 200) return String(answer.status);
      return (answer.json() as { response: { allowed: boolean } }).response.allowed ? 'allowed' : 'denied';
    }
    /** Without watches a change is seen by the first request after 30 s. */
    async function becomes(policy: string, wanted: string): Promise<void> {
      await pollUntil(`${policy} is ${wanted}`, 60_000, async () =>
        (await answerOf(policy)) === wanted ? true : undefined,
      );
    }

    it('takes what is written', async () => {
      await plane.apply([
        policyObject('a'),
        bindingObject('a'),
        configMapObject('m', { 'b.yaml': yamlOf(policyObject('b'), bindingObject('b')) }),
      ]);
      await becomes('a', 'denied');
      expect(await answerOf('b')).toBe('denied');
    });
    // Each change takes half a minute to be seen without watches.
    if (state === 'live') return;

    it('takes what it is changed to', async () => {
      await plane.apply([
        policyObject('a', { expression: 'true' }),
        configMapObject('m', {
          'b.yaml': yamlOf(policyObject('b', { expression: 'true' }), bindingObject('b')),
        }),
      ]);
      await becomes('a', 'allowed');
      await becomes('b', 'allowed');
      expect(gate.log().filter(({ level }) => level === 'error')).toEqual([]);
    });

    it('keeps the last good policies of a ConfigMap that breaks, and lets go of one without the label', async () => {
      await plane.apply(configMapObject('m', { 'b.yaml': 'b: [', 'c.yaml': yamlOf(policyObject('c')) }));
      await becomes('c', 'allowed');
      expect(await answerOf('b')).toBe('allowed');
      await plane.kubectl(['label', 'configmap', 'm', '-n', GATE_NAMESPACE, `${GROUP}/policies-`]);
      await becomes('c', '503');
      expect(await answerOf('b')).toBe('503');
    });

    it('lets go of what is deleted, and of everything when the kinds are', async () => {
      await plane.apply([policyObject('d'), bindingObject('d')]);
      await becomes('d', 'denied');
      await plane.kubectl(['delete', `validatingadmissionpolicies.${GROUP}`, 'd']);
      await becomes('d', '503');
      expect(await answerOf('a')).toBe('allowed');
      for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'])
        await api.demand({ method: 'DELETE', path: `${DEFINITIONS}/${resource}.${GROUP}` });
      await becomes('a', '503');
      await applyPolicyDefinitions(plane, api);
      await plane.apply([policyObject('e'), bindingObject('e')]);
      await becomes('e', 'denied');
    });
  });
}
