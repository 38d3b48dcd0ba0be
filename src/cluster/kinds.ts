/** The kinds that this program reads or writes; the RBAC it asks for is generated from the same names. */

export interface Kind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural, as in the URL. */
  readonly resource: string;
  readonly namespaced: boolean;
}

export const POD: Kind = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true };
export const NODE: Kind = { group: '', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false };
export const NAMESPACE: Kind = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
};
export const SERVICE_ACCOUNT: Kind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  namespaced: true,
};
export const CONFIG_MAP: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
};
export const DAEMON_SET: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  namespaced: true,
};
export const LEASE: Kind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
};
export const NODE_RUNTIME_OBSERVATION: Kind = {
  group: 'pacto.trianalab.io',
  version: 'v1alpha1',
  kind: 'NodeRuntimeObservation',
  resource: 'noderuntimeobservations',
  namespaced: true,
};

const ADMISSION_GROUP = 'admissionregistration.k8s.io';
/** Our own kinds (design decision 27). */
export const GATE_GROUP = 'gate.pacto.trianalab.io';

const policyKind = (group: string): Kind => ({
  group,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  namespaced: false,
});
const policyBindingKind = (group: string): Kind => ({
  group,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
  namespaced: false,
});
export const NATIVE_POLICY: Kind = policyKind(ADMISSION_GROUP);
export const NATIVE_POLICY_BINDING: Kind = policyBindingKind(ADMISSION_GROUP);
export const GATE_POLICY: Kind = policyKind(GATE_GROUP);
export const GATE_POLICY_BINDING: Kind = policyBindingKind(GATE_GROUP);
export const VALIDATING_WEBHOOK_CONFIGURATION: Kind = {
  group: ADMISSION_GROUP,
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  namespaced: false,
};
export const MUTATING_WEBHOOK_CONFIGURATION: Kind = {
  group: ADMISSION_GROUP,
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  namespaced: false,
};

/** `v1` or `apps/v1`, as in an object's `apiVersion`. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}
