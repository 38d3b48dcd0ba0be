/** What recovery asks of the rest of the API: who may do what, and volumes of Pods that it may wait for. */
import {
  ACCESS_REVIEW,
  LOCAL_ACCESS_REVIEW,
  SELF_ACCESS_REVIEW,
  STORAGE_CLASS,
  TOKEN_REVIEW_KIND,
  VOLUME,
  VOLUME_ATTACHMENT,
  VOLUME_CLAIM,
} from './recovery-kinds.ts';
import { about, stepOf, type HousedSite, type RecoveryStep } from './recovery-step.ts';
import { ADMINISTRATOR, controller, KUBELET, NODE_NAME } from './recovery-users.ts';

/** Questions that components put to the API server; a webhook that is asked about them recurses (decision 20). */
export function accessSteps({ namespace, name }: HousedSite): readonly RecoveryStep[] {
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace };
  const spec = { user: `system:serviceaccount:${namespace}:${name}`, resourceAttributes };
  const access = about({ kind: ACCESS_REVIEW, need: 'necessary', fields: { spec } });
  const token = about({ kind: TOKEN_REVIEW_KIND, need: 'necessary', fields: { spec: { token: 'none' } } });
  const local = about({ kind: LOCAL_ACCESS_REVIEW, namespace, need: 'comfort', fields: { spec } });
  const self = about({ kind: SELF_ACCESS_REVIEW, need: 'comfort', fields: { spec: { resourceAttributes } } });
  return [
    access('access-review', 'CREATE', KUBELET, 'a kubelet asks what a caller may do'),
    token('access-token-review', 'CREATE', KUBELET, 'a kubelet asks who a caller is'),
    local(
      'access-review-local',
      'CREATE',
      ADMINISTRATOR,
      'somebody asks what a caller may do in a namespace',
    ),
    self('access-review-self', 'CREATE', ADMINISTRATOR, 'kubectl asks what its user may do'),
  ].map((draft) => stepOf('access', draft));
}

/** The gate has no volumes; other Pods that recovery may wait for have. */
export function storageSteps(namespace: string): readonly RecoveryStep[] {
  const accessModes = ['ReadWriteOnce'];
  const storage = '1Gi';
  const own = { name: 'preflight', need: 'comfort' } as const;
  const claimSpec = { accessModes, resources: { requests: { storage } } };
  const volumeSpec = { accessModes, capacity: { storage }, hostPath: { path: '/preflight' } };
  const source = { persistentVolumeName: 'preflight' };
  const claim = about({ ...own, kind: VOLUME_CLAIM, namespace, fields: { spec: claimSpec } });
  const volume = about({ ...own, kind: VOLUME, fields: { spec: volumeSpec } });
  const storageClass = about({ ...own, kind: STORAGE_CLASS, fields: { provisioner: 'preflight.invalid' } });
  const attachment = about({
    ...own,
    kind: VOLUME_ATTACHMENT,
    fields: { spec: { attacher: 'preflight.invalid', nodeName: NODE_NAME, source } },
  });
  const binder = controller('persistent-volume-binder');
  const attacher = controller('attachdetach-controller');
  const fresh = { name: 'preflight-new' };
  return [
    claim('storage-claim', 'CREATE', ADMINISTRATOR, `somebody claims a volume in ${namespace}`, fresh),
    volume('storage-volume', 'CREATE', binder, 'a volume is made', fresh),
    storageClass('storage-class', 'CREATE', ADMINISTRATOR, 'an administrator makes a StorageClass', fresh),
    attachment('storage-attach', 'CREATE', attacher, 'a volume is attached to a node', fresh),
    attachment('storage-detach', 'DELETE', attacher, 'a volume is detached from a node'),
  ].map((draft) => stepOf('storage', draft));
}
