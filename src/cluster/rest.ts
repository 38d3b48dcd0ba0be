/** Cluster over the Kubernetes REST API. */
import type { Clock } from '../clock.ts';
import { GateError, quote } from '../errors.ts';
import { isRecord, malformedAnswer, unreachable, type Question } from './answers.ts';
import type {
  AccessQuestion,
  ApplyOptions,
  CallOptions,
  Cluster,
  DeleteOptions,
  ListOptions,
  ObjectName,
  Page,
  ReadOptions,
  SelectOptions,
  ServedResources,
  ServerVersion,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './cluster.ts';
import type { Connection } from './connection.ts';
import { discover } from './discovery.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';
import {
  accessAnswerOf,
  accessReviewOf,
  SUBJECT_ACCESS_REVIEW,
  TOKEN_REVIEW,
  tokenResultOf,
} from './reviews.ts';
import { Transport, type Call, type TransportLimits } from './transport.ts';
import { LineSplitter, parseWatchLine } from './watch-stream.ts';

export interface RestLimits extends TransportLimits {
  /** For one call with its retries. */
  readonly callTimeoutMs: number;
  /** For one page of a list; the API server itself gives up after 60 s. */
  readonly listTimeoutMs: number;
  readonly objectBytes: number;
  readonly pageBytes: number;
}

const CALL_LIMITS: Pick<RestLimits, 'callTimeoutMs' | 'listTimeoutMs' | 'objectBytes' | 'pageBytes'> = {
  callTimeoutMs: 10_000,
  listTimeoutMs: 65_000,
  // etcd refuses objects over 1.5 MiB; their JSON with managedFields may be several times larger.
  objectBytes: 16 * 1024 * 1024,
  pageBytes: 128 * 1024 * 1024,
};

/**
 * Asked of the server: it ends a watch after that, so that load spreads again after one server was away. With the 30 s
 * after which a silent watch is followed by a list (QUIET_MS in watch.ts) it stays below the age at which a store is
 * used no more.
 */
const WATCH_SECONDS = { least: 90, most: 110 } as const;

const PARTIAL_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** No name or namespace is longer (RFC 1123 subdomain), so that nothing needs asking for a longer one. */
const NAME_LENGTH = 253;

export interface RestClusterOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly limits?: Partial<RestLimits>;
  /** From 0 up to 1, for the length of watches. */
  readonly random?: () => number;
}

/** @returns a Cluster that dials at its first call. */
export function createRestCluster(options: RestClusterOptions): Cluster {
  return new RestCluster(options);
}

type ReviewKind = Pick<Kind, 'group' | 'version' | 'resource'>;

class RestCluster implements Cluster {
  readonly #transport: Transport;
  readonly #origin: string;
  readonly #random: () => number;
  readonly #limits: typeof CALL_LIMITS;

  constructor({ connection, clock, limits, random }: RestClusterOptions) {
    this.#transport = new Transport({ connection, clock, ...(limits !== undefined && { limits }) });
    this.#origin = connection.origin;
    this.#random = random ?? Math.random;
    this.#limits = { ...CALL_LIMITS, ...limits };
  }

  async get(kind: Kind, name: ObjectName, options: ReadOptions = {}): Promise<KubeObject | undefined> {
    // Names come out of hostile reviews. An object with an impossible name is absent; asked for, the path would mean
    // something else (an empty name: the list).
    if (!isPossible(kind, name)) return undefined;
    const question = this.#question('read', kind, name);
    try {
      const body = await this.#transport.json({
        ...question,
        ...this.#object(options),
        method: 'GET',
        path: pathOf(kind, name.namespace, name.name),
        ...(options.metadataOnly === true && { accept: PARTIAL_OBJECT }),
        ...exactOf(options),
        repeatable: true,
      });
      const object = adopt(body, kind, question);
      if (!isCalled(object, kind, name)) throw malformedAnswer(question, 'another object');
      return object;
    } catch (error) {
      if (!(error instanceof GateError) || error.code !== 'GATE_CLUSTER_NOT_FOUND') throw error;
      if (error.fields['missing'] === name.name) return undefined;
      // Of something else, such as the namespace in a proxy's answer: that proves nothing about the object.
      throw malformedAnswer(question, 'the absence of something else');
    }
  }

  async list(kind: Kind, options: ListOptions = {}): Promise<Page> {
    const question = this.#question('list', kind, options);
    const query = selectQuery(options);
    if (options.limit !== undefined) query.set('limit', String(options.limit));
    if (options.continueToken !== undefined) query.set('continue', options.continueToken);
    const body = await this.#transport.json({
      ...question,
      method: 'GET',
      path: withQuery(pathOf(kind, options.namespace), query),
      ...(options.metadataOnly === true && { accept: PARTIAL_LIST }),
      ...exactOf(options),
      repeatable: true,
      timeoutMs: this.#limits.listTimeoutMs,
      maxBytes: options.maxBytes ?? this.#limits.pageBytes,
      ...signalOf(options),
    });
    return pageOf(body, kind, question);
  }

  async *watch(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const question = this.#question('watch', kind, options);
    const query = selectQuery(options);
    query.set('watch', '1');
    query.set('allowWatchBookmarks', 'true');
    query.set('resourceVersion', options.resourceVersion);
    const { least, most } = WATCH_SECONDS;
    query.set('timeoutSeconds', String(Math.floor(least + this.#random() * (most - least))));
    const splitter = new LineSplitter(this.#limits.objectBytes);
    const call = {
      ...question,
      method: 'GET' as const,
      path: withQuery(pathOf(kind, options.namespace), query),
      ...(options.metadataOnly === true && { accept: PARTIAL_OBJECT }),
      ...signalOf(options),
    };
    const chunks = this.#transport.stream(call, options.onOpen);
    for await (const chunk of chunks) {
      const lines = splitter.push(chunk);
      if (lines === undefined)
        throw malformedAnswer(question, `a line of more than ${this.#limits.objectBytes} bytes`);
      for (const line of lines) {
        if (line.length === 0) continue;
        yield parseWatchLine(line, question, (value) => adopt(value, kind, question), options.exact);
        // Events of one chunk may be read long after it came: an abort must not wait for them.
        options.signal?.throwIfAborted();
      }
    }
    if (splitter.pendingBytes > 0) throw unreachable(question, new Error('ended in the middle of an event'));
  }

  async create(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    const path = pathOf(kind, this.#writable(kind, object.metadata, false).namespace);
    // A namespace that is not there is named by the refusal.
    const asked = { ...(namespace !== undefined && { namespace }), name: name ?? 'with a generated name' };
    return this.#write('create', 'POST', kind, asked, path, object, options);
  }

  async replace(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const at = this.#writable(kind, object.metadata, true);
    return this.#write('replace', 'PUT', kind, at, pathOf(kind, at.namespace, at.name), object, options);
  }

  async replaceStatus(kind: Kind, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const at = this.#writable(kind, object.metadata, true);
    const path = `${pathOf(kind, at.namespace, at.name)}/status`;
    return this.#write('replace the status of', 'PUT', kind, at, path, object, options);
  }

  async apply(kind: Kind, object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const at = this.#writable(kind, object.metadata, true);
    const question = this.#question('apply', kind, at);
    const query = new URLSearchParams({ fieldManager: options.fieldManager });
    if (options.force === true) query.set('force', 'true');
    if (options.dryRun === true) query.set('dryRun', 'All');
    const body = await this.#transport.json({
      ...question,
      ...this.#object(options),
      method: 'PATCH',
      path: withQuery(pathOf(kind, at.namespace, at.name), query),
      // JSON is YAML; application/apply-patch+json is not known before 1.32.
      contentType: 'application/apply-patch+yaml',
      body: { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind },
      // The same again changes nothing.
      repeatable: true,
    });
    return adopt(body, kind, question);
  }

  async delete(kind: Kind, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const at = this.#writable(kind, name, true);
    await this.#transport.json({
      ...this.#question('delete', kind, at),
      ...this.#object(options),
      method: 'DELETE',
      path: pathOf(kind, at.namespace, at.name),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(options.uid !== undefined && { preconditions: { uid: options.uid } }),
        ...(options.dryRun === true && { dryRun: ['All'] }),
      },
      repeatable: false,
    });
  }

  async reviewToken(
    token: string,
    audiences: readonly string[],
    options: CallOptions = {},
  ): ReturnType<Cluster['reviewToken']> {
    const spec = { token, ...(audiences.length > 0 && { audiences }) };
    const { question, body } = await this.#review(
      'review a token',
      TOKEN_REVIEW,
      'TokenReview',
      spec,
      options,
    );
    return tokenResultOf(body, question, token);
  }

  async reviewAccess(access: AccessQuestion, options: CallOptions = {}): ReturnType<Cluster['reviewAccess']> {
    const { question, body } = await this.#review(
      'review an access',
      SUBJECT_ACCESS_REVIEW,
      'SubjectAccessReview',
      accessReviewOf(access),
      options,
    );
    return accessAnswerOf(body, question);
  }

  async serverVersion(options: CallOptions = {}): Promise<ServerVersion> {
    const question = { what: 'read the version', origin: this.#origin };
    const body = await this.#transport.json({
      ...question,
      ...this.#object(options),
      method: 'GET',
      path: '/version',
      repeatable: true,
    });
    // Some builders write "29+".
    const numberIn = (value: unknown): number => Number.parseInt(typeof value === 'string' ? value : '', 10);
    if (isRecord(body)) {
      const [major, minor, gitVersion] = [
        numberIn(body['major']),
        numberIn(body['minor']),
        body['gitVersion'],
      ];
      if (Number.isSafeInteger(major) && Number.isSafeInteger(minor) && typeof gitVersion === 'string')
        return { major, minor, gitVersion };
    }
    throw malformedAnswer(question, 'a version without major, minor and gitVersion');
  }

  resources(options: CallOptions = {}): Promise<ServedResources> {
    return discover((path, accept) =>
      this.#transport.json({
        what: `read the resources that are served (${path})`,
        origin: this.#origin,
        ...this.#object(options),
        method: 'GET',
        path,
        accept,
        repeatable: true,
      }),
    );
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #write(
    verb: string,
    method: 'POST' | 'PUT',
    kind: Kind,
    name: ObjectName,
    path: string,
    object: KubeObject,
    options: WriteOptions,
  ): Promise<KubeObject> {
    const question = this.#question(verb, kind, name);
    const query = new URLSearchParams();
    if (options.dryRun === true) query.set('dryRun', 'All');
    if (options.fieldManager !== undefined) query.set('fieldManager', options.fieldManager);
    const body = await this.#transport.json({
      ...question,
      ...this.#object(options),
      method,
      path: withQuery(path, query),
      body: { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind },
      // It may have been carried out although the connection broke: whoever asked decides.
      repeatable: false,
    });
    return adopt(body, kind, question);
  }

  async #review(
    what: string,
    kind: ReviewKind,
    kindName: string,
    spec: unknown,
    options: CallOptions,
  ): Promise<{ question: Question; body: unknown }> {
    const question = { what, origin: this.#origin };
    const body = await this.#transport.json({
      ...question,
      ...this.#object(options),
      method: 'POST',
      path: `/apis/${kind.group}/${kind.version}/${kind.resource}`,
      body: { apiVersion: apiVersionOf(kind), kind: kindName, spec },
      // Nothing is stored.
      repeatable: true,
    });
    return { question, body };
  }

  /** @throws GateError GATE_CLUSTER_INVALID for a name that no object can have. */
  #writable(
    kind: Kind,
    { namespace, name }: { readonly namespace?: string; readonly name?: string },
    mustHaveName: boolean,
  ): ObjectName {
    const at = { ...(namespace !== undefined && { namespace }), name: name ?? '' };
    if (!isPossible(kind, mustHaveName || name !== undefined ? at : { ...at, name: 'generated' }))
      throw new GateError(
        'GATE_CLUSTER_INVALID',
        `cannot write ${kind.resource} ${quote(`${namespace ?? ''}/${name ?? ''}`)}: no object can have that namespace and name; set both`,
      );
    return at;
  }

  #question(verb: string, kind: Kind, at: { readonly namespace?: string; readonly name?: string }): Question {
    const where = [at.namespace, at.name].filter((part) => part !== undefined).join('/');
    return {
      what: `${verb} ${kind.resource}${where === '' ? '' : ` ${quote(where)}`}`,
      origin: this.#origin,
      ...(at.name !== undefined && { name: at.name }),
    };
  }

  #object(options: CallOptions): Pick<Call, 'timeoutMs' | 'maxBytes' | 'signal'> {
    return {
      timeoutMs: this.#limits.callTimeoutMs,
      maxBytes: this.#limits.objectBytes,
      ...signalOf(options),
    };
  }
}

function pathOf(kind: ReviewKind, namespace?: string, name?: string): string {
  const group = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${group}${within}/${kind.resource}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function selectQuery(options: SelectOptions): URLSearchParams {
  const query = new URLSearchParams();
  if (options.labelSelector !== undefined) query.set('labelSelector', options.labelSelector);
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector);
  return query;
}

function exactOf({ exact }: ReadOptions): Pick<Call, 'exact'> {
  return exact === true ? { exact } : {};
}

function signalOf(options: CallOptions): { signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

function isPossible(kind: Kind, { namespace, name }: ObjectName): boolean {
  return (
    isSegment(name) &&
    (kind.namespaced ? namespace !== undefined && isSegment(namespace) : namespace === undefined)
  );
}

/** As the API server's IsValidPathSegmentName (k8s.io/apimachinery, pkg/api/validation/path). */
function isSegment(value: string): boolean {
  return (
    value.length > 0 &&
    value.length <= NAME_LENGTH &&
    value !== '.' &&
    value !== '..' &&
    !/[/%]/.test(value) &&
    value.isWellFormed()
  );
}

/** Checks the envelope and gives the object its apiVersion and kind: items of a list do not carry them. */
function adopt(value: unknown, kind: Kind, question: Question): KubeObject {
  if (!isRecord(value) || !isRecord(value['metadata']) || typeof value['metadata']['name'] !== 'string')
    throw malformedAnswer(question, 'an object without metadata.name');
  // Left out in the items of a list. What says that it is another kind proves nothing about ours.
  const { kind: itsKind = kind.kind, apiVersion: itsVersion = apiVersionOf(kind) } = value;
  const isWhole = itsKind === kind.kind && itsVersion === apiVersionOf(kind);
  if (!isWhole && !(itsKind === 'PartialObjectMetadata' && itsVersion === 'meta.k8s.io/v1'))
    throw malformedAnswer(question, 'an object of another kind');
  value['apiVersion'] = apiVersionOf(kind);
  value['kind'] = kind.kind;
  return value as unknown as KubeObject;
}

function isCalled({ metadata }: KubeObject, kind: Kind, name: ObjectName): boolean {
  return metadata.name === name.name && (!kind.namespaced || metadata.namespace === name.namespace);
}

function pageOf(body: unknown, kind: Kind, question: Question): Page {
  const metadata = isRecord(body) ? body['metadata'] : undefined;
  // An empty list may be null: Go writes an absent slice so.
  const items = isRecord(body) ? (body['items'] ?? []) : undefined;
  if (!isRecord(metadata) || typeof metadata['resourceVersion'] !== 'string' || !Array.isArray(items))
    throw malformedAnswer(question, 'a list without metadata.resourceVersion and items');
  const token = metadata['continue'];
  return {
    items: items.map((item: unknown) => adopt(item, kind, question)),
    resourceVersion: metadata['resourceVersion'],
    ...(typeof token === 'string' && token !== '' && { continueToken: token }),
  };
}
