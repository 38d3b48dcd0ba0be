/**
 * Native policies of the gate's own that would refuse their own removal. They wait for no server. The installer leaves
 * the kinds and namespaces of the gate out of what it writes (native-form.ts); what `generate policies` writes, and what
 * somebody changed, has the reach that its rules name.
 */
import { NAMESPACE_NAME_LABEL } from '../../policies/entry.ts';
import { NATIVE_POLICY_BINDING } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { Cel } from '../../policies/cel/cel.ts';
import type { Labels } from '../../policies/vap/label-selector.ts';
import type { Evidence } from '../../policies/vap/needs.ts';
import { policyObjectsOf } from '../../policies/vap/policy-objects.ts';
import { createPolicySet } from '../../policies/vap/policy-set.ts';
import { evaluate } from '../../policies/vap/vap.ts';
import type { LiveCluster } from './live-cluster.ts';
import { MANAGED_SELECTOR } from '../names.ts';
import { finding, type Finding } from './preflight-finding.ts';
import type { RecoveryStep } from './recovery-step.ts';

/** Default of `policies.compatibilityVersion`: what a policy may say differs little by release, and its match not at all. */
const MINOR = 36;

/** @param policies native ones of the gate's own, as they are in the cluster. */
export async function checkNatives(
  live: LiveCluster,
  policies: readonly KubeObject[],
  steps: readonly RecoveryStep[],
  namespaces: ReadonlyMap<string, Labels>,
): Promise<readonly Finding[]> {
  if (policies.length === 0) return [];
  const bindings = await live.list(NATIVE_POLICY_BINDING, { labelSelector: MANAGED_SELECTOR });
  if (bindings === undefined) return [];
  const read = policyObjectsOf([...policies, ...bindings]);
  const set = createPolicySet({
    cel: new Cel(),
    minor: MINOR,
    policies: read.policies,
    bindings: read.bindings,
  });
  const removals = steps.filter(({ group, need }) => group === 'cure' && need === 'necessary');
  const known = knownOf(namespaces);
  return set.bound.flatMap(({ compiled, bindings: own }) => {
    const { name } = compiled.policy;
    const refused = removals.filter(({ request }) => {
      const outcome = evaluate(set, request, known, { policy: name });
      return 'status' in outcome && outcome.status !== undefined;
    });
    return refused.length === 0
      ? []
      : [
          lockFinding(
            name,
            own.map((binding) => binding.name),
            refused,
          ),
        ];
  });
}

/** Parameters and the authorizer are left to the API server: a policy that asks for them is not judged. */
function knownOf(namespaces: ReadonlyMap<string, Labels>): Evidence {
  return {
    namespace: (name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: namespaces.get(name) ?? { [NAMESPACE_NAME_LABEL]: name } },
    }),
    paramKind: () => undefined,
    params: () => undefined,
    authorize: () => undefined,
    conversion: () => undefined,
  };
}

/** @param bindings at least one: without, a policy refuses nothing. */
function lockFinding(name: string, bindings: readonly string[], refused: readonly RecoveryStep[]): Finding {
  return finding(
    'PREFLIGHT_NATIVE_LOCK',
    `ValidatingAdmissionPolicy ${name}`,
    `refuses ${refused.map(({ id }) => id).join(', ')}`,
    'whoever wants to take the policy away is refused by the policy itself',
    `let the installer write it anew, or put gate.pacto.trianalab.io and ConfigMaps with policies into its excludeResourceRules; in an outage: kubectl delete ${NATIVE_POLICY_BINDING.resource}.${NATIVE_POLICY_BINDING.group} ${bindings.join(' ')}, which is always possible, and at once what the policy comes from`,
  );
}
