/** Upstream's own Lease, so that it and this program never write at the same time (operator.md §8.3, design decision 15). */
export const RECONCILER_LEASE = 'a4917283.pacto.io';
