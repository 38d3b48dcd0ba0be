/**
 * A cluster in memory: the tests' fake, the embedded default, and what directory.ts feeds. It answers as an API server
 * does where the Cluster interface touches it. It is a store and nothing more: no controller runs (a deleted Namespace
 * leaves its contents, owners do not collect their dependants), nothing is defaulted or validated by schema, and
 * nobody is refused by admission or RBAC.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import type {
  AccessAnswer,
  AccessQuestion,
  ApplyOptions,
  CallOptions,
  Cluster,
  DeleteOptions,
  ListOptions,
  ObjectName,
  Page,
  ReadOptions,
  ServedResource,
  ServedResources,
  ServerVersion,
  TokenReviewResult,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './cluster.ts';
import { checkEnvelope, checkName, checkNamespace } from './envelope.ts';
import { frozenCopy } from './frozen.ts';
import type { Kind } from './kinds.ts';
import { apiVersionOf } from './kinds.ts';
import { appliedTo, keepingManaged } from './memory-apply.ts';
import type { MemoryControls, Verb } from './memory-controls.ts';
import { CallGate } from './memory-controls.ts';
import { pageOf, selectionOf } from './memory-pages.ts';
import type { Change } from './memory-store.ts';
import { KindStore, keyOf } from './memory-store.ts';
import { MemoryWatch } from './memory-watch.ts';
import {
  checkPreconditions,
  conflict,
  createsOnUpdate,
  creationOf,
  describe,
  generatedName,
  invalid,
  isEmpty,
  isSet,
  nameOf,
  notFound,
  replacementOf,
  setFieldsOf,
  unreachable,
  withDefaults,
  withGeneration,
} from './memory-writes.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';
import type { Predicate } from './selectors.ts';

/** Changes remembered for each kind; a watch or a page from before them is GATE_CLUSTER_GONE. */
const HISTORY_LENGTH = 4096;

/** What a memory cluster says it is when nobody chose: the environment that policies are written for (decision 21). */
const DEFAULT_VERSION: ServerVersion = { major: 1, minor: 36, gitVersion: 'v1.36.0+memory' };

/** One write, on its way in. */
export interface AdmittedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  readonly subresource?: 'status';
  /** Of a deletion, what is deleted. */
  readonly object: KubeObject;
  readonly dryRun: boolean;
}

export interface MemoryClusterOptions {
  readonly clock: Clock;
  readonly version?: ServerVersion;
  /** Left out: no token is known. */
  readonly reviewToken?: (token: string, audiences: readonly string[]) => TokenReviewResult;
  /** Left out: nothing is allowed. */
  readonly reviewAccess?: (question: AccessQuestion) => AccessAnswer;
  /**
   * Asked where an object is not there, and without a name where a list may lack some: an error says that nobody can
   * know. Left out: what is not there is absent.
   */
  readonly doubtAbsence?: (kind: Kind, name?: ObjectName) => GateError | undefined;
  /** Asked before each write, dry runs included, with the object as it was given: what it throws refuses it. */
  readonly admit?: (write: AdmittedWrite) => void;
  /** What discovery says. Left out: every kind that was ever asked for. */
  readonly served?: readonly ServedResource[];
  /** Changes remembered for each kind. */
  readonly historyLength?: number;
  /** Called once by close(), for what feeds the cluster. */
  readonly onClose?: () => void | Promise<void>;
}

/** A Cluster, and a hand on it from behind: what feeds it, and what tests turn. */
export interface MemoryCluster extends Cluster, MemoryControls {
  /**
   * Puts an object in or in place of the one of its name, as a restored backup would: uid, creationTimestamp,
   * deletionTimestamp, finalizers and status are kept as given. An object that is the same already keeps its
   * resourceVersion; one with another uid replaces the old one by a deletion and an addition.
   * @throws GateError GATE_CLUSTER_INVALID
   */
  load(kind: Kind, object: KubeObject): KubeObject;
  /** Takes an object out, whatever its finalizers say. @returns false where there was none. */
  unload(kind: Kind, name: ObjectName): boolean;
}

export function createMemoryCluster(options: MemoryClusterOptions): MemoryCluster {
  return new InMemoryCluster(options);
}

class InMemoryCluster implements MemoryCluster {
  readonly #options: MemoryClusterOptions;
  readonly #stores = new Map<string, KindStore>();
  readonly #kinds = new Map<string, Kind>();
  readonly #gate = new CallGate();
  readonly #frozen = new WeakSet<object>();
  #version = 1;
  #compacted = 0;

  constructor(options: MemoryClusterOptions) {
    this.#options = options;
  }

  async get(kind: Kind, name: ObjectName, options: ReadOptions = {}): Promise<KubeObject | undefined> {
    await this.#gate.enter('get', kind, options.signal);
    const object = this.#store(kind).get(keyOf(name.namespace, name.name));
    if (object !== undefined) return this.#presenter(kind, options)(object);
    const doubt = this.#options.doubtAbsence?.(kind, name);
    if (doubt !== undefined) throw doubt;
    return undefined;
  }

  async list(kind: Kind, options: ListOptions = {}): Promise<Page> {
    await this.#gate.enter('list', kind, options.signal);
    const page = pageOf(this.#store(kind), kind, this.#version, options);
    return { ...page, items: page.items.map(this.#presenter(kind, options)) };
  }

  doubt(kind: Kind): GateError | undefined {
    return this.#options.doubtAbsence?.(kind);
  }

  watch(kind: Kind, options: WatchOptions): AsyncIterable<WatchEvent> {
    const store = this.#store(kind);
    let accepts: Predicate = () => true;
    return new MemoryWatch({
      clock: this.#options.clock,
      ...(options.signal !== undefined && { signal: options.signal }),
      accepts: (object) => accepts(object),
      present: this.#presenter(kind, options),
      version: () => this.#version,
      closed: (watch) => void store.watches.delete(watch),
      open: (watch) => {
        this.#gate.enterNow('watch', kind);
        accepts = selectionOf(kind, options);
        store.watches.add(watch);
        this.#replay(store, options.resourceVersion, watch);
        options.onOpen?.();
      },
    });
  }

  async create(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    await this.#gate.enter('create', kind, options.signal);
    checkEnvelope(kind, object);
    if (isSet(object.metadata.resourceVersion)) {
      throw invalid('metadata.resourceVersion: an object to be created has none yet; leave it out');
    }
    const store = this.#store(kind);
    const name = this.#nameFor(kind, store, object.metadata);
    const key = keyOf(object.metadata.namespace, name);
    if (store.get(key) !== undefined) {
      throw new GateError(
        'GATE_CLUSTER_EXISTS',
        `create ${describe(kind, key)}: an object of this name exists already; replace it or choose another name`,
      );
    }
    return this.#insert(kind, key, { ...object, metadata: { ...object.metadata, name } }, options);
  }

  async replace(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    await this.#gate.enter('replace', kind, options.signal);
    checkEnvelope(kind, object);
    const key = keyOf(object.metadata.namespace, nameOf(object));
    const current = this.#store(kind).get(key);
    if (current === undefined) {
      if (!createsOnUpdate(kind) || isSet(object.metadata.resourceVersion))
        throw notFound('replace', kind, key);
      checkName(kind, nameOf(object));
      return this.#insert(kind, key, object, options);
    }
    checkPreconditions('replace', kind, key, object.metadata, current);
    this.#admit('UPDATE', kind, object, options);
    const next = keepingManaged(current, replacementOf(kind, object, current));
    if (current.metadata.deletionTimestamp !== undefined && isEmpty(next.metadata.finalizers)) {
      if (options.dryRun !== true) this.#remove(kind, key, current);
      return frozenCopy(next, this.#frozen);
    }
    return this.#update(kind, key, next, current, options);
  }

  async replaceStatus(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    await this.#gate.enter('replaceStatus', kind, options.signal);
    checkEnvelope(kind, object);
    const key = keyOf(object.metadata.namespace, nameOf(object));
    const current = this.#store(kind).get(key);
    if (current === undefined) throw notFound('replace the status of', kind, key);
    checkPreconditions('replace the status of', kind, key, object.metadata, current);
    this.#admit('UPDATE', kind, object, options, 'status');
    return this.#update(kind, key, { ...current, status: object['status'] }, current, options);
  }

  async apply(kind: Kind, object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    await this.#gate.enter('apply', kind, options.signal);
    checkEnvelope(kind, object);
    const { uid, resourceVersion } = object.metadata;
    const key = keyOf(object.metadata.namespace, nameOf(object));
    const current = this.#store(kind).get(key);
    if (current === undefined && (isSet(uid) || isSet(resourceVersion)))
      throw conflict('apply', kind, key, 'there is no such object');
    if (current === undefined) checkName(kind, nameOf(object));
    else if (isSet(resourceVersion)) checkPreconditions('apply', kind, key, object.metadata, current);
    else if (isSet(uid) && uid !== current.metadata.uid)
      throw invalid('metadata.uid: the object has another one; read it again');
    const { fieldManager: manager, force = false } = options;
    const next = appliedTo(current, object, { kind, key, manager, force });
    if (current === undefined) return this.#insert(kind, key, next, options);
    this.#admit('UPDATE', kind, next, options);
    return this.#update(kind, key, withGeneration(kind, next, current), current, options);
  }

  async delete(kind: Kind, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    await this.#gate.enter('delete', kind, options.signal);
    checkNamespace(kind, name.namespace);
    const key = keyOf(name.namespace, name.name);
    const current = this.#store(kind).get(key);
    if (current === undefined) throw notFound('delete', kind, key);
    if (options.uid !== undefined && options.uid !== current.metadata.uid) {
      throw conflict('delete', kind, key, 'it has another uid');
    }
    this.#admit('DELETE', kind, current, options);
    if (options.dryRun === true) return;
    if (isEmpty(current.metadata.finalizers)) {
      this.#remove(kind, key, current);
    } else if (current.metadata.deletionTimestamp === undefined) {
      const metadata = {
        ...current.metadata,
        deletionTimestamp: this.#timestamp(),
        deletionGracePeriodSeconds: 0,
      };
      this.#commit(kind, 'MODIFIED', key, { ...current, metadata }, current);
    }
  }

  async reviewToken(
    token: string,
    audiences: readonly string[],
    options: CallOptions = {},
  ): Promise<TokenReviewResult> {
    await this.#gate.enter('reviewToken', undefined, options.signal);
    const unknown = { authenticated: false, user: {}, audiences: [], error: 'this cluster knows no tokens' };
    return this.#options.reviewToken?.(token, audiences) ?? unknown;
  }

  async reviewAccess(question: AccessQuestion, options: CallOptions = {}): Promise<AccessAnswer> {
    await this.#gate.enter('reviewAccess', undefined, options.signal);
    const nothing = { allowed: false, denied: false, reason: 'this cluster has no authorizer' };
    return this.#options.reviewAccess?.(question) ?? nothing;
  }

  async serverVersion(options: CallOptions = {}): Promise<ServerVersion> {
    await this.#gate.enter('serverVersion', undefined, options.signal);
    return this.#options.version ?? DEFAULT_VERSION;
  }

  async resources(options: CallOptions = {}): Promise<ServedResources> {
    await this.#gate.enter('resources', undefined, options.signal);
    return { resources: this.#options.served ?? [...this.#kinds.values()].map(servedAs), unknown: [] };
  }

  async close(): Promise<void> {
    if (this.#gate.close()) await this.#options.onClose?.();
    this.endWatches();
  }

  load(kind: Kind, object: KubeObject): KubeObject {
    checkEnvelope(kind, object);
    const name = nameOf(object);
    checkName(kind, name);
    const key = keyOf(object.metadata.namespace, name);
    let current = this.#store(kind).get(key);
    if (current !== undefined && isSet(object.metadata.uid) && object.metadata.uid !== current.metadata.uid) {
      this.#remove(kind, key, current);
      current = undefined;
    }
    const { resourceVersion: _ignored, ...given } = setFieldsOf(object.metadata);
    const metadata = { ...this.#systemFields(current), ...given };
    const next = withDefaults(kind, { ...object, metadata });
    if (current === undefined) return this.#commit(kind, 'ADDED', key, withGeneration(kind, next, undefined));
    return this.#update(kind, key, withGeneration(kind, next, current), current, {});
  }

  unload(kind: Kind, name: ObjectName): boolean {
    const key = keyOf(name.namespace, name.name);
    const current = this.#store(kind).get(key);
    if (current !== undefined) this.#remove(kind, key, current);
    return current !== undefined;
  }

  breakWatches(error: Error = unreachable()): void {
    for (const watch of this.#openWatches()) watch.finish({ error });
  }

  endWatches(): void {
    for (const watch of this.#openWatches()) watch.finish({});
  }

  get watches(): number {
    return this.#openWatches().length;
  }

  refuseCalls(error: Error = unreachable(), verbs?: readonly Verb[]): () => void {
    return this.#gate.refuse(error, verbs);
  }

  holdCalls(verbs?: readonly Verb[]): () => void {
    return this.#gate.hold(verbs);
  }

  calls(verb: Verb, kind?: Kind): number {
    return this.#gate.calls(verb, kind);
  }

  advanceVersion(by = 1): string {
    this.#version += by;
    return String(this.#version);
  }

  compactHistory(): void {
    this.#compacted = this.#version;
    for (const store of this.#stores.values()) store.forgetUpTo(this.#compacted);
  }

  #openWatches(): MemoryWatch[] {
    return this.#stores
      .values()
      .flatMap((store) => store.watches)
      .toArray();
  }

  /** @throws GateError GATE_CLUSTER_GONE where something after this version is forgotten. */
  #replay(store: KindStore, resourceVersion: string, watch: MemoryWatch): void {
    if (!/^\d*$/.test(resourceVersion)) {
      throw invalid('resourceVersion: a version that a list or an event returned is needed');
    }
    const version = Number(resourceVersion);
    // As an API server does: without a version, or with 0, everything that exists is sent first.
    const changes = version === 0 ? this.#everything(store) : store.changesAfter(version);
    if (changes === undefined) {
      throw new GateError('GATE_CLUSTER_GONE', `watch from ${resourceVersion}: too old; list again`);
    }
    for (const change of changes) watch.offer(change);
  }

  #everything(store: KindStore): Change[] {
    const { objects, keys } = store.now();
    return keys.flatMap((key) => {
      const object = objects.get(key);
      return object === undefined ? [] : [{ version: this.#version, type: 'ADDED' as const, key, object }];
    });
  }

  #admit(
    operation: AdmittedWrite['operation'],
    kind: Kind,
    object: KubeObject,
    { dryRun = false }: Pick<WriteOptions, 'dryRun'>,
    subresource?: 'status',
  ): void {
    const part = subresource === undefined ? {} : { subresource };
    this.#options.admit?.({ operation, kind, object, dryRun, ...part });
  }

  #insert(kind: Kind, key: string, object: KubeObject, options: WriteOptions): KubeObject {
    this.#admit('CREATE', kind, object, options);
    const made = creationOf(kind, object);
    const metadata = { ...made.metadata, ...this.#systemFields(undefined) };
    const next = withGeneration(kind, { ...made, metadata }, undefined);
    if (options.dryRun === true) return frozenCopy(next, this.#frozen);
    return this.#commit(kind, 'ADDED', key, next);
  }

  /** @returns the object as it is then: the stored one, untouched, where nothing changes. */
  #update(kind: Kind, key: string, next: KubeObject, current: KubeObject, options: WriteOptions): KubeObject {
    const { resourceVersion = '' } = current.metadata;
    const candidate = frozenCopy({ ...next, metadata: { ...next.metadata, resourceVersion } }, this.#frozen);
    if (isDeepStrictEqual(candidate, current)) return current;
    return options.dryRun === true ? candidate : this.#commit(kind, 'MODIFIED', key, candidate, current);
  }

  #remove(kind: Kind, key: string, current: KubeObject): void {
    this.#commit(kind, 'DELETED', key, current, current);
  }

  #commit(
    kind: Kind,
    type: Change['type'],
    key: string,
    next: KubeObject,
    previous?: KubeObject,
  ): KubeObject {
    this.#version += 1;
    const metadata = { ...next.metadata, resourceVersion: String(this.#version) };
    const object = frozenCopy({ ...next, metadata }, this.#frozen);
    const before = previous === undefined ? {} : { previous };
    this.#store(kind).apply({ version: this.#version, type, key, object, ...before });
    return object;
  }

  #store(kind: Kind): KindStore {
    // By kind and not by resource: a plural may be guessed (directory.ts), and versions share their objects.
    const name = `${kind.group}/${kind.kind}`;
    let store = this.#stores.get(name);
    if (store === undefined) {
      store = new KindStore(this.#options.historyLength ?? HISTORY_LENGTH, this.#compacted);
      this.#stores.set(name, store);
      this.#kinds.set(name, kind);
    }
    return store;
  }

  /** Objects are converted between versions as custom resources without a conversion webhook are: by name alone. */
  #presenter(kind: Kind, options: ReadOptions): (object: KubeObject) => KubeObject {
    const apiVersion = apiVersionOf(kind);
    if (options.metadataOnly === true) {
      return ({ metadata }) =>
        Object.freeze({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata });
    }
    return (object) => (object.apiVersion === apiVersion ? object : Object.freeze({ ...object, apiVersion }));
  }

  #systemFields(current: KubeObject | undefined): Pick<ObjectMeta, 'uid' | 'creationTimestamp'> {
    return {
      uid: current?.metadata.uid ?? randomUUID(),
      creationTimestamp: current?.metadata.creationTimestamp ?? this.#timestamp(),
    };
  }

  /** Whole seconds, as metav1.Time. */
  #timestamp(): string {
    return new Date(this.#options.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  #nameFor(kind: Kind, store: KindStore, { name, generateName, namespace }: ObjectMeta): string {
    if (isSet(name)) {
      checkName(kind, name);
      return name;
    }
    if (!isSet(generateName)) throw invalid(`metadata.name: ${kind.kind} needs a name or a generateName`);
    for (;;) {
      const generated = generatedName(generateName);
      checkName(kind, generated);
      if (store.get(keyOf(namespace, generated)) === undefined) return generated;
    }
  }
}

function servedAs({ group, version, kind, resource, namespaced }: Kind): ServedResource {
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
  return { group, version, kind, resource, namespaced, verbs };
}
