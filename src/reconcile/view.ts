/**
 * How one pass sees the cluster. Whatever it asks is noted (interests.ts), whether it is there or not: a change of
 * just that wakes the Pacto again. In cached mode answers come from watches, in live mode from the API server; Secrets'
 * values and ConfigMaps' contents are in no cache in either.
 *
 * Every method throws a GateError where it cannot be told: GATE_UNSYNCED, or GATE_CLUSTER_* as Cluster says (FORBIDDEN where
 * we lack the right to that kind). An empty answer says that there is none. Namespaces outside the watched ones read as
 * empty. Lists are in order of namespace and name. Objects are nobody's to change, and may lack what no dimension reads.
 */
import type { Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

export interface View {
  service(name: NamespacedName): Promise<KubeObject | undefined>;
  /** Those with the label `kubernetes.io/service-name`. */
  endpointSlices(service: NamespacedName): Promise<readonly KubeObject[]>;
  /** @param kind one of WORKLOAD_KINDS. */
  workload(kind: Kind, name: NamespacedName): Promise<KubeObject | undefined>;
  /** Ingresses of its namespace with a backend that names the Service. */
  ingressesTo(service: NamespacedName): Promise<readonly KubeObject[]>;
  /** HTTPRoutes of any namespace with a backendRef to the Service; none where the kind is not served. */
  routesTo(service: NamespacedName): Promise<readonly KubeObject[]>;
  /** None where the kind is not served. */
  serviceMonitors(namespace: string): Promise<readonly KubeObject[]>;
  /** None where the kind is not served. */
  podMonitors(namespace: string): Promise<readonly KubeObject[]>;
  /** With its data, read now. */
  configMap(name: NamespacedName): Promise<KubeObject | undefined>;
  /** Its metadata and nothing else. */
  secretMetadata(name: NamespacedName): Promise<KubeObject | undefined>;
  /** With its data, read now: for credentials of the moment, never kept. */
  pullSecret(name: NamespacedName): Promise<KubeObject | undefined>;
  /**
   * Pactos whose `status.contract.resolvedRef` is of this repository (dependency-repository.ts), in every watched namespace.
   */
  siblings(repository: string): Promise<readonly KubeObject[]>;
  /**
   * Of the agent namespace. That a connection was seen once more wakes nobody, unless it is asked for.
   * @param heed where failures and successes of several connections compete, and their dates decide
   */
  nodeObservation(node: string, heed?: 'dates'): Promise<KubeObject | undefined>;
  /** Of the agent namespace. */
  nodeLease(node: string): Promise<KubeObject | undefined>;
  /** PactoRevisions of a Pacto, whatever they are of. */
  revisions(pacto: NamespacedName): Promise<readonly KubeObject[]>;
}
