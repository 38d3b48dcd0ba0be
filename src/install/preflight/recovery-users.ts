/** Who does the steps of recovery, as the API server sees them: match conditions ask for users. */
import type { UserInfo } from '../../cluster/objects.ts';

/** The node that steps are about; it need not exist. */
export const NODE_NAME = 'preflight-node';

export const ADMINISTRATOR: UserInfo = {
  username: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};

export const KUBELET: UserInfo = {
  username: `system:node:${NODE_NAME}`,
  groups: ['system:nodes', 'system:authenticated'],
};

export const SCHEDULER: UserInfo = {
  username: 'system:kube-scheduler',
  groups: ['system:authenticated'],
};

export function serviceAccount(namespace: string, name: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

/** A controller of the controller manager, with an account of its own. */
export function controller(name: string): UserInfo {
  return serviceAccount('kube-system', name);
}

/** Where the controller manager uses one account for everything, and for its own Lease. */
export const CONTROLLER_MANAGER: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:authenticated'],
};

/** The API server itself. */
export const API_SERVER: UserInfo = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
};
