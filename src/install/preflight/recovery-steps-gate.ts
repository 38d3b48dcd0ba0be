/** What must pass in the gate's own namespace for its Pods to come back. */
import { POD, SERVICE_ACCOUNT } from '../../cluster/kinds.ts';
import type { OwnerReference } from '../../cluster/objects.ts';
import { BIND, EVICT, podSpec, runningPod, SCALE, STATUS, TOKEN, workloadSpec } from './recovery-bodies.ts';
import { DEPLOYMENT, REPLICA_SET } from './recovery-kinds.ts';
import { about, stepOf, type HousedSite, type RecoveryStep, type StepDraft } from './recovery-step.ts';
import { networkDrafts, secretDrafts, stateDrafts, namespaceDrafts } from './recovery-steps-namespace.ts';
import { ADMINISTRATOR, controller, KUBELET, SCHEDULER } from './recovery-users.ts';

/** Of owners, which exist in no request that is only simulated. */
const OWNER_UID = '00000000-0000-4000-8000-000000000000';

export function gateSteps(site: HousedSite): readonly RecoveryStep[] {
  return [
    ...podDrafts(site),
    ...accountDrafts(site),
    ...deploymentDrafts(site),
    ...replicaSetDrafts(site),
    ...networkDrafts(site),
    ...secretDrafts(site),
    ...stateDrafts(site),
    ...namespaceDrafts(site),
  ].map((draft) => stepOf('gate', draft));
}

function ownerOf(kind: string, name: string): OwnerReference {
  return { apiVersion: 'apps/v1', kind, name, uid: OWNER_UID, controller: true, blockOwnerDeletion: true };
}

function podDrafts({ namespace, name, podLabels }: HousedSite): readonly StepDraft[] {
  const pod = about({
    kind: POD,
    namespace,
    name: `${name}-preflight`,
    labels: podLabels,
    fields: { spec: podSpec(name) },
    need: 'necessary',
  });
  const replicas = controller('replicaset-controller');
  const created = { name: `${name}-preflight-new`, owner: ownerOf('ReplicaSet', `${name}-preflight`) };
  return [
    pod(
      'gate-pod-create',
      'CREATE',
      replicas,
      'the ReplicaSet controller creates a Pod of the gate',
      created,
    ),
    pod('gate-pod-bind', 'CREATE', SCHEDULER, 'the scheduler gives a Pod of the gate its node', BIND),
    pod('gate-pod-status', 'UPDATE', KUBELET, 'the kubelet says that a Pod of the gate is ready', {
      ...STATUS,
      fields: runningPod(name),
    }),
    pod('gate-pod-delete', 'DELETE', KUBELET, 'the kubelet takes away a Pod of the gate that has ended'),
    pod('gate-pod-replace', 'DELETE', replicas, 'the ReplicaSet controller takes away a Pod of the gate'),
    pod('gate-pod-evict', 'CREATE', ADMINISTRATOR, 'a drain evicts a Pod of the gate from its node', {
      ...EVICT,
      need: 'comfort',
    }),
  ];
}

function accountDrafts({ namespace, name }: HousedSite): readonly StepDraft[] {
  const account = about({
    kind: SERVICE_ACCOUNT,
    namespace,
    name: `${name}-preflight`,
    fields: {},
    need: 'necessary',
  });
  const fresh = { name: `${name}-preflight-new` };
  return [
    account('gate-token', 'CREATE', KUBELET, "the kubelet gets a token of the gate's account", TOKEN),
    account('gate-account', 'CREATE', ADMINISTRATOR, "an administrator makes the gate's account anew", fresh),
  ];
}

function deploymentDrafts({ namespace, name, labels, podLabels }: HousedSite): readonly StepDraft[] {
  const deployment = about({
    kind: DEPLOYMENT,
    namespace,
    name: `${name}-preflight`,
    labels,
    fields: { spec: workloadSpec(podLabels, name) },
    need: 'necessary',
  });
  const manager = controller('deployment-controller');
  return [
    deployment(
      'gate-deployment-create',
      'CREATE',
      ADMINISTRATOR,
      'an administrator makes the Deployment anew',
      {
        name: `${name}-preflight-new`,
      },
    ),
    deployment(
      'gate-deployment-update',
      'UPDATE',
      ADMINISTRATOR,
      "an administrator mends the gate's Deployment",
    ),
    deployment(
      'gate-deployment-scale',
      'UPDATE',
      ADMINISTRATOR,
      "an administrator scales the gate's Deployment",
      {
        ...SCALE,
        need: 'comfort',
      },
    ),
    deployment('gate-deployment-status', 'UPDATE', manager, 'the state of the Deployment is written', {
      ...STATUS,
      need: 'comfort',
    }),
  ];
}

function replicaSetDrafts({ namespace, name, podLabels }: HousedSite): readonly StepDraft[] {
  const set = about({
    kind: REPLICA_SET,
    namespace,
    name: `${name}-preflight`,
    labels: podLabels,
    owner: ownerOf('Deployment', `${name}-preflight`),
    fields: { spec: workloadSpec(podLabels, name) },
    need: 'necessary',
  });
  const manager = controller('deployment-controller');
  const own = controller('replicaset-controller');
  const fresh = { name: `${name}-preflight-new` };
  return [
    set('gate-replicaset-create', 'CREATE', manager, 'the Deployment controller makes a ReplicaSet', fresh),
    set('gate-replicaset-update', 'UPDATE', manager, 'the Deployment controller scales a ReplicaSet'),
    set(
      'gate-replicaset-status',
      'UPDATE',
      own,
      'the ReplicaSet controller writes the state of its own',
      STATUS,
    ),
    set(
      'gate-replicaset-delete',
      'DELETE',
      manager,
      'the Deployment controller takes away an old ReplicaSet',
      {
        need: 'comfort',
      },
    ),
  ];
}
