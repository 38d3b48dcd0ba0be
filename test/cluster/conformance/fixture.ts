/** What the tests of the conformance suite stand on: the target, its namespaces, and names that no two tests share. */
import type { Cluster, ObjectName } from '../../../src/cluster/cluster.ts';
import type { Kind } from '../../../src/cluster/kinds.ts';
import {
  CONFIG_MAP,
  LEASE,
  NAMESPACE,
  NODE,
  POD,
  SERVICE_ACCOUNT,
  apiVersionOf,
} from '../../../src/cluster/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../../src/cluster/objects.ts';
import { GateError } from '../../../src/errors.ts';

export interface ConformanceTarget {
  readonly cluster: Cluster;
  /** Begins the names of all that the suite creates: a DNS label of at most 30 characters, unique in the cluster. */
  readonly prefix: string;
  /** A token that this cluster knows. Left out: only an unknown token is tried. */
  readonly token?: { readonly token: string; readonly username: string; readonly audience: string };
  // What the suite cannot do to a real server by itself; a test that lacks its own is skipped, and says so.
  /** Forgets history, so that versions and continue tokens from before are too old. */
  readonly forgetHistory?: () => void | Promise<void>;
  /** Lets a minute pass for the server's bookmarks. */
  readonly passMinute?: () => void | Promise<void>;
  /** The server ends its watches as after their time. */
  readonly endWatches?: () => void | Promise<void>;
  /** Connections of watches are lost. */
  readonly breakWatches?: () => void | Promise<void>;
}

export class Fixture {
  readonly makeTarget: () => Promise<ConformanceTarget>;
  #target: ConformanceTarget | undefined;
  #names = 0;
  readonly #namespaces: string[] = [];
  readonly #nodes: string[] = [];

  constructor(makeTarget: () => Promise<ConformanceTarget>) {
    this.makeTarget = makeTarget;
  }

  get target(): ConformanceTarget {
    if (this.#target === undefined) throw new TypeError('the target is not open');
    return this.#target;
  }

  get cluster(): Cluster {
    return this.target.cluster;
  }

  /** The namespace of tests that need none of their own. */
  get namespace(): string {
    return `${this.target.prefix}-main`;
  }

  async open(): Promise<void> {
    this.#target = await this.makeTarget();
    await this.newNamespace('main');
  }

  name(): string {
    this.#names++;
    return `${this.target.prefix}-${this.#names}`;
  }

  async newNamespace(end: string): Promise<string> {
    const name = `${this.target.prefix}-${end}`;
    this.#namespaces.push(name);
    await this.cluster.create(NAMESPACE, plain(NAMESPACE, { name }));
    return name;
  }

  async newNode(): Promise<KubeObject> {
    const name = this.name();
    this.#nodes.push(name);
    return this.cluster.create(NODE, plain(NODE, { name }, { spec: { unschedulable: true } }));
  }

  /** Creates a Lease: of these kinds the one that no controller puts into a namespace that is not its own. */
  newLease(metadata: ObjectMeta = {}): Promise<KubeObject> {
    return this.cluster.create(LEASE, this.lease(metadata));
  }

  /** A Lease that is not there yet. */
  lease(metadata: ObjectMeta = {}, holder = 'first'): KubeObject {
    const name = metadata.generateName === undefined ? { name: this.name() } : {};
    return plain(
      LEASE,
      { namespace: this.namespace, ...name, ...metadata },
      { spec: { holderIdentity: holder } },
    );
  }

  configMap(metadata: ObjectMeta = {}, data: Readonly<Record<string, string>> = {}): KubeObject {
    return plain(CONFIG_MAP, { namespace: this.namespace, name: this.name(), ...metadata }, { data });
  }

  async close(): Promise<void> {
    if (this.#target === undefined) return;
    for (const namespace of this.#namespaces) {
      for (const kind of [LEASE, CONFIG_MAP, POD, SERVICE_ACCOUNT]) await this.#empty(kind, namespace);
      await this.remove(NAMESPACE, { name: namespace });
    }
    for (const name of this.#nodes) await this.remove(NODE, { name });
    await this.cluster.close();
  }

  /** Deletes what may be gone already. */
  async remove(kind: Kind, name: ObjectName): Promise<void> {
    try {
      await this.cluster.delete(kind, name);
    } catch (error) {
      if (!(error instanceof GateError) || error.code !== 'GATE_CLUSTER_NOT_FOUND') throw error;
    }
  }

  async #empty(kind: Kind, namespace: string): Promise<void> {
    for (const { metadata } of (await this.cluster.list(kind, { namespace })).items) {
      await this.remove(kind, { namespace, name: metadata.name ?? '' });
    }
  }
}

/** An object as a person would write it, with no field that a server fills. */
export function plain(
  kind: Kind,
  metadata: ObjectMeta,
  fields: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields };
}

export function nameOf({ metadata }: KubeObject): ObjectName {
  const { name = '', namespace } = metadata;
  return namespace === undefined ? { name } : { namespace, name };
}

export function namesOf(objects: readonly KubeObject[]): (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.name);
}

/** The object with other labels, to be written in its place. */
export function labelled(object: KubeObject, labels: Readonly<Record<string, string>>): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels } };
}

export function heldBy(lease: KubeObject, holderIdentity: string): KubeObject {
  return { ...lease, spec: { holderIdentity } };
}
