/** Names of the webhook entries and the paths they are served on (design §5). */

export const NODE_IDENTITY_ENTRY = 'node-identity.gate.pacto.trianalab.io';
export const NODE_IDENTITY_PATH = '/validate/node-identity';
/** A second entry on the same path: the kubelets' namespace, for agents only (NI15). */
export const NODE_LEASE_ENTRY = 'node-lease.node-identity.gate.pacto.trianalab.io';
export const TOKENS_ENTRY = 'node-identity-tokens.gate.pacto.trianalab.io';
export const TOKENS_PATH = '/validate/node-identity/tokens';
export const PODS_ENTRY = 'node-identity-pods.gate.pacto.trianalab.io';
export const PODS_PATH = '/validate/node-identity/pods';
