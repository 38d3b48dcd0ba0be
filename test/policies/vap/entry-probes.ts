/** Requests that no entry of a policy may reach, whatever its policy says, and which of them one reaches. */
import type { AdmissionRequest, Operation } from '../../../src/cluster/objects.ts';
import { EntryReach, type ReachableEntry } from '../../../src/policies/entry-reach.ts';

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** `group/resource`, with the namespace of those that have one. */
const KINDS: readonly (readonly [resource: string, namespace?: string])[] = [
  ['/nodes'],
  ['/nodes/status'],
  ['/nodes/proxy'],
  ['/events', 'shop'],
  ['events.k8s.io/events', 'shop'],
  ['certificates.k8s.io/certificatesigningrequests'],
  ['certificates.k8s.io/certificatesigningrequests/approval'],
  ['certificates.k8s.io/certificatesigningrequests/status'],
  ['authentication.k8s.io/tokenreviews'],
  ['authentication.k8s.io/selfsubjectreviews'],
  ['authorization.k8s.io/subjectaccessreviews'],
  ['authorization.k8s.io/selfsubjectaccessreviews'],
  ['authorization.k8s.io/selfsubjectrulesreviews'],
  ['authorization.k8s.io/localsubjectaccessreviews', 'shop'],
  ['gate.pacto.trianalab.io/validatingadmissionpolicies'],
  ['gate.pacto.trianalab.io/validatingadmissionpolicies/status'],
  ['gate.pacto.trianalab.io/validatingadmissionpolicybindings'],
  ['gate.pacto.trianalab.io/approvals', 'shop'],
  ['coordination.k8s.io/leases', 'kube-node-lease'],
];

const IN_NAMESPACES = [
  '/pods',
  '/pods/eviction',
  '/secrets',
  '/configmaps',
  'coordination.k8s.io/leases',
  'apps/deployments',
];

export interface ProbeOf {
  readonly group: string;
  readonly version?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly operation: Operation;
  readonly labels?: Readonly<Record<string, string>>;
}

export function probe(of: ProbeOf): AdmissionRequest {
  const { group, version = 'v1', resource, subresource = '', namespace, operation, labels = {} } = of;
  const object = { metadata: { name: 'x', labels } };
  return {
    uid: 'u',
    kind: { group, version, kind: 'K' },
    resource: { group, version, resource },
    ...(subresource === '' ? {} : { subResource: subresource }),
    name: 'x',
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: { username: 'somebody' },
    object: operation === 'DELETE' ? null : object,
    oldObject: operation === 'CREATE' || operation === 'CONNECT' ? null : object,
  };
}

function parsed(text: string, namespace: string | undefined): Omit<ProbeOf, 'operation'> {
  const [group = '', resource = '', subresource = ''] = text.split('/');
  return { group, resource, subresource, ...(namespace === undefined ? {} : { namespace }) };
}

/** Of a Namespace the labels are those of the object, its name among them. */
function aboutNamespace(name: string, operation: Operation): AdmissionRequest {
  const labels = { 'kubernetes.io/metadata.name': name };
  return probe({ group: '', resource: 'namespaces', namespace: name, operation, labels });
}

/** @returns what is reached and must not be, one line each */
export function wrongReach(entry: ReachableEntry, namespaces: readonly string[]): string[] {
  const reach = new EntryReach();
  const everywhere = KINDS.map(([kind, namespace]) => parsed(kind, namespace));
  const inThem = namespaces.flatMap((namespace) => IN_NAMESPACES.map((kind) => parsed(kind, namespace)));
  const probes = OPERATIONS.flatMap((operation) =>
    [...everywhere, ...inThem]
      .map((of) => probe(Object.assign({}, of, { operation })))
      .concat(namespaces.map((namespace) => aboutNamespace(namespace, operation))),
  );
  return probes
    .filter((request) => reach.of(entry, request).reach !== 'passed')
    .map(({ operation, resource, subResource = '', namespace = '' }) =>
      [operation, `${resource.group}/${resource.resource}`, subResource, namespace].join(' ').trim(),
    );
}
