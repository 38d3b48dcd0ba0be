/** What a status shows of a workload; it is never judged (operator.md §1.1.2, §18). */
import { DEPLOYMENT, STATEFUL_SET, type Kind } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import type { ObservedRuntime } from '../api/pacto.ts';
import { fieldsOf, podTemplateOf, type Container } from './pod-template.ts';

export function runtimeOf(kind: Kind, workload: KubeObject): ObservedRuntime {
  const template = podTemplateOf(kind, workload);
  const spec = fieldsOf(workload['spec']);
  const strategy = fieldsOf(spec['strategy'])['type'];
  const management = spec['podManagementPolicy'];
  const images = template.containers.flatMap(({ image }) => (image === undefined ? [] : [image]));
  const delay = probeDelay(template.containers[0]);
  return {
    workloadKind: kind.kind,
    ...(kind === DEPLOYMENT && typeof strategy === 'string' && { deploymentStrategy: strategy }),
    ...(kind === STATEFUL_SET && typeof management === 'string' && { podManagementPolicy: management }),
    ...(template.graceSeconds !== undefined && { terminationGracePeriodSeconds: template.graceSeconds }),
    ...(images.length > 0 && { containerImages: images }),
    hasPVC: template.claimTemplates > 0 || template.volumes.includes('persistentVolumeClaim'),
    hasEmptyDir: template.volumes.includes('emptyDir'),
    ...(delay !== undefined && { healthProbeInitialDelaySeconds: delay }),
  };
}

/** Of the first container: its readiness probe's, else its liveness probe's; one that names no delay has none (recorded). */
function probeDelay(container: Container | undefined): number | undefined {
  const probe = container?.readinessProbe ?? container?.livenessProbe;
  const delay = probe?.['initialDelaySeconds'] ?? 0;
  return probe !== undefined && Number.isSafeInteger(delay) ? (delay as number) : undefined;
}
