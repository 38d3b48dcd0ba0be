/**
 * The one door to Kubernetes. Every implementation (rest.ts, memory.ts, and memory.ts fed by directory.ts) passes
 * the same conformance suite, test/cluster/conformance.ts (design decision 11).
 *
 * Errors are GateErrors with a `GATE_CLUSTER_*` code: NOT_FOUND, EXISTS, CONFLICT, INVALID, FORBIDDEN, UNAUTHORIZED,
 * GONE (HTTP 410, a resourceVersion or continue token that is too old), THROTTLED (429), UNREACHABLE (no usable
 * answer: network, TLS, 5xx), ANSWER (an answer that is not what was asked for). An abort rejects with the signal's
 * own reason.
 */
import type { GateError } from '../errors.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject, UserInfo } from './objects.ts';

export interface ObjectName {
  /** Left out for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** Ask for metadata alone (PartialObjectMetadata): nothing but `metadata` is to be relied on then. */
  readonly metadataOnly?: boolean;
  /**
   * Every number as it is stored: integers beyond 2^53 as bigint (json.ts). Left out: they may come rounded, which is
   * cheaper to read.
   */
  readonly exact?: boolean;
}

export interface SelectOptions extends ReadOptions {
  /** Left out: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** `metadata.name=…` and `metadata.namespace=…` everywhere; others as the kind allows. */
  readonly fieldSelector?: string;
}

export interface ListOptions extends SelectOptions {
  /** Page size; the server may return fewer. Left out: everything in one page. */
  readonly limit?: number;
  /** From the page before. */
  readonly continueToken?: string;
  /** Of the answer, where one comes over the network: a larger one is GATE_CLUSTER_ANSWER. Left out: what a page may be. */
  readonly maxBytes?: number;
}

export interface Page {
  readonly items: readonly KubeObject[];
  /** Of the list; where a watch starts. */
  readonly resourceVersion: string;
  /** Undefined on the last page. */
  readonly continueToken?: string;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface WatchOptions extends SelectOptions {
  /** Events after this version are sent. */
  readonly resourceVersion: string;
  /** Called once the watch is taken: it may be a minute until there is an event. */
  readonly onOpen?: () => void;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Takes over the fields of other managers; else they are refused with GATE_CLUSTER_CONFLICT. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  /** Delete only this very object. */
  readonly uid?: string;
}

/** `status` of a TokenReview. */
export interface TokenReviewResult {
  readonly authenticated: boolean;
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  readonly error?: string;
}

export interface AccessSelector {
  readonly requirements: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
}

export interface AccessQuestion {
  readonly user: UserInfo;
  readonly resource?: {
    readonly verb: string;
    readonly group: string;
    readonly version?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    /** Only what they select is asked for; API servers before 1.31 do not read them. */
    readonly fieldSelector?: AccessSelector;
    readonly labelSelector?: AccessSelector;
  };
  /** Instead of `resource`: a path that is no resource, such as `/metrics`. */
  readonly nonResource?: { readonly verb: string; readonly path: string };
}

/** `status` of a SubjectAccessReview. */
export interface AccessAnswer {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
  readonly evaluationError?: string;
}

/** One resource that the API server serves, as its discovery says. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  /** With its subresource, as in `pods/status`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface ServedResources {
  readonly resources: readonly ServedResource[];
  /** `group/version` of aggregated servers that did not answer: what they serve is not known. */
  readonly unknown: readonly string[];
}

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly gitVersion: string;
}

export interface Cluster {
  /** @returns undefined where the object does not exist. */
  get(kind: Kind, name: ObjectName, options?: ReadOptions): Promise<KubeObject | undefined>;
  list(kind: Kind, options?: ListOptions): Promise<Page>;
  /**
   * One watch connection: ends when the server ends it, throws when it breaks (GATE_CLUSTER_GONE: list again).
   * Bookmarks are asked for. watch.ts keeps one going for good.
   */
  watch(kind: Kind, options: WatchOptions): AsyncIterable<WatchEvent>;
  create(kind: Kind, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** PUT: with `metadata.resourceVersion` set, refused with GATE_CLUSTER_CONFLICT when the object moved on. */
  replace(kind: Kind, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** PUT of `/status`: nothing but `status` changes. */
  replaceStatus(kind: Kind, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /**
   * Server-side apply: what the object says is set and owned by the field manager, what the manager applied before and
   * says no more is removed, all else stays. Creates the object where there is none, but for one with `metadata.uid`
   * or `resourceVersion`, which is refused with GATE_CLUSTER_CONFLICT or NOT_FOUND then. Nothing is written where
   * nothing changes.
   */
  apply(kind: Kind, object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  delete(kind: Kind, name: ObjectName, options?: DeleteOptions): Promise<void>;
  reviewToken(token: string, audiences: readonly string[], options?: CallOptions): Promise<TokenReviewResult>;
  reviewAccess(question: AccessQuestion, options?: CallOptions): Promise<AccessAnswer>;
  serverVersion(options?: CallOptions): Promise<ServerVersion>;
  /** Discovery. */
  resources(options?: CallOptions): Promise<ServedResources>;
  /** Why a list of the kind may lack objects just now, as one of files may. Left out: it never does. */
  doubt?(kind: Kind): GateError | undefined;
  /** Ends connections and file watches. */
  close(): Promise<void>;
}

export interface DecisionReadOptions extends CallOptions {
  /**
   * Whether a kept copy is enough; one that is not is read again from the API server. Left out: every copy is enough.
   * For what a decision would refuse on: a watch may be interrupted for minutes.
   */
  readonly settles?: (copy: KubeObject) => boolean;
  /**
   * All of the object, every number exact: for expressions, which may read any of it. Left out: what a watch keeps of
   * it is enough.
   */
  readonly whole?: boolean;
}

/** What a decision selects by: never across namespaces where the kind has them. */
export interface Selection {
  /** Left out for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/**
 * How decisions read: through the watch-fed cache or by one live GET (design decision 12). Made by cache.ts; a reader
 * for one request also remembers what it has read, so that a decision never sees two versions of one object.
 */
export interface Reader {
  /**
   * @returns undefined where the object does not exist.
   * @throws GateError GATE_UNSYNCED where absence cannot be told, and as Cluster.get.
   */
  get(kind: Kind, name: ObjectName, options: DecisionReadOptions): Promise<KubeObject | undefined>;
  /**
   * Whole objects, in no order. Cached: of a watch alone, never asked for now. Live: one list, of so many at most.
   *
   * @throws GateError GATE_UNSYNCED where no watch can tell, GATE_TOO_MANY_OBJECTS for more than one list may bring,
   *   and as Cluster.list.
   */
  list(kind: Kind, selection: Selection, options: CallOptions): Promise<readonly KubeObject[]>;
}
