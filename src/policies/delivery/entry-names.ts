/** Names of the webhook entries of delivery and the paths they are served on (delivery.md §2.6, design §5). */

export const POINTERS_ENTRY = 'pointers.gate.delivery.pacto.trianalab.io';
export const POINTERS_PATH = '/validate/delivery/pointers';
export const WORKLOADS_ENTRY = 'workloads.gate.delivery.pacto.trianalab.io';
export const WORKLOADS_PATH = '/validate/delivery/workloads';
export const API_ENTRY = 'api.delivery.pacto.trianalab.io';
export const API_PATH = '/validate/delivery/api';
/** The one mutating entry. */
export const STAMPS_ENTRY = 'stamps.delivery.pacto.trianalab.io';
export const STAMPS_PATH = '/mutate/delivery/stamps';
