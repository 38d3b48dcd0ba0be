/** The one list of what recovery needs (webhook-operations.md R2, §4.2), for `preflight` and for the cluster tests. */
import { nodeSteps, systemSteps } from './recovery-steps-cluster.ts';
import { cureSteps, reinstallSteps } from './recovery-steps-cure.ts';
import { gateSteps } from './recovery-steps-gate.ts';
import { gitopsSteps } from './recovery-steps-gitops.ts';
import { accessSteps, storageSteps } from './recovery-steps-others.ts';
import { isHoused, type RecoverySite, type RecoveryStep } from './recovery-step.ts';

/** In the order of the report; ids are unique. */
export function recoverySteps(site: RecoverySite): readonly RecoveryStep[] {
  const namespace = site.namespace ?? 'default';
  return [
    ...(isHoused(site) ? gateSteps(site) : []),
    ...nodeSteps(),
    ...systemSteps(),
    ...accessSteps({ ...site, namespace }),
    ...cureSteps(site),
    ...reinstallSteps(site),
    ...gitopsSteps(site),
    ...storageSteps(namespace),
  ];
}
