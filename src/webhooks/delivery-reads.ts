/** What the webhooks of delivery look up: a Stage with all that its gate depends on, as it is now. */
import type { Clock } from '../clock.ts';
import {
  APPROVAL,
  CONFIG_MAP,
  GIT_REPOSITORY,
  HELM_RELEASE,
  KUSTOMIZATION,
  NAMESPACE,
  OCI_REPOSITORY,
  OPERATION,
  PACTO,
  STAGE,
  type Kind,
} from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { ObjectRef, StageName } from '../policies/delivery/change.ts';
import { stageOf } from '../policies/delivery/classify.ts';
import type { WorldFound } from '../policies/delivery/evidence.ts';
import { loadPolicy } from '../policies/delivery/loaded-policy.ts';
import { IDENTITY_POLICY } from '../policies/delivery/names.ts';
import type { Approval, Operation } from '../policies/delivery/operation.ts';
import { readApproval, readOperation } from '../policies/delivery/read-operation.ts';
import { readStage } from '../policies/delivery/read-stage.ts';
import type { Stage } from '../policies/delivery/stage.ts';
import { worldOf } from '../policies/delivery/world-of.ts';
import type { GateWorld, LoadedPolicy } from '../policies/delivery/world.ts';
import type { DecisionContext } from './webhook.ts';

export interface DeliveryReadsParts {
  readonly clock: Pick<Clock, 'now'>;
  /** Of the identity policy. */
  readonly namespace: string;
  readonly stabilizationMs: number;
  readonly sha256: (text: string) => string;
}

/** Kinds that a pointer, its source and its parent may have; a Secret is none of them and is never read. */
const READABLE: readonly Kind[] = [OCI_REPOSITORY, GIT_REPOSITORY, KUSTOMIZATION, HELM_RELEASE];

const NO_POINTERS: Pick<Stage['spec'], 'pointers'> = { pointers: [] };

/** Stages of one namespace that may gate its workloads: more are a mistake, and each costs several reads. */
const MOST_STAGES = 64;

export class DeliveryReads {
  readonly #parts: DeliveryReadsParts;
  /** The policy of the version that was read last, and behind it the last that could be read (delivery.md §3.4). */
  #policy: { readonly version: string; readonly loaded: LoadedPolicy } | undefined;

  constructor(parts: DeliveryReadsParts) {
    this.#parts = parts;
  }

  /** @throws as Reader.get and Reader.list. */
  async world({ namespace, name }: StageName, context: DecisionContext): Promise<WorldFound> {
    const policy = await this.policy(context);
    const stage = await get(STAGE, { namespace, name }, context);
    if (stage === undefined) return { isThere: false, policy };
    return { isThere: true, world: await this.#worldAround(stage, policy, context) };
  }

  /** Worlds of the Stages of a namespace that gate its workloads. */
  async workloadWorlds(namespace: string, context: DecisionContext): Promise<readonly GateWorld[]> {
    const objects = await context.reader.list(STAGE, { namespace }, { signal: context.signal });
    const gating = objects
      .filter((object) => readStage(object).spec.gate.scope !== 'Pointer')
      .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      .slice(0, MOST_STAGES);
    if (gating.length === 0) return [];
    const policy = await this.policy(context);
    return Promise.all(gating.map((stage) => this.#worldAround(stage, policy, context)));
  }

  /** An object of Flux, by exact name; undefined where there is none, or its kind is none that is read. */
  async object(
    { group, kind, namespace, name }: ObjectRef,
    context: DecisionContext,
  ): Promise<KubeObject | undefined> {
    const known = READABLE.find((one) => one.group === group && one.kind === kind);
    return known === undefined ? undefined : get(known, { namespace, name }, context);
  }

  /** The pointers of a Stage that name it, too: those that its gate holds. */
  async pointers(stage: StageName, context: DecisionContext): Promise<readonly ObjectRef[]> {
    const found = await get(STAGE, stage, context);
    const { pointers } = found === undefined ? NO_POINTERS : readStage(found).spec;
    const refs = pointers.map(({ target }): ObjectRef => {
      const [group = ''] = target.apiVersion.includes('/') ? target.apiVersion.split('/') : [''];
      return { group, kind: target.kind, namespace: target.namespace ?? stage.namespace, name: target.name };
    });
    const objects = await Promise.all(refs.map((ref) => this.object(ref, context)));
    return refs.filter((ref, index) => {
      // ConfigMaps of others are not read: whether one names the Stage is not known, so it may.
      if (ref.kind === CONFIG_MAP.kind) return true;
      const named = stageOf(objects[index], ref.namespace);
      return named?.namespace === stage.namespace && named.name === stage.name;
    });
  }

  async stages(namespace: string, context: DecisionContext): Promise<readonly Stage[]> {
    const objects = await context.reader.list(STAGE, { namespace }, { signal: context.signal });
    return objects.map((object) => readStage(object));
  }

  pacto(name: StageName, context: DecisionContext): Promise<KubeObject | undefined> {
    return name.name === '' ? Promise.resolve(undefined) : get(PACTO, name, context);
  }

  async operation(name: StageName, context: DecisionContext): Promise<Operation | undefined> {
    const found = name.name === '' ? undefined : await get(OPERATION, name, context);
    return found === undefined ? undefined : readOperation(found);
  }

  /** All of an Operation. */
  async approvals(namespace: string, uid: string, context: DecisionContext): Promise<readonly Approval[]> {
    const objects = await context.reader.list(APPROVAL, { namespace }, { signal: context.signal });
    return objects.filter((object) => operationUidOf(object) === uid).map((object) => readApproval(object));
  }

  /** Whether a namespace is going away; one that is not there is not. */
  async isTerminating(name: string, { reader, signal }: DecisionContext): Promise<boolean> {
    const found = name === '' ? undefined : await reader.get(NAMESPACE, { name }, { signal });
    return found?.metadata.deletionTimestamp !== undefined;
  }

  /** The identity policy of now, or the last that could be read. */
  async policy(context: DecisionContext): Promise<LoadedPolicy> {
    const { namespace, sha256 } = this.#parts;
    const found = await get(CONFIG_MAP, { namespace, name: IDENTITY_POLICY.configMap }, context);
    const version = found === undefined ? '' : (found.metadata.resourceVersion ?? '');
    if (this.#policy?.version === version && version !== '') return this.#policy.loaded;
    const loaded = loadPolicy(found, this.#policy?.loaded, sha256);
    this.#policy = { version, loaded };
    return loaded;
  }

  async #worldAround(object: KubeObject, policy: LoadedPolicy, context: DecisionContext): Promise<GateWorld> {
    const { clock, stabilizationMs } = this.#parts;
    const stage = readStage(object);
    const [pacto, upstreams, operations] = await Promise.all([
      pactoOf(stage, context),
      Promise.all(upstreamNames(stage).map((upstream) => this.#upstream(upstream, context))),
      operationsOf(stage, context),
    ]);
    const approvals = operations.length === 0 ? [] : await approvalsOf(stage, operations, context);
    return worldOf({
      nowMs: clock.now(),
      stage: object,
      pacto,
      upstreams,
      operations,
      approvals,
      policy,
      stabilizationMs,
    });
  }

  async #upstream(
    upstream: StageName,
    context: DecisionContext,
  ): Promise<{ readonly stage: KubeObject | undefined; readonly pacto: KubeObject | undefined }> {
    const stage = await get(STAGE, upstream, context);
    return { stage, pacto: stage === undefined ? undefined : await pactoOf(readStage(stage), context) };
  }
}

function upstreamNames({ spec, namespace }: Stage): readonly StageName[] {
  return spec.upstreams.from.flatMap((upstream) =>
    'remote' in upstream ? [] : [{ namespace: upstream.namespace ?? namespace, name: upstream.stage }],
  );
}

async function pactoOf(
  { spec, namespace }: Stage,
  context: DecisionContext,
): Promise<KubeObject | undefined> {
  const { pacto } = spec;
  return pacto.name === ''
    ? undefined
    : get(PACTO, { namespace: pacto.namespace ?? namespace, name: pacto.name }, context);
}

/** Terminal ones are history, and there may be thousands of them. */
async function operationsOf(
  { namespace, name }: Stage,
  context: DecisionContext,
): Promise<readonly KubeObject[]> {
  const all = await context.reader.list(OPERATION, { namespace }, { signal: context.signal });
  return all.filter((operation) => memberOf(operation['spec'], 'stage') === name);
}

async function approvalsOf(
  { namespace }: Stage,
  operations: readonly KubeObject[],
  context: DecisionContext,
): Promise<readonly KubeObject[]> {
  const uids = new Set(operations.map(({ metadata }) => metadata.uid ?? ''));
  const all = await context.reader.list(APPROVAL, { namespace }, { signal: context.signal });
  return all.filter((approval) => uids.has(operationUidOf(approval)));
}

function operationUidOf(approval: KubeObject): string {
  const uid = memberOf(memberOf(approval['spec'], 'operation'), 'uid');
  return typeof uid === 'string' ? uid : '';
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function get(
  kind: Kind,
  { namespace, name }: StageName,
  { reader, signal }: DecisionContext,
): Promise<KubeObject | undefined> {
  return reader.get(kind, { namespace, name }, { signal });
}
