/** The kinds that recovery needs; most of them no other part of the program knows. */
import type { Kind } from '../../cluster/kinds.ts';
import type { GroupVersionKind } from '../../cluster/objects.ts';

function namespaced(group: string, version: string, kind: string, resource: string): Kind {
  return { group, version, kind, resource, namespaced: true };
}

function clusterWide(group: string, version: string, kind: string, resource: string): Kind {
  return { group, version, kind, resource, namespaced: false };
}

export const SECRET = namespaced('', 'v1', 'Secret', 'secrets');
export const SERVICE = namespaced('', 'v1', 'Service', 'services');
export const ENDPOINTS = namespaced('', 'v1', 'Endpoints', 'endpoints');
export const CORE_EVENT = namespaced('', 'v1', 'Event', 'events');
export const EVENT = namespaced('events.k8s.io', 'v1', 'Event', 'events');
export const VOLUME_CLAIM = namespaced('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const VOLUME = clusterWide('', 'v1', 'PersistentVolume', 'persistentvolumes');
export const ENDPOINT_SLICE = namespaced('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices');
export const DEPLOYMENT = namespaced('apps', 'v1', 'Deployment', 'deployments');
export const REPLICA_SET = namespaced('apps', 'v1', 'ReplicaSet', 'replicasets');
export const NETWORK_POLICY = namespaced('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies');
export const SIGNING_REQUEST = clusterWide(
  'certificates.k8s.io',
  'v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
export const PRIORITY_CLASS = clusterWide('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses');
export const STORAGE_CLASS = clusterWide('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses');
export const VOLUME_ATTACHMENT = clusterWide('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments');
export const CSI_NODE = clusterWide('storage.k8s.io', 'v1', 'CSINode', 'csinodes');
export const API_SERVICE = clusterWide('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices');
export const DEFINITION = clusterWide(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);

const RBAC = 'rbac.authorization.k8s.io';
export const CLUSTER_ROLE = clusterWide(RBAC, 'v1', 'ClusterRole', 'clusterroles');
export const CLUSTER_ROLE_BINDING = clusterWide(RBAC, 'v1', 'ClusterRoleBinding', 'clusterrolebindings');
export const ROLE = namespaced(RBAC, 'v1', 'Role', 'roles');
export const ROLE_BINDING = namespaced(RBAC, 'v1', 'RoleBinding', 'rolebindings');

const ACCESS = 'authorization.k8s.io';
export const ACCESS_REVIEW = clusterWide(ACCESS, 'v1', 'SubjectAccessReview', 'subjectaccessreviews');
export const LOCAL_ACCESS_REVIEW = namespaced(
  ACCESS,
  'v1',
  'LocalSubjectAccessReview',
  'localsubjectaccessreviews',
);
export const SELF_ACCESS_REVIEW = clusterWide(
  ACCESS,
  'v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);
export const TOKEN_REVIEW_KIND = clusterWide('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews');

export const CERTIFICATE = namespaced('cert-manager.io', 'v1', 'Certificate', 'certificates');
export const CERTIFICATE_REQUEST = namespaced(
  'cert-manager.io',
  'v1',
  'CertificateRequest',
  'certificaterequests',
);
export const KUSTOMIZATION = namespaced(
  'kustomize.toolkit.fluxcd.io',
  'v1',
  'Kustomization',
  'kustomizations',
);
export const HELM_RELEASE = namespaced('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases');
export const GIT_REPOSITORY = namespaced(
  'source.toolkit.fluxcd.io',
  'v1',
  'GitRepository',
  'gitrepositories',
);
export const OCI_REPOSITORY = namespaced(
  'source.toolkit.fluxcd.io',
  'v1',
  'OCIRepository',
  'ocirepositories',
);
export const HELM_REPOSITORY = namespaced(
  'source.toolkit.fluxcd.io',
  'v1',
  'HelmRepository',
  'helmrepositories',
);
export const HELM_CHART = namespaced('source.toolkit.fluxcd.io', 'v1', 'HelmChart', 'helmcharts');
export const APPLICATION = namespaced('argoproj.io', 'v1alpha1', 'Application', 'applications');

/** Bodies of subresources. */
export const BINDING_BODY: GroupVersionKind = { group: '', version: 'v1', kind: 'Binding' };
export const EVICTION_BODY: GroupVersionKind = { group: 'policy', version: 'v1', kind: 'Eviction' };
export const TOKEN_BODY: GroupVersionKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
};
export const SCALE_BODY: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
