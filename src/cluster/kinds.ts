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
/** Upstream's own kinds (operator.md §1). */
export const PACTO_GROUP = 'pacto.trianalab.io';
export const NODE_RUNTIME_OBSERVATION: Kind = {
  group: PACTO_GROUP,
  version: 'v1alpha1',
  kind: 'NodeRuntimeObservation',
  resource: 'noderuntimeobservations',
  namespaced: true,
};

export const PACTO: Kind = {
  group: PACTO_GROUP,
  version: 'v1alpha1',
  kind: 'Pacto',
  resource: 'pactos',
  namespaced: true,
};
export const PACTO_REVISION: Kind = {
  group: PACTO_GROUP,
  version: 'v1alpha1',
  kind: 'PactoRevision',
  resource: 'pactorevisions',
  namespaced: true,
};
export const SERVICE: Kind = {
  group: '',
  version: 'v1',
  kind: 'Service',
  resource: 'services',
  namespaced: true,
};
export const SECRET: Kind = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
};
export const EVENT: Kind = { group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true };
export const ENDPOINT_SLICE: Kind = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  namespaced: true,
};
export const DEPLOYMENT: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
};
export const STATEFUL_SET: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  namespaced: true,
};
export const REPLICA_SET: Kind = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  namespaced: true,
};
export const JOB: Kind = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true };
export const CRON_JOB: Kind = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  resource: 'cronjobs',
  namespaced: true,
};
export const INGRESS: Kind = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  resource: 'ingresses',
  namespaced: true,
};
export const HTTP_ROUTE: Kind = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'HTTPRoute',
  resource: 'httproutes',
  namespaced: true,
};
export const SERVICE_MONITOR: Kind = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'ServiceMonitor',
  resource: 'servicemonitors',
  namespaced: true,
};
export const POD_MONITOR: Kind = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'PodMonitor',
  resource: 'podmonitors',
  namespaced: true,
};

/** Of delivery (delivery.md §3.0). */
const DELIVERY_GROUP = 'delivery.pacto.trianalab.io';
export const STAGE: Kind = {
  group: DELIVERY_GROUP,
  version: 'v1alpha1',
  kind: 'Stage',
  resource: 'stages',
  namespaced: true,
};
export const OPERATION: Kind = {
  group: DELIVERY_GROUP,
  version: 'v1alpha1',
  kind: 'Operation',
  resource: 'operations',
  namespaced: true,
};
export const APPROVAL: Kind = {
  group: DELIVERY_GROUP,
  version: 'v1alpha1',
  kind: 'Approval',
  resource: 'approvals',
  namespaced: true,
};
/** Flux's, which may be pointers of a Stage, their sources or their parents. */
export const OCI_REPOSITORY: Kind = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'OCIRepository',
  resource: 'ocirepositories',
  namespaced: true,
};
export const GIT_REPOSITORY: Kind = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'GitRepository',
  resource: 'gitrepositories',
  namespaced: true,
};
export const KUSTOMIZATION: Kind = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'Kustomization',
  resource: 'kustomizations',
  namespaced: true,
};
export const HELM_RELEASE: Kind = {
  group: 'helm.toolkit.fluxcd.io',
  version: 'v2',
  kind: 'HelmRelease',
  resource: 'helmreleases',
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
