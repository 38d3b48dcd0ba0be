/**
 * A view for one look, by reads of the moment: for who watches nothing (`--state live`) and for the command line (design
 * decision 12). It shows what the watches would show, reduced by the same triggers. Whatever it is asked is read once, so
 * that one look never sees two versions of one object.
 */
import type { Cluster } from '../cluster/cluster.ts';
import {
  CONFIG_MAP,
  ENDPOINT_SLICE,
  HTTP_ROUTE,
  INGRESS,
  LEASE,
  NODE_RUNTIME_OBSERVATION,
  PACTO,
  PACTO_REVISION,
  POD_MONITOR,
  SECRET,
  SERVICE,
  SERVICE_MONITOR,
  type Kind,
} from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, quote } from '../errors.ts';
import type { ObserveSettings } from './observe/dimension.ts';
import { ofObject, relatedTo, serviceText } from './read-keys.ts';
import { labelValue } from './revision.ts';
import { triggersFor } from './triggers/all.ts';
import { SERVICE_NAME_LABEL } from './triggers/endpoint-slices.ts';
import { asSibling, PACTO_LABEL } from './triggers/pactos.ts';
import { keptOf, type Trigger } from './triggers/trigger.ts';
import type { NamespacedName, View } from './view.ts';
import { byName } from './watched-kind.ts';

/** Of what belongs to one namespace or one Service (design decision 12). */
const MOST_LISTED = 500;
/** Of Pactos and HTTPRoutes, of which all are looked through: what is kept of one is some hundred bytes. */
const MOST_SEARCHED = 5_000;
const PAGE_SIZE = 250;
/** Of one page: 64 KiB for each object. */
const PAGE_BYTES = 16 * 1024 * 1024;

export interface LiveViewOptions {
  readonly cluster: Pick<Cluster, 'get' | 'list'>;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly nodeAgent: ObserveSettings['nodeAgent'];
  /** Ends every read. */
  readonly signal: AbortSignal;
}

/** @returns a view that throws GateError GATE_TOO_MANY_OBJECTS beside what View says, and the signal's reason. */
export function createLiveView(options: LiveViewOptions): View {
  return new LiveView(options);
}

interface Search {
  /** Where; left out: in every namespace that is looked at. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly most: number;
}

class LiveView implements View {
  readonly #options: LiveViewOptions;
  readonly #triggers: ReadonlyMap<Kind, Trigger>;
  readonly #objects = new Map<string, Promise<KubeObject | undefined>>();
  readonly #lists = new Map<string, Promise<readonly KubeObject[]>>();

  constructor(options: LiveViewOptions) {
    this.#options = options;
    const { nodeAgent } = options;
    this.#triggers = new Map(
      triggersFor({ monitors: true, nodeAgent }).map((trigger) => [trigger.kind, trigger]),
    );
  }

  service(name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(SERVICE, name);
  }

  endpointSlices(service: NamespacedName): Promise<readonly KubeObject[]> {
    const { namespace, name } = service;
    if (!isName(name)) return Promise.resolve([]);
    return this.#related(ENDPOINT_SLICE, serviceText(service), {
      namespace,
      labelSelector: `${SERVICE_NAME_LABEL}=${name}`,
      most: MOST_LISTED,
    });
  }

  workload(kind: Kind, name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(kind, name);
  }

  ingressesTo(service: NamespacedName): Promise<readonly KubeObject[]> {
    const { namespace } = service;
    return this.#related(INGRESS, serviceText(service), { namespace, most: MOST_LISTED });
  }

  routesTo(service: NamespacedName): Promise<readonly KubeObject[]> {
    return this.#related(HTTP_ROUTE, serviceText(service), { most: MOST_SEARCHED });
  }

  serviceMonitors(namespace: string): Promise<readonly KubeObject[]> {
    return this.#related(SERVICE_MONITOR, namespace, { namespace, most: MOST_LISTED });
  }

  podMonitors(namespace: string): Promise<readonly KubeObject[]> {
    return this.#related(POD_MONITOR, namespace, { namespace, most: MOST_LISTED });
  }

  configMap(name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#once(`whole ${ofObject(CONFIG_MAP, name)}`, CONFIG_MAP, name);
  }

  secretMetadata(name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(SECRET, name);
  }

  /** Asked for each time: nothing of it is kept, not even for one look. */
  async pullSecret(name: NamespacedName): Promise<KubeObject | undefined> {
    const { cluster, signal } = this.#options;
    if (!this.#covers(SECRET, name.namespace) || !isName(name.name)) return undefined;
    return await cluster.get(SECRET, name, { signal });
  }

  siblings(repository: string): Promise<readonly KubeObject[]> {
    return this.#related(PACTO, repository, { most: MOST_SEARCHED });
  }

  nodeObservation(node: string): Promise<KubeObject | undefined> {
    return this.#ofNode(NODE_RUNTIME_OBSERVATION, node);
  }

  nodeLease(node: string): Promise<KubeObject | undefined> {
    return this.#ofNode(LEASE, node);
  }

  revisions(pacto: NamespacedName): Promise<readonly KubeObject[]> {
    const { namespace, name } = pacto;
    return this.#related(PACTO_REVISION, serviceText(pacto), {
      namespace,
      labelSelector: `${PACTO_LABEL}=${labelValue(name)}`,
      most: MOST_SEARCHED,
    });
  }

  async #object(kind: Kind, name: NamespacedName): Promise<KubeObject | undefined> {
    const object = await this.#once(ofObject(kind, name), kind, name);
    return object === undefined ? undefined : keptOf(this.#trigger(kind), object);
  }

  async #ofNode(kind: Kind, name: string): Promise<KubeObject | undefined> {
    const { nodeAgent } = this.#options;
    return nodeAgent === undefined
      ? undefined
      : await this.#object(kind, { namespace: nodeAgent.namespace, name });
  }

  #once(key: string, kind: Kind, name: NamespacedName): Promise<KubeObject | undefined> {
    if (!this.#covers(kind, name.namespace) || !isName(name.name)) return Promise.resolve(undefined);
    const { cluster, signal } = this.#options;
    const metadataOnly = kind === SECRET ? { metadataOnly: true } : {};
    return remembered(this.#objects, key, () =>
      this.#orNothing(kind, undefined, () => cluster.get(kind, name, { ...metadataOnly, signal })),
    );
  }

  /** Those of a list that the cached view would find by its index. */
  async #related(kind: Kind, to: string, search: Search): Promise<readonly KubeObject[]> {
    const relation = relatedTo(kind, to);
    const trigger = this.#trigger(kind);
    return (await this.#all(kind, search)).filter((object) => trigger.relations(object).includes(relation));
  }

  async #all(kind: Kind, { namespace, ...search }: Search): Promise<readonly KubeObject[]> {
    if (namespace !== undefined && !this.#covers(kind, namespace)) return [];
    const { namespaces } = this.#options;
    const watched = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
    const places = namespace === undefined ? watched : [namespace];
    const key = `${kind.kind} ${namespace ?? ''} ${search.labelSelector ?? ''}`;
    return await remembered(this.#lists, key, () =>
      this.#orNothing(kind, [], async () => {
        const objects: KubeObject[] = [];
        // One after the other: the bound is for all of them.
        for (const place of places) await this.#pages(kind, place, search, objects);
        return objects.toSorted((a, b) => byName(nameOf(a), nameOf(b)));
      }),
    );
  }

  async #pages(
    kind: Kind,
    namespace: string | undefined,
    { labelSelector, most }: Omit<Search, 'namespace'>,
    into: KubeObject[],
  ): Promise<void> {
    const { cluster, signal } = this.#options;
    const trigger = this.#trigger(kind);
    let continueToken: string | undefined;
    do {
      const page = await cluster.list(kind, {
        ...(namespace !== undefined && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(continueToken !== undefined && { continueToken }),
        limit: PAGE_SIZE,
        maxBytes: PAGE_BYTES,
        signal,
      });
      for (const object of page.items) {
        const kept = keptOf(trigger, object);
        into.push(kind === PACTO ? asSibling(kept) : kept);
      }
      ({ continueToken } = page);
      if (into.length > most || (into.length === most && continueToken !== undefined)) {
        const where = namespace === undefined ? '' : ` of namespace ${quote(namespace)}`;
        throw new GateError(
          'GATE_TOO_MANY_OBJECTS',
          `list ${kind.resource}${where}: more are there than one look may read (need at most ${String(most)}): run with state cached`,
        );
      }
    } while (continueToken !== undefined);
  }

  /** Of a kind that a cluster may do without there is none where it is not served. */
  async #orNothing<T>(kind: Kind, nothing: T, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const isMissing = error instanceof GateError && error.code === 'GATE_CLUSTER_UNSUPPORTED';
      if (isMissing && this.#trigger(kind).optional) return nothing;
      throw error;
    }
  }

  #covers(kind: Kind, namespace: string): boolean {
    const { namespaces, nodeAgent } = this.#options;
    if (this.#trigger(kind).scope === 'agents') return namespace === nodeAgent?.namespace;
    return namespaces.length === 0 || namespaces.includes(namespace);
  }

  #trigger(kind: Kind): Trigger {
    const trigger = this.#triggers.get(kind);
    if (trigger === undefined)
      throw new GateError('GATE_INTERNAL', `${kind.resource} are read by no dimension`);
    return trigger;
  }
}

/** RFC 1123: there is no object of another name, and none is asked for. A Pacto may name anything. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(text);
}

/** What failed may be asked again. */
function remembered<T>(answers: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const before = answers.get(key);
  if (before !== undefined) return before;
  const answer = ask();
  answers.set(key, answer);
  answer.catch(() => answers.delete(key));
  return answer;
}

function nameOf({ metadata: { namespace = '', name = '' } }: KubeObject): NamespacedName {
  return { namespace, name };
}
