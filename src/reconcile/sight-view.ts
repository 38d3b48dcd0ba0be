/** A view of what the watches keep; every question is noted before it is answered. */
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
import { GateError } from '../errors.ts';
import type { NotedReads } from './interests.ts';
import { ofKind, ofObject, relatedTo, serviceText } from './read-keys.ts';
import type { Relations } from './relations.ts';
import type { NamespacedName, View } from './view.ts';
import type { WatchedKind } from './watched-kind.ts';

export interface EndedView extends View {
  /** The look is over: what it asked for is what wakes its Pacto. */
  end(): void;
}

export class SightView implements EndedView {
  readonly #kinds: ReadonlyMap<Kind, WatchedKind>;
  readonly #relations: Relations;
  readonly #cluster: Pick<Cluster, 'get'>;
  readonly #agentNamespace: string | undefined;
  readonly #noted: NotedReads | undefined;

  constructor(
    kinds: ReadonlyMap<Kind, WatchedKind>,
    relations: Relations,
    {
      cluster,
      agentNamespace,
    }: { readonly cluster: Pick<Cluster, 'get'>; readonly agentNamespace: string | undefined },
    noted: NotedReads | undefined,
  ) {
    this.#kinds = kinds;
    this.#relations = relations;
    this.#cluster = cluster;
    this.#agentNamespace = agentNamespace;
    this.#noted = noted;
  }

  end(): void {
    this.#noted?.end();
  }

  service(name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(SERVICE, name);
  }

  endpointSlices(service: NamespacedName): Promise<readonly KubeObject[]> {
    return this.#related(ENDPOINT_SLICE, serviceText(service), service.namespace);
  }

  workload(kind: Kind, name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(kind, name);
  }

  ingressesTo(service: NamespacedName): Promise<readonly KubeObject[]> {
    return this.#related(INGRESS, serviceText(service), service.namespace);
  }

  routesTo(service: NamespacedName): Promise<readonly KubeObject[]> {
    return this.#related(HTTP_ROUTE, serviceText(service));
  }

  serviceMonitors(namespace: string): Promise<readonly KubeObject[]> {
    return this.#related(SERVICE_MONITOR, namespace, namespace);
  }

  podMonitors(namespace: string): Promise<readonly KubeObject[]> {
    return this.#related(POD_MONITOR, namespace, namespace);
  }

  /** The watch of its metadata tells whether there is one; its contents are asked for. */
  async configMap(name: NamespacedName): Promise<KubeObject | undefined> {
    const known = await this.#object(CONFIG_MAP, name);
    return known === undefined ? undefined : await this.#cluster.get(CONFIG_MAP, name);
  }

  secretMetadata(name: NamespacedName): Promise<KubeObject | undefined> {
    return this.#object(SECRET, name);
  }

  /** Asked for even where the watch of Secrets says nothing: who may only get them is served as well. */
  async pullSecret(name: NamespacedName): Promise<KubeObject | undefined> {
    this.#note(SECRET, ofObject(SECRET, name));
    return await this.#cluster.get(SECRET, name);
  }

  siblings(repository: string): Promise<readonly KubeObject[]> {
    return this.#related(PACTO, repository);
  }

  nodeObservation(node: string): Promise<KubeObject | undefined> {
    return this.#ofNode(NODE_RUNTIME_OBSERVATION, node);
  }

  nodeLease(node: string): Promise<KubeObject | undefined> {
    return this.#ofNode(LEASE, node);
  }

  revisions(pacto: NamespacedName): Promise<readonly KubeObject[]> {
    return this.#related(PACTO_REVISION, serviceText(pacto), pacto.namespace);
  }

  async #object(kind: Kind, name: NamespacedName): Promise<KubeObject | undefined> {
    this.#note(kind, ofObject(kind, name));
    return this.#watched(kind).get(name);
  }

  /** @param namespace where they can be; left out: anywhere. */
  async #related(kind: Kind, to: string, namespace?: string): Promise<readonly KubeObject[]> {
    const relation = relatedTo(kind, to);
    this.#note(kind, relation);
    this.#watched(kind).check(namespace);
    return this.#relations.of(relation);
  }

  #ofNode(kind: Kind, name: string): Promise<KubeObject | undefined> {
    return this.#agentNamespace === undefined
      ? Promise.resolve(undefined)
      : this.#object(kind, { namespace: this.#agentNamespace, name });
  }

  #watched(kind: Kind): WatchedKind {
    const watched = this.#kinds.get(kind);
    if (watched === undefined)
      throw new GateError('GATE_INTERNAL', `${kind.resource} are read and not watched`);
    return watched;
  }

  #note(kind: Kind, read: string): void {
    this.#noted?.note(read);
    this.#noted?.note(ofKind(kind));
  }
}
