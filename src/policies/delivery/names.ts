/** Names of delivery, as the cluster has them (delivery.md §3.1, §3.4, §3.11). */

export const DELIVERY_GROUP = 'delivery.pacto.trianalab.io';

/** On a pointer: the Stage that gates it, in the pointer's own namespace. */
export const STAGE_LABEL = 'delivery.pacto.trianalab.io/stage';
/** On a pointer whose Stage is in another namespace, which the identity policy must allow (`crossNamespace`). */
export const STAGE_NAMESPACE_ANNOTATION = 'delivery.pacto.trianalab.io/stage-namespace';
/** Whatever starts with this on a pointer counts as what the gate compares (issue 8, registration). */
export const DELIVERY_ANNOTATION_PREFIX = 'delivery.pacto.trianalab.io/';
/** On a Namespace: its workloads are gated too (`scope: Workload`). */
export const WORKLOADS_LABEL = 'delivery.pacto.trianalab.io/workloads';

/** The ConfigMap in the namespace of delivery. */
export const IDENTITY_POLICY = { configMap: 'pacto-delivery-identity', key: 'policy.yaml' } as const;

/** delivery.md §3.2: what the promoter writes with. */
export const PROMOTER_FIELD_MANAGER = 'pacto-delivery-promoter';
