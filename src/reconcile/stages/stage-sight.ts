/** What the gate keeper sees: its own kinds, verdicts, and what Flux has; who reads what is woken by it (delivery.md §3.5). */
import type { Clock } from '../../clock.ts';
import type { Cluster, ObjectName } from '../../cluster/cluster.ts';
import {
  APPROVAL,
  CONFIG_MAP,
  GIT_REPOSITORY,
  HELM_RELEASE,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  OPERATION,
  PACTO,
  STAGE,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { createReflector, type Reflector, type ReflectorReport } from '../../cluster/watch.ts';
import { DELIVERY_CONFIGURATION } from '../../policies/delivery/entries.ts';
import { POINTERS_ENTRY } from '../../policies/delivery/entry-names.ts';
import { loadPolicy, NO_POLICY } from '../../policies/delivery/loaded-policy.ts';
import { IDENTITY_POLICY, STAGE_LABEL } from '../../policies/delivery/names.ts';
import { parentOf } from '../../policies/delivery/parent.ts';
import { sourceRefOf } from '../../policies/delivery/pending.ts';
import { pinOf } from '../../policies/delivery/pin.ts';
import { readStage } from '../../policies/delivery/read-stage.ts';
import type { Stage, StagePointer } from '../../policies/delivery/stage.ts';
import { worldOf } from '../../policies/delivery/world-of.ts';
import type { GateWorld, LoadedPolicy } from '../../policies/delivery/world.ts';
import { at } from '../../policies/identity/foreign.ts';
import type { GateEvaluation, StageGates, StageKey, StageView } from './gates.ts';
import { candidateFor, evaluateStage, type Sighted } from './stage-status.ts';

export interface StageSightOptions {
  readonly cluster: Pick<Cluster, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Of the identity policy. */
  readonly identityNamespace: string;
  readonly stabilizationMs: number;
  readonly sha256: (text: string) => string;
  readonly report: (kind: Kind, report: ReflectorReport) => void;
  /** Whether a kind is not served: then there is nothing of it. */
  readonly isMissing: (kind: Kind) => boolean;
  /** Whether somebody renews the Lease by which the keeper writes. */
  readonly keeperAlive: () => boolean;
  readonly onWake: (key: StageKey) => void;
}

const EVERYWHERE: readonly Kind[] = [
  STAGE,
  OPERATION,
  APPROVAL,
  PACTO,
  OCI_REPOSITORY,
  GIT_REPOSITORY,
  KUSTOMIZATION,
  HELM_RELEASE,
];
/** What wakes every Stage. */
const OF_ALL = '*';

export class StageSight implements StageGates {
  readonly #options: StageSightOptions;
  readonly #reflectors = new Map<Kind, Reflector[]>();
  /** Labelled ConfigMaps, apart from the one with the identity policy. */
  readonly #maps: Reflector[] = [];
  readonly #others: Reflector[] = [];
  /** Who has read what, by the last look at each Stage. */
  readonly #readers = new Map<string, Set<string>>();
  readonly #reads = new Map<string, readonly string[]>();
  #policy: LoadedPolicy = NO_POLICY;
  /** Undefined until the webhook configuration was seen, or where it may not be. */
  #isRegistered: boolean | undefined;

  constructor(options: StageSightOptions) {
    this.#options = options;
    const namespaces = options.namespaces.length === 0 ? [undefined] : options.namespaces;
    for (const kind of EVERYWHERE)
      this.#reflectors.set(
        kind,
        namespaces.map((namespace) => this.#reflector(kind, namespace === undefined ? {} : { namespace })),
      );
    for (const namespace of namespaces)
      this.#maps.push(
        this.#reflector(CONFIG_MAP, {
          labelSelector: STAGE_LABEL,
          ...(namespace === undefined ? {} : { namespace }),
        }),
      );
    const named = (name: string): { readonly fieldSelector: string } => ({
      fieldSelector: `metadata.name=${name}`,
    });
    this.#others.push(
      this.#reflector(
        CONFIG_MAP,
        { namespace: options.identityNamespace, ...named(IDENTITY_POLICY.configMap) },
        (object) => this.#policyIs(object),
      ),
      this.#reflector(VALIDATING_WEBHOOK_CONFIGURATION, named(DELIVERY_CONFIGURATION), (object) =>
        this.#configurationIs(object),
      ),
    );
  }

  start(): void {
    for (const reflector of this.reflectors()) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors().map((reflector) => reflector.stop()));
  }

  reflectors(): readonly Reflector[] {
    return [...[...this.#reflectors.values()].flat(), ...this.#maps, ...this.#others];
  }

  unsynced(): string | undefined {
    const { isMissing } = this.#options;
    // The webhook configuration says one condition; nothing waits for it.
    const awaited = this.reflectors().filter(({ kind }) => kind !== VALIDATING_WEBHOOK_CONFIGURATION);
    const missing = awaited.find((one) => !one.synced() && !isMissing(one.kind));
    return missing === undefined ? undefined : `${missing.kind.resource} are not read yet`;
  }

  keeperAlive(): boolean {
    return this.#options.keeperAlive();
  }

  keys(): readonly StageKey[] {
    return this.#all(STAGE).map(({ metadata }) => ({
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
    }));
  }

  read(key: StageKey): StageView | undefined {
    const world = this.#world(key);
    return world === undefined ? undefined : { stage: world.stage, candidate: candidateFor(world) };
  }

  evaluate(key: StageKey, digest?: string): GateEvaluation | undefined {
    const world = this.#world(key);
    if (world === undefined) return undefined;
    return { ...evaluateStage(world, digest), stage: world.stage, evaluatedAtMs: world.nowMs };
  }

  /** All that a look depends on, and remembers that it does; undefined where there is no such Stage. */
  sighted(key: StageKey): Sighted | undefined {
    const object = this.#get(STAGE, key);
    const world = this.#world(key);
    if (object === undefined || world === undefined) {
      this.#forget(key);
      return undefined;
    }
    const [pointer] = world.stage.spec.pointers;
    const source = pointer === undefined ? undefined : this.#target(world.stage, pointer);
    const parent = parentOf(source);
    const owner = parent === undefined ? undefined : this.#get(KUSTOMIZATION, parent);
    this.#remember(key, world, pointer, parent);
    return {
      object,
      world,
      pointer,
      source,
      pin: pointer === undefined || source === undefined ? undefined : pinOf(source, pointer),
      consumers: pointer === undefined ? [] : this.#consumers(world.stage, pointer),
      templates: [],
      isRegistered: this.#isRegistered,
      neighbours: neighboursOf(owner, world.stage),
    };
  }

  /** As it is stored. */
  operation(name: StageKey): KubeObject | undefined {
    return this.#get(OPERATION, name);
  }

  #world(key: StageKey): GateWorld | undefined {
    const object = this.#get(STAGE, key);
    if (object === undefined) return undefined;
    const { clock, stabilizationMs } = this.#options;
    const stage = readStage(object);
    const operations = this.#all(OPERATION, key.namespace).filter(
      (operation) => at(operation, 'spec', 'stage') === key.name,
    );
    return worldOf({
      nowMs: clock.now(),
      stage: object,
      pacto: this.#get(PACTO, pactoOf(stage)),
      upstreams: upstreamsOf(stage).map((upstream) => {
        const found = this.#get(STAGE, upstream);
        return { stage: found, pacto: found && this.#get(PACTO, pactoOf(readStage(found))) };
      }),
      operations,
      approvals: operations.length === 0 ? [] : this.#all(APPROVAL, key.namespace),
      policy: this.#policy,
      stabilizationMs,
    });
  }

  #target(stage: Stage, { target }: StagePointer): KubeObject | undefined {
    const name = { namespace: target.namespace ?? stage.namespace, name: target.name };
    if (target.kind === CONFIG_MAP.kind) return firstOf(this.#maps, name);
    const kind = EVERYWHERE.find(
      (one) => one.kind === target.kind && target.apiVersion.startsWith(`${one.group}/`),
    );
    return kind === undefined ? undefined : this.#get(kind, name);
  }

  /** Those that the Stage names, else those that name its pointer as their source. */
  #consumers(stage: Stage, { target }: StagePointer): readonly KubeObject[] {
    const namespace = target.namespace ?? stage.namespace;
    const named = stage.spec.consumers.flatMap((consumer) => {
      const kind = consumer.kind === HELM_RELEASE.kind ? HELM_RELEASE : KUSTOMIZATION;
      const found = this.#get(kind, {
        namespace: consumer.namespace ?? stage.namespace,
        name: consumer.name,
      });
      // One that is not there has not applied anything.
      return [found ?? { apiVersion: '', kind: consumer.kind, metadata: {} }];
    });
    if (named.length > 0) return named;
    return [KUSTOMIZATION, HELM_RELEASE].flatMap((kind) =>
      this.#all(kind, namespace).filter((consumer) => {
        const source = sourceRefOf(consumer, { ...kind, namespace, name: '' });
        return source?.kind === target.kind && source.name === target.name && source.namespace === namespace;
      }),
    );
  }

  #get(kind: Kind, name: ObjectName): KubeObject | undefined {
    return firstOf(this.#reflectors.get(kind) ?? [], name);
  }

  #all(kind: Kind, namespace?: string): readonly KubeObject[] {
    return (this.#reflectors.get(kind) ?? []).flatMap(({ store }) => Array.from(store.values(namespace)));
  }

  #reflector(
    kind: Kind,
    select: { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string },
    onObject?: (object: KubeObject | undefined) => void,
  ): Reflector {
    const { cluster, clock, random, report } = this.#options;
    return createReflector({
      cluster,
      kind,
      select,
      clock,
      random,
      report: (said) => report(kind, said),
      onChange: ({ type, object }) => {
        onObject?.(type === 'deleted' ? undefined : object);
        this.#changed(kind, object);
      },
    });
  }

  #policyIs(object: KubeObject | undefined): void {
    this.#policy = loadPolicy(object, this.#policy, this.#options.sha256);
  }

  #configurationIs(object: KubeObject | undefined): void {
    const webhooks = object?.['webhooks'];
    this.#isRegistered =
      Array.isArray(webhooks) && webhooks.some((entry) => at(entry, 'name') === POINTERS_ENTRY);
  }

  #changed(kind: Kind, object: KubeObject): void {
    const name = { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
    if (kind === STAGE) this.#options.onWake(name);
    const stage = kind === OPERATION ? at(object, 'spec', 'stage') : undefined;
    if (typeof stage === 'string') this.#options.onWake({ namespace: name.namespace, name: stage });
    const texts = [readText(kind, name)];
    const source =
      kind === KUSTOMIZATION || kind === HELM_RELEASE
        ? sourceRefOf(object, { group: kind.group, kind: kind.kind, ...name })
        : undefined;
    if (source !== undefined) texts.push(consumerText(source.kind, source));
    if (kind === APPROVAL) texts.push(`approvals ${name.namespace}`);
    if (
      this.#others.some((one) => one.kind === kind && one.store.get(name) !== undefined) ||
      isOfAll(kind, name)
    )
      texts.push(OF_ALL);
    for (const text of texts)
      for (const key of this.#readers.get(text) ?? []) this.#options.onWake(keyOf(key));
  }

  #remember(
    key: StageKey,
    world: GateWorld,
    pointer: StagePointer | undefined,
    parent: ObjectName | undefined,
  ): void {
    this.#forget(key);
    const { stage } = world;
    const texts = [
      OF_ALL,
      `approvals ${key.namespace}`,
      readText(PACTO, pactoOf(stage)),
      ...upstreamsOf(stage).flatMap((upstream) => [readText(STAGE, upstream), readText(PACTO, upstream)]),
      ...world.upstreams.flatMap((one) =>
        one.stage === undefined ? [] : [readText(PACTO, pactoOf(one.stage))],
      ),
      ...(parent === undefined ? [] : [readText(KUSTOMIZATION, parent)]),
      ...stage.spec.consumers.map(({ kind, name, namespace = stage.namespace }) =>
        readText(kind === HELM_RELEASE.kind ? HELM_RELEASE : KUSTOMIZATION, { namespace, name }),
      ),
      ...(pointer === undefined ? [] : pointerTexts(stage, pointer)),
    ];
    const own = textOf(key);
    this.#reads.set(own, texts);
    for (const text of texts) {
      const readers = this.#readers.get(text) ?? new Set();
      readers.add(own);
      this.#readers.set(text, readers);
    }
  }

  #forget(key: StageKey): void {
    const own = textOf(key);
    for (const text of this.#reads.get(own) ?? []) {
      const readers = this.#readers.get(text);
      readers?.delete(own);
      if (readers?.size === 0) this.#readers.delete(text);
    }
    this.#reads.delete(own);
  }
}

function firstOf(reflectors: readonly Reflector[], name: ObjectName): KubeObject | undefined {
  for (const { store } of reflectors) {
    const found = store.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Also what was deleted just now, which is in no store any more. */
function isOfAll(kind: Kind, { name }: StageKey): boolean {
  return (
    (kind === CONFIG_MAP && name === IDENTITY_POLICY.configMap) ||
    (kind === VALIDATING_WEBHOOK_CONFIGURATION && name === DELIVERY_CONFIGURATION)
  );
}

function pointerTexts(stage: Stage, { target }: StagePointer): readonly string[] {
  const name = { namespace: target.namespace ?? stage.namespace, name: target.name };
  return [readText({ kind: target.kind }, name), consumerText(target.kind, name)];
}

function pactoOf({ spec, namespace }: Stage): StageKey {
  return { namespace: spec.pacto.namespace ?? namespace, name: spec.pacto.name };
}

function upstreamsOf({ spec, namespace }: Stage): readonly StageKey[] {
  return spec.upstreams.from.flatMap((upstream) =>
    'remote' in upstream ? [] : [{ namespace: upstream.namespace ?? namespace, name: upstream.stage }],
  );
}

/** What the Kustomization has in its inventory beside the pointers of the Stage and what consumes them. */
function neighboursOf(owner: KubeObject | undefined, { spec }: Stage): number {
  const entries = at(owner, 'status', 'inventory', 'entries');
  if (!Array.isArray(entries)) return 0;
  return Math.max(0, entries.length - spec.pointers.length - spec.consumers.length);
}

function readText({ kind }: Pick<Kind, 'kind'>, { namespace = '', name }: ObjectName): string {
  return `${kind} ${namespace}/${name}`;
}

function consumerText(kind: string, { namespace = '', name }: ObjectName): string {
  return `of ${kind} ${namespace}/${name}`;
}

function textOf({ namespace, name }: StageKey): string {
  return `${namespace}/${name}`;
}

function keyOf(text: string): StageKey {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
