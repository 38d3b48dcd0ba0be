import {
  identitySettings,
  type IdentityInput,
  type IdentitySettings,
} from '../../../src/policies/identity/settings.ts';

/** Settings as the configuration gives them by default, with changes. */
export function settings(changes: Partial<IdentityInput> = {}): IdentitySettings {
  return identitySettings({
    agents: ['pacto-node-agent/pacto-node-agent'],
    namespaces: [],
    podLookup: 'auto',
    requirePodClaims: false,
    requireNodeUid: false,
    pods: {
      controllerUsernames: ['system:serviceaccount:kube-system:daemon-set-controller'],
      daemonSets: [],
    },
    ...changes,
  });
}
