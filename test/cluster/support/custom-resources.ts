/** The custom resources of the recorded policy cases (test/golden/vap/README.md), as a real API server takes them. */
import type { ApiClient } from './api-client.ts';
import { pollUntil } from './polling.ts';

/** Everything is kept, and nothing is said of it. */
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A port on which nobody listens: the conversion of gadgets fails with `connection refused`. */
const UNREACHABLE = 'https://127.0.0.1:1/convert';

interface Definition {
  readonly group: string;
  readonly kind: string;
  /** The first is stored. */
  readonly versions: readonly string[];
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly subresources?: object;
  readonly conversion?: object;
}

const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const CUSTOM_RESOURCES: readonly Definition[] = [
  {
    group: 'things.example.com',
    kind: 'Widget',
    versions: ['v1', 'v2'],
    subresources: { status: {}, scale: SCALE },
  },
  { group: 'things.example.com', kind: 'ClusterWidget', versions: ['v1'], scope: 'Cluster' },
  {
    group: 'things.example.com',
    kind: 'Gadget',
    versions: ['v1', 'v2'],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: UNREACHABLE }, conversionReviewVersions: ['v1'] },
    },
  },
  { group: 'rules.example.com', kind: 'ReplicaLimit', versions: ['v1'] },
  { group: 'rules.example.com', kind: 'ClusterLimit', versions: ['v1'], scope: 'Cluster' },
  { group: 'kustomize.toolkit.fluxcd.io', kind: 'Kustomization', versions: ['v1', 'v1beta2'] },
  {
    group: 'pacto.trianalab.io',
    kind: 'NodeRuntimeObservation',
    versions: ['v1alpha1', 'v1'],
    subresources: { status: {} },
  },
];

/** The definition as it is written. */
function manifestOf(definition: Definition): object {
  const { group, kind, versions, scope = 'Namespaced', subresources, conversion } = definition;
  const singular = kind.toLowerCase();
  const shared = {
    served: true,
    schema: { openAPIV3Schema: OPEN },
    ...(subresources !== undefined && { subresources }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural: `${singular}s`, singular },
      ...(conversion !== undefined && { conversion }),
      versions: versions.map((name, index) => Object.assign({ name, storage: index === 0 }, shared)),
    },
  };
}

/** Creates the definitions of the recorded cases and waits until each version is served. */
export async function createCustomResources(api: ApiClient): Promise<void> {
  await createDefinitions(api, CUSTOM_RESOURCES.map(manifestOf));
}

/** @param manifests CustomResourceDefinitions; waits until each version is served. */
export async function createDefinitions(api: ApiClient, manifests: readonly object[]): Promise<void> {
  await Promise.all(manifests.map((body) => api.demand({ method: 'POST', path: DEFINITIONS, body })));
  const paths = (manifests as readonly DefinitionManifest[]).flatMap(({ spec }) =>
    spec.versions.map(({ name }) => `/apis/${spec.group}/${name}/${spec.names.plural}`),
  );
  await Promise.all(
    paths.map((path) =>
      pollUntil(path, 60_000, async () => {
        const { status } = await api.request({ method: 'GET', path });
        return status === 200 ? true : undefined;
      }),
    ),
  );
}

interface DefinitionManifest {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}
