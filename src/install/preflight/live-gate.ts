/** The gate as its objects in a cluster show it: its Deployment, what deploys it, and its Namespace. */
import { NAMESPACE, NATIVE_POLICY, type Kind } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { selectorFault, selects, type Labels } from '../../policies/vap/label-selector.ts';
import type { LiveCluster } from './live-cluster.ts';
import { fieldsIn, fieldsOf, selectorOf, type LiveEntry } from './live-entry.ts';
import { MANAGED_SELECTOR } from '../names.ts';
import { APPLICATION, DEPLOYMENT, HELM_RELEASE, KUSTOMIZATION } from './recovery-kinds.ts';
import type { Pointer, RecoverySite } from './recovery-step.ts';

const NAME_LABEL = 'app.kubernetes.io/name';
const NAME = 'pacto-gate';

/** What nobody has deployed yet looks like this in the simulation. */
const USUAL_LABELS: Labels = { [NAME_LABEL]: NAME };

export interface LiveGate {
  readonly site: RecoverySite;
  /** Labels of every Namespace; undefined where they could not be read. */
  readonly namespaces: ReadonlyMap<string, Labels> | undefined;
  /** Native policies of the gate's own. */
  readonly natives: readonly KubeObject[];
}

export interface GateWhereabouts {
  readonly namespace: string | undefined;
  readonly policyNamespaces: readonly string[];
}

export async function readGate(live: LiveCluster, where: GateWhereabouts): Promise<LiveGate> {
  const { namespace, policyNamespaces } = where;
  const found = await live.list(NAMESPACE);
  const namespaces =
    found && new Map(found.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const));
  const natives = await live.list(NATIVE_POLICY, { labelSelector: MANAGED_SELECTOR });
  const deployment =
    namespace === undefined ? undefined : deploymentOf(await live.list(DEPLOYMENT, { namespace }));
  return {
    site: {
      ...(namespace !== undefined && { namespace }),
      name: deployment?.metadata.name ?? NAME,
      labels: deployment?.metadata.labels ?? USUAL_LABELS,
      podLabels: podLabelsOf(deployment) ?? USUAL_LABELS,
      namespaceLabels: (namespace !== undefined && namespaces?.get(namespace)) || {},
      policyNamespaces,
      pointers: deployment === undefined ? [] : await pointersOf(deployment, live),
    },
    namespaces,
    natives: natives ?? [],
  };
}

/**
 * The namespace of the gate where nobody says it: that of the Service which its entries name.
 * @returns undefined where the entries name several or none.
 */
export function namespaceOf(entries: readonly LiveEntry[]): string | undefined {
  const found = new Set(
    entries.filter(({ ours }) => ours).flatMap(({ client }) => client.service?.namespace ?? []),
  );
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

function deploymentOf(deployments: readonly KubeObject[] | undefined): KubeObject | undefined {
  const all = deployments ?? [];
  return (
    all.find(({ metadata }) => metadata.labels?.[NAME_LABEL] === NAME) ??
    all.find(({ metadata }) => metadata.name === NAME)
  );
}

function podLabelsOf(deployment: KubeObject | undefined): Labels | undefined {
  if (deployment === undefined) return undefined;
  const { labels } = fieldsOf(fieldsOf(fieldsOf(deployment['spec'])['template'])['metadata']);
  const pairs = Object.entries(fieldsOf(labels)).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(pairs);
}

interface Trace {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Flux labels what it applies; Argo CD annotates it, or labels it with the name of the Application. */
function tracesOf({ metadata }: KubeObject): readonly Trace[] {
  const { labels = {}, annotations = {} } = metadata;
  const flux = [
    { kind: KUSTOMIZATION, group: 'kustomize.toolkit.fluxcd.io' },
    { kind: HELM_RELEASE, group: 'helm.toolkit.fluxcd.io' },
  ].flatMap(({ kind, group }) => {
    const name = labels[`${group}/name`];
    const namespace = labels[`${group}/namespace`];
    return name === undefined || namespace === undefined ? [] : [{ kind, namespace, name }];
  });
  // `<application>:<group>/<kind>:<namespace>/<name>`, the first part with its namespace where that is not Argo's own.
  const [tracked = ''] = (annotations['argocd.argoproj.io/tracking-id'] ?? '').split(':');
  const [, namespace = ARGO_NAMESPACE, name = ''] = /^(?:([^_]+)_)?(.*)$/.exec(tracked) ?? [];
  return name === '' ? flux : [...flux, { kind: APPLICATION, namespace, name }];
}

/** Argo CD before 3.0 tracks by this label unless told otherwise, and Helm charts set it to the release. */
const INSTANCE_LABEL = 'app.kubernetes.io/instance';
const ARGO_NAMESPACE = 'argocd';

async function pointersOf(deployment: KubeObject, live: LiveCluster): Promise<readonly Pointer[]> {
  const pointers = new Map<string, Pointer>();
  const add = async (trace: Trace, isSure: boolean): Promise<KubeObject | undefined> => {
    const { kind, namespace, name } = trace;
    const id = `${kind.kind} ${namespace}/${name}`;
    if (pointers.has(id)) return undefined;
    const object = await live.get(kind, namespace, name);
    if (isSure || object !== undefined) pointers.set(id, { ...trace, labels: object?.metadata.labels ?? {} });
    return object;
  };
  for (const trace of tracesOf(deployment)) {
    const object = await add(trace, true);
    // A HelmRelease is itself something that a Kustomization may have applied.
    if (object !== undefined) for (const above of tracesOf(object)) await add(above, true);
  }
  const instance = deployment.metadata.labels?.[INSTANCE_LABEL];
  if (instance !== undefined)
    await add({ kind: APPLICATION, namespace: ARGO_NAMESPACE, name: instance }, false);
  return [...pointers.values()];
}

/** Whether a NetworkPolicy of the gate's namespace says who may reach its Pods. */
export function guardsPods(policy: KubeObject, podLabels: Labels): boolean {
  const spec = fieldsOf(policy['spec']);
  const types = Array.isArray(spec['policyTypes']) ? spec['policyTypes'] : ['Ingress'];
  if (!types.includes('Ingress')) return false;
  // An ingress rule without `from` lets everybody in.
  if (fieldsIn(spec['ingress']).some((rule) => fieldsIn(rule['from']).length === 0)) return false;
  const selector = selectorOf(spec['podSelector']);
  return selectorFault(selector) === undefined && selects(selector, podLabels);
}
