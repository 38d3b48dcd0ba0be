/**
 * Native policies and bindings that we write: those of admissionregistration.k8s.io/v1 with our label, and never over
 * one without it (design decision 19).
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, ListOptions } from '../cluster/cluster.ts';
import { apiVersionOf, NATIVE_POLICY, NATIVE_POLICY_BINDING, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, messageOf } from '../errors.ts';
import { withoutItsSources } from '../policies/vap/native-form.ts';
import { readBinding, readPolicy } from '../policies/vap/read.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import { FIELD_MANAGER, MANAGED_LABEL, MANAGED_SELECTOR, MANAGED_VALUE } from './names.ts';

type NativeCluster = Pick<Cluster, 'get' | 'list' | 'create' | 'replace' | 'delete'>;

/** Objects with our label, by name; the canary among them. */
export interface LiveNatives {
  readonly policies: ReadonlyMap<string, KubeObject>;
  readonly bindings: ReadonlyMap<string, KubeObject>;
}

/** One policy that has a binding, as native objects. */
export interface WantedNative {
  readonly policy: KubeObject;
  readonly bindings: readonly KubeObject[];
  /** Of what it says; another one is another policy. */
  readonly digest: string;
}

/** Whether the API server holds a policy with all its bindings. */
export type NativeState =
  { readonly ok: true; readonly digest: string } | { readonly ok: false; readonly why: string };

export interface WrittenNatives {
  readonly states: ReadonlyMap<string, NativeState>;
  /** Policies of which something was written, each with what. */
  readonly written: readonly string[];
}

/** Pages of the objects of ours, which are some hundreds at most. */
const PAGE = 500;

/** @returns undefined where the API server does not serve them. */
export async function readNatives(
  cluster: Pick<Cluster, 'list'>,
  signal?: AbortSignal,
): Promise<LiveNatives | undefined> {
  const ours = { labelSelector: MANAGED_SELECTOR, ...(signal !== undefined && { signal }) };
  try {
    return {
      policies: await listNamed(cluster, NATIVE_POLICY, ours),
      bindings: await listNamed(cluster, NATIVE_POLICY_BINDING, ours),
    };
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_UNSUPPORTED') return undefined;
    throw error;
  }
}

/** All objects of a kind without namespaces, page by page, by name. */
export async function listNamed(
  cluster: Pick<Cluster, 'list'>,
  kind: Kind,
  options: Pick<ListOptions, 'labelSelector' | 'signal'> = {},
): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  let continueToken: string | undefined;
  do {
    const page = await cluster.list(kind, {
      ...options,
      limit: PAGE,
      ...(continueToken !== undefined && { continueToken }),
    });
    for (const object of page.items) found.set(object.metadata.name ?? '', object);
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
  return found;
}

/**
 * @returns by the name of the policy. A policy without a binding is in force nowhere and is not written; nor is one
 *   whose paramKind is not allowed, which the API server would read for whoever writes policies (design decision 17).
 * @param kept namespaces that they do not reach, and with them the gate's own kinds; left out: as they are written
 */
export function wantedNatives(
  { policies, bindings, problems }: SourcedPolicies,
  kept?: readonly string[],
): ReadonlyMap<string, WantedNative> {
  const notAllowed = new Set(problems.flatMap(({ cause, name }) => (cause === 'param-kind' ? [name] : [])));
  const wanted = new Map<string, WantedNative>();
  for (const { policy, object } of policies) {
    const own = bindings
      .filter(({ binding }) => binding.policyName === policy.name)
      .map((one) => nativeObject(NATIVE_POLICY_BINDING, one.object));
    if (own.length === 0 || notAllowed.has(policy.name)) continue;
    const written = nativeObject(NATIVE_POLICY, object);
    const native =
      kept === undefined
        ? written
        : {
            ...written,
            spec: withoutItsSources(written['spec'], policy.matchConstraints?.resourceRules ?? [], kept),
          };
    wanted.set(policy.name, { policy: native, bindings: own, digest: digestOf([native, ...own]) });
  }
  return wanted;
}

/** The same object in the native group, with our label and nothing else of its metadata but its name. */
function nativeObject(kind: Kind, object: KubeObject): KubeObject {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: object.metadata.name ?? '', labels: { [MANAGED_LABEL]: MANAGED_VALUE } },
    spec: object['spec'],
  };
}

function digestOf(objects: readonly KubeObject[]): string {
  const hash = createHash('sha256');
  for (const { kind, metadata, spec } of objects)
    hash.update(JSON.stringify([kind, metadata.name, spec], bigintText)).update('\n');
  return hash.digest('hex');
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

/**
 * Writes what is missing or differs: policies before bindings.
 * @returns by policy. What the API server refuses for good stands there; anything else is thrown.
 */
export async function writeNatives(
  cluster: NativeCluster,
  wanted: ReadonlyMap<string, WantedNative>,
  live: LiveNatives,
  signal?: AbortSignal,
): Promise<WrittenNatives> {
  const states = new Map<string, NativeState>();
  const written: string[] = [];
  for (const [name, { policy, bindings, digest }] of wanted) {
    try {
      let wrote = await put(cluster, NATIVE_POLICY, policy, live.policies.get(name), signal);
      for (const binding of bindings)
        wrote =
          (await put(cluster, NATIVE_POLICY_BINDING, binding, live.bindings.get(nameOf(binding)), signal)) ||
          wrote;
      if (wrote) written.push(`${name} ${digest}`);
      states.set(name, { ok: true, digest });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      states.set(name, { ok: false, why: messageOf(error) });
    }
  }
  return { states, written };
}

/** Said of the object itself: asked again, the API server says the same. */
export function isRefusal(error: unknown): error is GateError {
  return (
    error instanceof GateError &&
    (error.code === 'GATE_CLUSTER_INVALID' ||
      error.code === 'GATE_CLUSTER_FORBIDDEN' ||
      error.code === 'GATE_INSTALL_FOREIGN')
  );
}

/**
 * Creates or replaces one object of ours, where it is not as it should be.
 * @returns whether it was not.
 */
export async function put(
  cluster: NativeCluster,
  kind: Kind,
  object: KubeObject,
  live: KubeObject | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  const options = { fieldManager: FIELD_MANAGER, ...(signal !== undefined && { signal }) };
  if (live !== undefined) {
    if (isSame(kind, live, object)) return false;
    const { resourceVersion = '', uid = '' } = live.metadata;
    await cluster.replace(
      kind,
      { ...object, metadata: { ...object.metadata, resourceVersion, uid } },
      options,
    );
    return true;
  }
  try {
    await cluster.create(kind, object, options);
    return true;
  } catch (error) {
    if (!(error instanceof GateError) || error.code !== 'GATE_CLUSTER_EXISTS') throw error;
    const name = nameOf(object);
    const found = await cluster.get(kind, { name }, signal === undefined ? {} : { signal });
    // Written by ourselves since we listed, or gone again: the next round sees it.
    if (found === undefined || found.metadata.labels?.[MANAGED_LABEL] === MANAGED_VALUE)
      throw conflictOf(error);
    throw new GateError(
      'GATE_INSTALL_FOREIGN',
      `${kind.kind} ${name}: there is one that is not ours, and it is left as it is; delete or rename one of them`,
    );
  }
}

function conflictOf(cause: GateError): GateError {
  return new GateError('GATE_CLUSTER_CONFLICT', cause.message, { cause });
}

/** After the API server's defaults, which reading gives both. */
function isSame(kind: Kind, live: KubeObject, wanted: KubeObject): boolean {
  const read = kind.kind === NATIVE_POLICY.kind ? readPolicy : readBinding;
  const [a, b] = [read(live), read(wanted)];
  return a.ok && b.ok && isDeepStrictEqual(a.value, b.value);
}

/**
 * Removes objects of ours: bindings before policies.
 * @param keeps whether an object is to stay.
 */
export async function removeNatives(
  cluster: Pick<Cluster, 'delete'>,
  live: LiveNatives,
  keeps: (kind: Kind, name: string) => boolean,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const [kind, objects] of [
    [NATIVE_POLICY_BINDING, live.bindings],
    [NATIVE_POLICY, live.policies],
  ] as const) {
    for (const [name, { metadata }] of objects) {
      if (keeps(kind, name)) continue;
      const { uid } = metadata;
      try {
        await cluster.delete(
          kind,
          { name },
          { ...(uid !== undefined && { uid }), ...(signal !== undefined && { signal }) },
        );
        removed += 1;
      } catch (error) {
        if (!(error instanceof GateError) || error.code !== 'GATE_CLUSTER_NOT_FOUND') throw error;
      }
    }
  }
  return removed;
}

/**
 * @param states what writing came to, by policy.
 * @returns names of policies of ours that say something else than what is in force now and cannot be made to: the API
 *   server refuses it, or it may not be native. Their entries enforce what is in force.
 */
export function staleNatives(
  live: LiveNatives,
  wanted: ReadonlyMap<string, WantedNative>,
  states: ReadonlyMap<string, NativeState>,
  { policies }: Pick<SourcedPolicies, 'policies'>,
): ReadonlySet<string> {
  const stale = new Set<string>();
  for (const { policy } of policies) {
    const [held, want] = [live.policies.get(policy.name), wanted.get(policy.name)];
    if (held === undefined || states.get(policy.name)?.ok === true) continue;
    const isOther =
      want === undefined ||
      !isSame(NATIVE_POLICY, held, want.policy) ||
      want.bindings.some((binding) => {
        const bound = live.bindings.get(nameOf(binding));
        return bound !== undefined && !isSame(NATIVE_POLICY_BINDING, bound, binding);
      });
    if (isOther) stale.add(policy.name);
  }
  return stale;
}

/** Name of the policy that a native object is about. */
export function policyOf(kind: Kind, object: KubeObject | undefined): string | undefined {
  if (kind.kind === NATIVE_POLICY.kind) return object?.metadata.name;
  const { policyName } = (object?.['spec'] ?? {}) as { readonly policyName?: unknown };
  return typeof policyName === 'string' ? policyName : undefined;
}

export function isEmpty(live: LiveNatives): boolean {
  return live.policies.size === 0 && live.bindings.size === 0;
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}
