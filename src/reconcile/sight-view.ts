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
import type { LiveReads } from '../cluster/live-reads.ts';
import { GateError } from '../errors.ts';
import type { NotedReads } from './interests.ts';
import { ofDetails, ofKind, ofObject, relatedTo, serviceText } from './read-keys.ts';
import type { Relations } from './relations.ts';
import { keptOf } from './triggers/trigger.ts';
import type { NamespacedName, View } from './view.ts';
import type { Told, WatchedKind } from './watched-kind.ts';

export interface EndedView extends View {
  /** The look is over: what it asked for is what wakes its Pacto. */
  end(): void;
}

export interface SightViewParts {
  readonly kinds: ReadonlyMap<Kind, WatchedKind>;
  readonly relations: Relations;
  readonly live: LiveReads;
  readonly cluster: Pick<Cluster, 'get'>;
  /** Undefined: there are no node agents. */
  readonly agentNamespace: string | undefined;
  /** Undefined: nobody wants to be woken. */
  readonly noted: NotedReads | undefined;
}

export class SightView implements EndedView {
  readonly #parts: SightViewParts;

  constructor(parts: SightViewParts) {
    this.#parts = parts;
  }

  end(): void {
    this.#parts.noted?.end();
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

  /** Where the watch of their metadata tells that there is none, nobody is asked. Several looks share one answer. */
  async configMap(name: NamespacedName): Promise<KubeObject | undefined> {
    const told = this.#told(CONFIG_MAP, name);
    if (told !== 'unknown' && told.object === undefined) return undefined;
    return await this.#parts.live.get(CONFIG_MAP, name, 'plain', {});
  }

  /** Where the watch cannot tell, as for who may only get them, it is asked for. */
  async secretMetadata(name: NamespacedName): Promise<KubeObject | undefined> {
    const told = this.#told(SECRET, name);
    if (told !== 'unknown') return told.object;
    const secret = await this.#parts.live.get(SECRET, name, 'metadata', {});
    return secret === undefined ? undefined : keptOf(this.#watched(SECRET).trigger, secret);
  }

  /** Asked for each time, and for nobody else. */
  async pullSecret(name: NamespacedName): Promise<KubeObject | undefined> {
    this.#note(SECRET, ofObject(SECRET, name));
    return this.#watched(SECRET).covers(name.namespace)
      ? await this.#parts.cluster.get(SECRET, name)
      : undefined;
  }

  siblings(repository: string): Promise<readonly KubeObject[]> {
    return this.#related(PACTO, repository);
  }

  nodeObservation(node: string, heed?: 'dates'): Promise<KubeObject | undefined> {
    const { agentNamespace: namespace } = this.#parts;
    if (heed === 'dates' && namespace !== undefined)
      this.#note(NODE_RUNTIME_OBSERVATION, ofDetails(NODE_RUNTIME_OBSERVATION, { namespace, name: node }));
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
    return this.#watched(kind).select(this.#parts.relations.of(relation), namespace);
  }

  async #ofNode(kind: Kind, name: string): Promise<KubeObject | undefined> {
    const { agentNamespace: namespace } = this.#parts;
    return namespace === undefined ? undefined : await this.#object(kind, { namespace, name });
  }

  #told(kind: Kind, name: NamespacedName): Told {
    this.#note(kind, ofObject(kind, name));
    return this.#watched(kind).tells(name);
  }

  /** @throws GateError GATE_INTERNAL for a kind that the settings do not have watched: nobody should ask then. */
  #watched(kind: Kind): WatchedKind {
    const watched = this.#parts.kinds.get(kind);
    if (watched === undefined)
      throw new GateError('GATE_INTERNAL', `${kind.resource} are read and not watched`);
    return watched;
  }

  #note(kind: Kind, read: string): void {
    this.#parts.noted?.note(read);
    this.#parts.noted?.note(ofKind(kind));
  }
}
