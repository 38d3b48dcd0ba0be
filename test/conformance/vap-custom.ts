/** The custom resources of the API server that the cases come from (test/golden/vap/README.md). */

const TEXT = { type: 'string' };
const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
/** `spec` and `status` are there, and nothing is said of what is in them. */
const OPEN = { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } };
const LIMIT = {
  type: 'object',
  properties: {
    maxReplicas: { type: 'integer' },
    allowed: { type: 'array', items: TEXT },
    ratio: { type: 'number' },
    spec: ANYTHING,
  },
};

function definition(group: string, kind: string, versions: readonly string[], schema: object): object {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      names: { kind, plural: `${singular}s`, singular },
      versions: versions.map((name) => ({ name, served: true, schema: { openAPIV3Schema: schema } })),
    },
  };
}

export const CUSTOM_RESOURCES: readonly object[] = [
  definition('things.example.com', 'Widget', ['v1', 'v2'], OPEN),
  definition('things.example.com', 'ClusterWidget', ['v1'], OPEN),
  definition('things.example.com', 'Gadget', ['v1', 'v2'], OPEN),
  definition('rules.example.com', 'ReplicaLimit', ['v1'], LIMIT),
  definition('rules.example.com', 'ClusterLimit', ['v1'], LIMIT),
  definition('kustomize.toolkit.fluxcd.io', 'Kustomization', ['v1', 'v1beta2'], OPEN),
  definition('pacto.trianalab.io', 'NodeRuntimeObservation', ['v1alpha1', 'v1'], OPEN),
];
