/** What the recorded cases do not say about the API server that they come from (test/golden/vap/README.md). */
import type { AdmissionRequest, GroupVersionKind, GroupVersionResource } from '../../src/cluster/objects.ts';
import type { Answers, Conversion, Equivalent } from '../../src/policies/vap/needs.ts';
import type { ParamKind } from '../../src/policies/vap/types.ts';

/** Kinds that serve as parameters. */
const PARAM_KINDS: Readonly<Record<string, { readonly namespaced: boolean }>> = {
  'v1 ConfigMap': { namespaced: true },
  'v1 Secret': { namespaced: true },
  'v1 Namespace': { namespaced: false },
  'v1 Node': { namespaced: false },
  'v1 Pod': { namespaced: true },
  'v1 ServiceAccount': { namespaced: true },
  'rules.example.com/v1 ReplicaLimit': { namespaced: true },
  'rules.example.com/v1 ClusterLimit': { namespaced: false },
  'things.example.com/v1 Widget': { namespaced: true },
  'things.example.com/v2 Widget': { namespaced: true },
  'things.example.com/v1 ClusterWidget': { namespaced: false },
  'kubescape.io/v1 ControlConfiguration': { namespaced: false },
};

export function recordedParamKind({ apiVersion, kind }: ParamKind): Answers['paramKind'] {
  const key = `${apiVersion} ${kind}`;
  return Object.hasOwn(PARAM_KINDS, key) ? (PARAM_KINDS[key] ?? null) : null;
}

interface Family {
  readonly versions: readonly (readonly [group: string, version: string])[];
  readonly resource: string;
  readonly kind: string;
}

/** Resources that are served in several versions. */
const FAMILIES: readonly Family[] = [
  {
    versions: [
      ['autoscaling', 'v2'],
      ['autoscaling', 'v1'],
    ],
    resource: 'horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
  },
  {
    versions: [
      ['', 'v1'],
      ['events.k8s.io', 'v1'],
    ],
    resource: 'events',
    kind: 'Event',
  },
  {
    versions: [
      ['kustomize.toolkit.fluxcd.io', 'v1'],
      ['kustomize.toolkit.fluxcd.io', 'v1beta2'],
    ],
    resource: 'kustomizations',
    kind: 'Kustomization',
  },
  {
    versions: [
      ['pacto.trianalab.io', 'v1'],
      ['pacto.trianalab.io', 'v1alpha1'],
    ],
    resource: 'noderuntimeobservations',
    kind: 'NodeRuntimeObservation',
  },
  {
    versions: [
      ['things.example.com', 'v2'],
      ['things.example.com', 'v1'],
    ],
    resource: 'widgets',
    kind: 'Widget',
  },
  {
    versions: [
      ['things.example.com', 'v2'],
      ['things.example.com', 'v1'],
    ],
    resource: 'gadgets',
    kind: 'Gadget',
  },
];
const SCALE: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

export function recordedEquivalents(
  resource: GroupVersionResource,
  subresource: string,
): readonly Equivalent[] {
  const family = FAMILIES.find(
    (one) =>
      one.resource === resource.resource &&
      one.versions.some(([group, version]) => group === resource.group && version === resource.version),
  );
  return (family?.versions ?? []).map(([group, version]) => ({
    resource: { group, version, resource: resource.resource },
    kind: subresource === 'scale' ? SCALE : { group, version, kind: family?.kind ?? '' },
  }));
}

/** Kinds whose versions differ in nothing but their names (conversion strategy None). */
const UNCONVERTED: ReadonlySet<string> = new Set(['Kustomization', 'NodeRuntimeObservation', 'Widget']);

/** What the conversion of custom resources gives. Gadgets have a conversion webhook that cannot be reached. */
export function recordedConversion(request: AdmissionRequest, to: GroupVersionKind): Conversion | undefined {
  const { group, version, kind } = request.kind;
  if (kind === 'Gadget') {
    return {
      error: `conversion webhook for ${group}/${version}, Kind=${kind} failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    };
  }
  if (!UNCONVERTED.has(kind)) return undefined;
  const converted = (object: unknown): unknown =>
    typeof object === 'object' && object !== null
      ? { ...object, apiVersion: `${to.group}/${to.version}` }
      : null;
  return { object: converted(request.object), oldObject: converted(request.oldObject) };
}
