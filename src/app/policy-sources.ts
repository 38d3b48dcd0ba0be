/** The policies that the configuration names, wherever they come from, as they are just now. */
import { CatchUp } from './catch-up.ts';
import { ConfigMapPolicies, type ConfigMapProblem } from './policy-config-maps.ts';
import { listPolicies, watchPolicies, type FeedCluster, type PolicyFeed } from './policy-feeds.ts';
import { readPolicyFiles } from './policy-files.ts';
import { policyNamespaces } from './policy-settings.ts';
import type { WatchParts } from './watch.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError, quote } from '../errors.ts';
import type { WatchFacts } from '../metrics.ts';
import type { Read } from '../policies/vap/read.ts';
import {
  collectPolicies,
  sourceText,
  type SourcedObject,
  type SourcedPolicies,
} from '../policies/vap/sources.ts';
import type { Binding, Policy } from '../policies/vap/types.ts';
import { findParamKind, paramKindOf } from '../webhooks/param-kinds.ts';

export interface PolicySources {
  /**
   * What is in force; another value after each change. Before `unsynced` is undefined it is a part of it, which nothing
   * may be enforced or removed by.
   */
  current(): SourcedPolicies;
  /** @returns what ends it. The listener puts a key in a queue and returns. */
  onChange(listener: () => void): () => void;
  /** For readiness: what has not been read once yet. */
  unsynced(): string | undefined;
  /** Sources whose content is not known just now: nothing may be removed because of them. */
  incomplete(): readonly string[];
  /** What is wrong in ConfigMaps that are not read whole, by their number; `current` tells of the rest. */
  faults(): number;
  /** Why what is in force cannot be told just now: the failure policies decide then (design decision 13). */
  doubt(): GateError | undefined;
  /** For the metrics. */
  watches(): readonly WatchFacts[];
  /**
   * With `state: live`: lists again where the last list is older than 30 s. With watches there is nothing to do.
   *
   * @returns undefined where nothing is to be waited for; never rejects
   */
  fresh(): Promise<void> | undefined;
  close(): Promise<void>;
}

export interface PolicySourceParts extends WatchParts {
  /** Undefined where there is none. */
  readonly cluster: FeedCluster | undefined;
}

/**
 * Reads the files, and begins to follow the cluster.
 *
 * @throws GateError GATE_POLICY_FILE as readPolicyFiles; GATE_CONFIG_INVALID for sources without a cluster or namespace
 */
export async function openPolicySources(
  config: Pick<Config, 'policies' | 'state' | 'environment'>,
  parts: PolicySourceParts,
): Promise<PolicySources> {
  const { files, directory, sources, paramKinds } = config.policies;
  const namespaces = policyNamespaces(config);
  const { cluster } = parts;
  if (sources.length > 0 && cluster === undefined) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `policies.sources: ${sources.join(' and ')} are read from a cluster, and there is none; set cluster.source, cluster.kubeconfig or cluster.directory`,
    );
  }
  const kinds = paramKinds.map(paramKindOf);
  const followed = new FollowedPolicies(await readPolicyFiles(files, directory), parts, {
    allowsParamKind: (kind) => findParamKind(kinds, kind) !== undefined,
  });
  const feed = config.state === 'live' ? listPolicies : watchPolicies;
  if (cluster !== undefined && sources.length > 0) {
    const selection = { customResources: sources.includes('customResources'), namespaces };
    followed.follow(feed(selection, cluster, parts, () => followed.wake()));
  }
  await followed.begin();
  return followed;
}

interface Settings {
  readonly allowsParamKind: (kind: { readonly apiVersion: string; readonly kind: string }) => boolean;
}

class FollowedPolicies implements PolicySources {
  readonly #ofFiles: readonly SourcedObject[];
  readonly #parts: WatchParts;
  readonly #settings: Settings;
  readonly #catchUp: CatchUp;
  readonly #maps = new ConfigMapPolicies();
  readonly #known = new WeakMap<KubeObject, Read<Policy> | Read<Binding>>();
  readonly #listeners = new Set<() => void>();
  #feed: PolicyFeed | undefined;
  #current: SourcedPolicies = { policies: [], bindings: [], problems: [] };
  #mapProblems: readonly ConfigMapProblem[] = [];
  /** Everything was read once, and is in `current`. */
  #isWhole = false;

  constructor(ofFiles: readonly SourcedObject[], parts: WatchParts, settings: Settings) {
    this.#ofFiles = ofFiles;
    this.#parts = parts;
    this.#settings = settings;
    this.#catchUp = new CatchUp(
      () => this.#collect(),
      (error) => parts.log.error('policies not collected', { err: error }),
    );
  }

  follow(feed: PolicyFeed): void {
    this.#feed = feed;
  }

  /** What is known at once. */
  async begin(): Promise<void> {
    await this.#feed?.refresh();
    this.wake();
    await this.#catchUp.settled();
  }

  current(): SourcedPolicies {
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    // Whoever listens twice is told twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  unsynced(): string | undefined {
    if (this.#isWhole) return undefined;
    return this.#feed?.unsynced() ?? 'policies are not read yet';
  }

  incomplete(): readonly string[] {
    const unreadable = this.#current.problems.filter(({ cause }) => cause === 'unreadable');
    return [
      ...new Set([
        ...(this.#feed?.incomplete() ?? []),
        ...this.#mapProblems.map(({ namespace, name }) => `ConfigMap ${quote(`${namespace}/${name}`)}`),
        ...unreadable.map(({ kind, name, source }) => `${kind} ${quote(name)} of ${sourceText(source)}`),
      ]),
    ];
  }

  faults(): number {
    return this.#mapProblems.length;
  }

  doubt(): GateError | undefined {
    return this.#feed?.doubt();
  }

  watches(): readonly WatchFacts[] {
    return this.#feed?.watches() ?? [];
  }

  fresh(): Promise<void> | undefined {
    const refreshing = this.#feed?.refresh();
    return refreshing?.then(() => this.#catchUp.settled());
  }

  async close(): Promise<void> {
    const closed = this.#catchUp.close();
    await this.#feed?.close();
    await closed;
  }

  /** Something changed. */
  wake(): void {
    this.#catchUp.wake();
  }

  async #collect(): Promise<void> {
    const isWhole = this.#feed === undefined || this.#feed.unsynced() === undefined;
    const { customResources, configMaps } = this.#feed?.objects() ?? { customResources: [], configMaps: [] };
    const reading = await this.#maps.read(configMaps);
    this.#sayNew(reading.problems);
    this.#mapProblems = reading.problems;
    this.#current = collectPolicies(
      [
        ...this.#ofFiles,
        ...customResources.map((object) => ({ object, source: { source: 'customResource' } as const })),
        ...reading.objects,
      ],
      { ...this.#settings, known: this.#known },
    );
    this.#isWhole ||= isWhole;
    for (const listener of this.#listeners) listener();
  }

  #sayNew(problems: readonly ConfigMapProblem[]): void {
    const said = new Set(this.#mapProblems.map(textOf));
    for (const problem of problems) {
      if (said.has(textOf(problem))) continue;
      const { namespace, name, message } = problem;
      this.#parts.log.warn('policies of a ConfigMap not read whole', {
        kind: 'ConfigMap',
        namespace,
        name,
        err: new GateError('GATE_POLICY_INVALID', `${message}; its last good objects stay in force`),
      });
    }
  }
}

function textOf({ namespace, name, message }: ConfigMapProblem): string {
  return `${namespace}/${name} ${message}`;
}
