/** Entries of one policy, with an input in which only what a test is about is said. */
import type { ValidatingEntry } from '../../../src/policies/entry.ts';
import {
  policyEntries,
  type PolicyEntriesInput,
  type PolicyReach,
  type ServedResource,
} from '../../../src/policies/vap/entries.ts';
import type { MatchResources, Policy } from '../../../src/policies/vap/types.ts';
import { binding, matchResources, policy, rule } from './support.ts';

export const EXCLUDED = ['kube-system', 'kube-public', 'kube-node-lease'];
export const EVERYTHING = rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] });

export const served: readonly ServedResource[] = [
  ['', 'v1', 'configmaps', true],
  ['', 'v1', 'events', true],
  ['', 'v1', 'namespaces', false],
  ['', 'v1', 'namespaces/finalize', false],
  ['', 'v1', 'nodes', false],
  ['', 'v1', 'nodes/status', false],
  ['', 'v1', 'pods', true],
  ['', 'v1', 'pods/log', true],
  ['', 'v1', 'pods/status', true],
  ['apps', 'v1', 'deployments', true],
  ['apps', 'v1', 'deployments/scale', true],
  ['authorization.k8s.io', 'v1', 'subjectaccessreviews', false],
  ['coordination.k8s.io', 'v1', 'leases', true],
  ['events.k8s.io', 'v1', 'events', true],
  ['certificates.k8s.io', 'v1', 'certificatesigningrequests', false],
  ['certificates.k8s.io', 'v1alpha1', 'clustertrustbundles', false],
  ['admissionregistration.k8s.io', 'v1', 'validatingwebhookconfigurations', false],
  ['gate.pacto.trianalab.io', 'v1', 'validatingadmissionpolicies', false],
].map(
  ([group, version, resource, namespaced]) => ({ group, version, resource, namespaced }) as ServedResource,
);

export function input(
  policies: readonly Policy[],
  change: Partial<PolicyEntriesInput> = {},
): PolicyEntriesInput {
  return {
    policies,
    bindings: policies.map(({ name }) => binding({ name: `${name}-b`, policyName: name })),
    ownNamespace: 'pacto-system',
    excludedNamespaces: EXCLUDED,
    target: { service: { namespace: 'pacto-system', name: 'pacto-gate', port: 443 } },
    timeoutSeconds: 10,
    writers: false,
    ...change,
  };
}

export interface One {
  readonly entry: ValidatingEntry | undefined;
  readonly reach: PolicyReach | undefined;
  readonly notes: readonly string[];
}

export function entryOf(
  match: Partial<MatchResources>,
  change: Partial<PolicyEntriesInput> = {},
  of: Partial<Policy> = {},
): One {
  const { configuration, reach, notes } = policyEntries(
    input([policy({ matchConstraints: matchResources(match), ...of })], change),
  );
  return { entry: configuration.webhooks[0], reach: reach[0], notes };
}
