/** What must pass for the cluster below the gate to come back: its nodes, and what lives in kube-system. */
import { CONFIG_MAP, DAEMON_SET, LEASE, NODE, POD, SERVICE_ACCOUNT } from '../../cluster/kinds.ts';
import {
  BIND,
  EMPTY_SLICE,
  leaseFields,
  podSpec,
  runningPod,
  STATUS,
  TOKEN,
  workloadSpec,
} from './recovery-bodies.ts';
import {
  CLUSTER_ROLE,
  CORE_EVENT,
  CSI_NODE,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  PRIORITY_CLASS,
  SIGNING_REQUEST,
} from './recovery-kinds.ts';
import { about, stepOf, type RecoveryStep, type StepDraft } from './recovery-step.ts';
import { coreEventFields } from './recovery-steps-namespace.ts';
import {
  ADMINISTRATOR,
  API_SERVER,
  controller,
  CONTROLLER_MANAGER,
  KUBELET,
  NODE_NAME,
  SCHEDULER,
} from './recovery-users.ts';

const SYSTEM = 'kube-system';
const NODE_LEASES = 'kube-node-lease';
const FRESH_NODE = { name: `${NODE_NAME}-new` };

export function nodeSteps(): readonly RecoveryStep[] {
  return [...nodeDrafts(), ...certificateDrafts()].map((draft) => stepOf('nodes', draft));
}

function nodeDrafts(): readonly StepDraft[] {
  const labels = { 'kubernetes.io/hostname': NODE_NAME, 'kubernetes.io/os': 'linux' };
  const own = { name: NODE_NAME, need: 'necessary' } as const;
  const node = about({ ...own, kind: NODE, labels, fields: { spec: {} } });
  const lease = about({ ...own, kind: LEASE, namespace: NODE_LEASES, fields: leaseFields(NODE_NAME) });
  const drivers = about({ ...own, kind: CSI_NODE, fields: { spec: { drivers: [] } } });
  const taints = controller('node-controller');
  return [
    node('node-create', 'CREATE', KUBELET, 'a kubelet registers its Node', FRESH_NODE),
    node('node-update', 'UPDATE', taints, 'the node controller takes a taint from a Node'),
    node('node-status', 'UPDATE', KUBELET, 'a kubelet says that its Node is ready', STATUS),
    node('node-delete', 'DELETE', ADMINISTRATOR, 'an administrator takes away a Node that is gone'),
    lease('node-lease-create', 'CREATE', KUBELET, 'a kubelet makes the Lease of its Node', FRESH_NODE),
    lease('node-lease-update', 'UPDATE', KUBELET, 'a kubelet renews the Lease of its Node'),
    // Until it is there, the kubelet calls its Node not ready, and ends in the end (kubelet, csi_plugin.go).
    drivers(
      'node-csinode-create',
      'CREATE',
      KUBELET,
      'a kubelet makes the CSINode of a new Node',
      FRESH_NODE,
    ),
    drivers('node-csinode-update', 'UPDATE', KUBELET, 'a kubelet enters a storage driver into its CSINode', {
      need: 'comfort',
    }),
  ];
}

function certificateDrafts(): readonly StepDraft[] {
  const usages = ['client auth', 'digital signature'];
  const signing = about({
    kind: SIGNING_REQUEST,
    name: `${NODE_NAME}-csr`,
    fields: { spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages } },
    need: 'necessary',
  });
  const signer = controller('certificate-controller');
  const fresh = { name: `${NODE_NAME}-new-csr` };
  const approval = { subResource: 'approval' };
  return [
    signing('node-csr-create', 'CREATE', KUBELET, 'a kubelet asks for its certificate', fresh),
    signing('node-csr-approve', 'UPDATE', signer, 'the certificate of a kubelet is approved', approval),
    signing('node-csr-sign', 'UPDATE', signer, 'the certificate of a kubelet is signed', STATUS),
  ];
}

export function systemSteps(): readonly RecoveryStep[] {
  const drafts = [...apiServerDrafts(), ...systemPodDrafts(), ...systemWorkloadDrafts()];
  return drafts.map((draft) => stepOf('system', draft));
}

/** One that cannot write what its release brings along ends 30 s after its start, so that nothing can be cured. */
function apiServerDrafts(): readonly StepDraft[] {
  const own = { name: 'preflight-start', need: 'necessary' } as const;
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const role = about({ ...own, kind: CLUSTER_ROLE, fields: { rules } });
  const priority = about({ ...own, kind: PRIORITY_CLASS, fields: { value: 1000 } });
  return [
    role('system-start-role', 'CREATE', API_SERVER, 'an API server that starts makes a role of its release'),
    priority(
      'system-start-priority',
      'CREATE',
      API_SERVER,
      'an API server that starts makes a PriorityClass',
    ),
  ];
}

const DNS_LABELS = { 'k8s-app': 'kube-dns' };
const FRESH = { name: 'preflight-new' };
const OWN = { namespace: SYSTEM, name: 'preflight', labels: DNS_LABELS, need: 'necessary' } as const;

function systemPodDrafts(): readonly StepDraft[] {
  const pod = about({ ...OWN, kind: POD, fields: { spec: podSpec('default') } });
  const account = about({ ...OWN, kind: SERVICE_ACCOUNT, name: 'default' });
  const daemons = controller('daemon-set-controller');
  const replicas = controller('replicaset-controller');
  return [
    pod('system-pod-daemon', 'CREATE', daemons, 'a Pod of the network or of storage is created', FRESH),
    pod('system-pod-replica', 'CREATE', replicas, 'a Pod of DNS is created', FRESH),
    pod('system-pod-mirror', 'CREATE', KUBELET, 'a kubelet shows a static Pod of the control plane', FRESH),
    pod('system-pod-bind', 'CREATE', SCHEDULER, 'the scheduler gives a Pod of kube-system its node', BIND),
    pod('system-pod-status', 'UPDATE', KUBELET, 'a kubelet says that a Pod of kube-system is ready', {
      ...STATUS,
      fields: runningPod('default'),
    }),
    pod('system-pod-delete', 'DELETE', KUBELET, 'a kubelet takes away a Pod of kube-system that has ended'),
    account('system-token', 'CREATE', KUBELET, 'a kubelet gets a token for a Pod of kube-system', TOKEN),
  ];
}

function systemWorkloadDrafts(): readonly StepDraft[] {
  const deployment = about({
    ...OWN,
    kind: DEPLOYMENT,
    fields: { spec: workloadSpec(DNS_LABELS, 'default') },
  });
  const daemon = about({ ...OWN, kind: DAEMON_SET, fields: { spec: workloadSpec(DNS_LABELS, 'default') } });
  const map = about({ ...OWN, kind: CONFIG_MAP, fields: {} });
  const slice = about({ ...OWN, kind: ENDPOINT_SLICE, fields: EMPTY_SLICE });
  const lease = about({ ...OWN, kind: LEASE, fields: leaseFields('preflight') });
  const event = about({
    ...OWN,
    kind: CORE_EVENT,
    fields: coreEventFields(SYSTEM, 'preflight'),
    need: 'comfort',
  });
  const slices = controller('endpointslice-controller');
  return [
    deployment('system-deployment', 'UPDATE', ADMINISTRATOR, 'an administrator mends the Deployment of DNS'),
    daemon(
      'system-daemonset',
      'UPDATE',
      ADMINISTRATOR,
      'an administrator mends the DaemonSet of the network',
    ),
    map('system-configmap', 'UPDATE', ADMINISTRATOR, 'an administrator mends the configuration of DNS'),
    slice('system-endpointslice', 'UPDATE', slices, 'the addresses of DNS are kept'),
    lease('system-lease-update', 'UPDATE', SCHEDULER, 'the scheduler renews the Lease of its leader'),
    lease(
      'system-lease-create',
      'CREATE',
      CONTROLLER_MANAGER,
      'the controller manager makes its Lease',
      FRESH,
    ),
    event('system-event', 'CREATE', KUBELET, 'a kubelet records an event of a Pod of kube-system', FRESH),
  ];
}
