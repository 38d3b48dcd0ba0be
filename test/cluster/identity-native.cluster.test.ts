/** The native policies of manifests/policies, held to the one table of identity cases; no webhook is there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { IdentityCase } from '../policies/identity/case.ts';
import { CASES } from '../policies/identity/cases.ts';
import { AGENT_ACCOUNT, AGENT_NAMESPACE } from '../support/builders.ts';
import { agentPodObject, DAEMON_SET_CONTROLLER, installAgents, PODS } from './support/agents.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import { nativePolicy, sendCase } from './support/send-case.ts';

const FILES = ['node-identity', 'node-identity-tokens', 'node-identity-pods'];
const POLICY_OF = { 'node-identity': FILES[0], tokens: FILES[1], pods: FILES[2] };
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

type Strictness = 'requirePodClaims' | 'requireNodeUid';

interface Policy extends KubeObject {
  readonly spec: { readonly variables: readonly { readonly name: string; readonly expression: string }[] };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly unknown[] };
  };
}

/** What the table says that a native policy can tell, for these settings. */
function casesFor(strictness: Strictness | undefined): readonly IdentityCase[] {
  return CASES.filter(({ webhookOnly, unitOnly, settings = {} }) => {
    if (webhookOnly !== undefined || unitOnly !== undefined) return false;
    const [only, ...more] = Object.keys(settings);
    expect(more).toEqual([]);
    return only === strictness;
  });
}

clusterSuite('native node identity', { versions: ['1.36'] }, () => {
  let plane: ControlPlane;
  let api: ApiClient;

  beforeAll(async () => {
    plane = await startControlPlane({ version: '1.36' });
    api = createApiClient(plane);
    await installAgents(plane, api, ['node-a', 'node-b']);
    await plane.apply([
      // Every user of the table comes as far as admission.
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'everybody' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
      },
      ...[
        { name: 'default', namespace: AGENT_NAMESPACE },
        { name: AGENT_ACCOUNT, namespace: 'default' },
      ].map((metadata) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })),
    ]);
    for (const file of FILES) await plane.apply(nativePolicy(file));
    await untilEnforced();
  });
  afterAll(async () => {
    await api?.close();
    await plane?.stop();
  });

  /** One denial of each file, without a trace; all three have to act before a case may count. */
  async function untilEnforced(): Promise<void> {
    const probes = FILES.map((_file, index) => {
      const webhook = Object.keys(POLICY_OF)[index];
      const probe = casesFor(undefined).find((one) => one.webhook === webhook && one.codes.length > 0);
      if (probe === undefined) throw new TypeError(`no denial of ${webhook} in the table`);
      return probe;
    });
    for (const probe of probes) await untilDenied(probe);
  }
  async function untilDenied(probe: IdentityCase): Promise<void> {
    await pollUntil(`a policy that ${probe.name}`, 30_000, async () => {
      const { status } = await sendCase(api, probe);
      return status === 403 ? true : undefined;
    });
  }
  async function setVariable(name: string, expression: string): Promise<void> {
    const [policy] = nativePolicy('node-identity') as Policy[];
    const variables = policy?.spec.variables.map((one) => (one.name === name ? { name, expression } : one));
    await api.demand({
      method: 'PATCH',
      path: `${POLICIES}/${policy?.metadata.name}`,
      contentType: 'application/merge-patch+json',
      body: { spec: { variables } },
    });
  }

  /** A denial counts where the policy of the case says so, with the code of its first validation that failed. */
  async function answerTo(one: IdentityCase): Promise<{ verdict: string; code: string }> {
    const { status, body } = await sendCase(api, one);
    const message = body.message ?? '';
    const policy = `${POLICY_OF[one.webhook]}.gate.pacto.trianalab.io`;
    const denial = `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: `;
    const isDenied = status === 403 && message.includes(denial);
    return {
      verdict: status < 300 ? 'allowed' : isDenied ? 'denied' : `${status} ${message}`,
      code: one.codes.some((code) => message.endsWith(` [${code}]`)) ? 'of the table' : message,
    };
  }
  function answerOfTable({ codes }: IdentityCase): unknown {
    return codes.length === 0
      ? { verdict: 'allowed', code: '' }
      : { verdict: 'denied', code: 'of the table' };
  }

  describe('as shipped', () => {
    it.each(casesFor(undefined).map((one) => [one.name, one] as const))('%s', async (_name, one) => {
      expect(await answerTo(one)).toEqual(answerOfTable(one));
    });
  });

  describe.each(['requirePodClaims', 'requireNodeUid'] as const)('with %s', (strictness) => {
    const cases = casesFor(strictness);
    beforeAll(async () => {
      await setVariable(strictness, 'true');
      const probe = cases.find(({ codes }) => codes.length > 0);
      if (probe === undefined) throw new TypeError(`no denial by ${strictness} in the table`);
      await untilDenied(probe);
    });
    afterAll(() => setVariable(strictness, 'false'));

    it.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
      expect(await answerTo(one)).toEqual(answerOfTable(one));
    });
  });

  it('leaves nothing of the table out without a reason', () => {
    const sent = [undefined, 'requirePodClaims', 'requireNodeUid'] as const;
    const count = sent.reduce((sum, strictness) => sum + casesFor(strictness).length, 0);
    const left = CASES.filter(
      ({ webhookOnly, unitOnly }) => webhookOnly !== undefined || unitOnly !== undefined,
    );
    expect(count + left.length).toBe(CASES.length);
    expect(count).toBeGreaterThan(left.length);
  });

  it('knows the DaemonSet by name only: NI08 allows another uid', async () => {
    const daemonSetUid = '00000000-0000-4000-8000-000000000000';
    const body = agentPodObject('agent-x', { daemonSetUid });
    const path = `${PODS}?dryRun=All`;
    expect((await api.request({ method: 'POST', path, as: DAEMON_SET_CONTROLLER, body })).status).toBe(201);
  });
});

clusterSuite('type check of the native policies', { versions: ['1.36'], controllerManager: true }, () => {
  let plane: ControlPlane;
  let api: ApiClient;

  beforeAll(async () => {
    plane = await startControlPlane({ version: '1.36', controllerManager: true });
    api = createApiClient(plane);
    await installAgents(plane, api, []);
  });
  afterAll(async () => {
    await api?.close();
    await plane?.stop();
  });

  async function warningsOf(name: string): Promise<readonly unknown[]> {
    return pollUntil(`the type check of ${name}`, 60_000, async () => {
      const { metadata, status } = (await api.demand({
        method: 'GET',
        path: `${POLICIES}/${name}`,
      })) as unknown as Policy;
      if (status?.observedGeneration !== (metadata as { generation?: number }).generation) return undefined;
      return status?.typeChecking?.expressionWarnings ?? [];
    });
  }

  it.each(FILES)('has nothing to say about manifests/policies/%s.yaml, nor has kubectl', async (file) => {
    const applied = await plane.kubectl(['apply', '-f', `${process.cwd()}/manifests/policies/${file}.yaml`]);
    expect(applied.stderr).toBe('');
    expect(applied.stdout.trim().split('\n')).toHaveLength(2);
    expect(await warningsOf(`${file}.gate.pacto.trianalab.io`)).toEqual([]);
  });

  it('warns of a field that is not there, so that silence means something', async () => {
    const [policy] = nativePolicy('node-identity') as Policy[];
    const validations = [{ expression: 'object.spec.noSuchField == 1' }];
    const metadata = { name: 'mistaken.gate.pacto.trianalab.io' };
    await plane.apply({ ...policy, metadata, spec: { ...policy?.spec, variables: [], validations } });
    expect(await warningsOf(metadata.name)).not.toEqual([]);
  });
});
