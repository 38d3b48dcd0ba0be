/**
 * One round of the installer: looks at the cluster, and brings it nearer to what is wanted, each step from what is
 * there, so that a round that was cut off anywhere is followed by one that goes on (design decision 19). Whatever the
 * order of events, a request that was refused is refused: what enforces goes only after what takes its place is proved.
 */
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NATIVE_POLICY, NATIVE_POLICY_BINDING, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { ValidatingEntry } from '../policies/entry.ts';
import {
  canaryEntry,
  canaryEntryName,
  canaryObjects,
  entryRefusal,
  nativeRefusal,
  nonceOf,
  prove,
  type ApiServer,
  type Proof,
} from './canary.ts';
import { entriesByPolicy, type Desired, type Enforcement } from './desired.ts';
import { fill, type Filled, type ServerProbe } from './fill.ts';
import { CANARY_NAME } from './names.ts';
import {
  isEmpty,
  isRefusal,
  policyOf,
  put,
  readNatives,
  removeNatives,
  staleNatives,
  wantedNatives,
  writeNatives,
  type LiveNatives,
  type NativeState,
  type WantedNative,
} from './native.ts';

export interface RoundParts {
  readonly cluster: Pick<Cluster, 'get' | 'list' | 'create' | 'replace' | 'delete' | 'apply'>;
  readonly clock: Clock;
  readonly enforcement: Enforcement;
  /** Where the canary's ConfigMap would lie. */
  readonly namespace: string;
  readonly probe: ServerProbe;
  /** Every API server that clients may meet; asked anew for each proof. */
  readonly apiServers: () => Promise<readonly ApiServer[]>;
  readonly signal?: AbortSignal;
}

/** What a round knows of the ones before, in this process. */
export interface Proved {
  /** Digests of the native policies that the last proof was about, by name. */
  readonly digests: ReadonlyMap<string, string>;
  /** Monotonic, milliseconds. */
  readonly atMs: number;
  /** Why native enforcement is not proved; undefined after a proof. */
  readonly failed?: string;
}

/** What enforces one policy after a round. */
export interface Enforced {
  readonly by: 'Native' | 'Webhook' | 'None';
  readonly entry?: string;
  /** Of `None`, and of `Webhook` where native was wanted: `NativeNotEnforcing` and the like. */
  readonly because?: { readonly reason: string; readonly message: string };
}

export interface RoundResult {
  /** For the next round. */
  readonly proved: Proved | undefined;
  readonly enforced: ReadonlyMap<string, Enforced>;
  /** What an operator should know, one sentence each; the same text as long as it is the same. */
  readonly problems: readonly string[];
  /** Something waits: come again soon. */
  readonly unfinished: boolean;
  /** Whether the API server serves native policies. */
  readonly servesNative: boolean;
  readonly written: readonly Written[];
}

export interface Written {
  /** For the log: of a configuration, or what was done to native objects. */
  readonly what: string;
  /** The same text: the same was written. */
  readonly content: string;
}

/** A proof is made anew after this long: an API server may have been restarted with other flags. */
const PROOF_HOLDS_MS = 600_000;
/** After a failed one sooner, as somebody may have mended it; it costs some dry runs. */
export const PROOF_RETRY_MS = 60_000;

/** @throws GateError where the cluster does not answer or something changed meanwhile: the next round begins anew. */
export async function runRound(
  desired: Desired,
  before: Proved | undefined,
  parts: RoundParts,
): Promise<RoundResult> {
  const round = new Round(desired, before, parts);
  return round.run();
}

class Round {
  readonly #desired: Desired;
  readonly #before: Proved | undefined;
  readonly #parts: RoundParts;
  readonly #mayRemove: boolean;
  readonly #problems: string[] = [];
  readonly #written: Written[] = [];
  #unfinished = false;

  constructor(desired: Desired, before: Proved | undefined, parts: RoundParts) {
    this.#desired = desired;
    this.#before = before;
    this.#parts = parts;
    this.#mayRemove = desired.incomplete.length === 0;
  }

  async run(): Promise<RoundResult> {
    const { cluster, enforcement, signal } = this.#parts;
    for (const source of this.#desired.incomplete)
      this.#problems.push(`nothing is removed while what it holds is not known: ${source}`);
    for (const configuration of this.#desired.otherEntries)
      await this.#fill(configuration.metadata.name, configuration.webhooks, () => !this.#mayRemove);
    const natives = await readNatives(cluster, signal);
    const result =
      enforcement === 'webhooks' || natives === undefined
        ? await this.#webhooks(natives)
        : await this.#native(natives);
    return {
      ...result,
      problems: this.#problems,
      unfinished: this.#unfinished,
      servesNative: natives !== undefined,
      written: this.#written,
    };
  }

  /** All native objects go, when the API server is seen to call the entries. */
  async #webhooks(natives: LiveNatives | undefined): Promise<Pick<RoundResult, 'proved' | 'enforced'>> {
    const { webhooks } = this.#desired.policyEntries;
    const keeps = (): boolean => !this.#mayRemove;
    const filled =
      natives === undefined || isEmpty(natives)
        ? await this.#fillPolicies(webhooks, keeps)
        : await this.#retire(webhooks, keeps, () => true, natives);
    if (this.#parts.enforcement === 'native')
      this.#problems.push(
        'NativeNotEnforcing: the API server does not serve ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1; webhook entries enforce policies',
      );
    return { proved: undefined, enforced: this.#enforcedBy(filled, () => undefined) };
  }

  async #entriesProved(filled: Filled, nonce: string): Promise<boolean> {
    if (filled.waiting.size > 0 || !this.#mayRemove) return false;
    const proof = await this.#prove(nonce, entryRefusal(nonce));
    if (!proof.ok)
      this.#problems.push(
        `native policies stay: the API server is not seen to call the webhook entries (${proof.why})`,
      );
    return proof.ok;
  }

  /** Native objects first; entries go for those policies that a proof was about, and come back where one fails. */
  async #native(live: LiveNatives): Promise<Pick<RoundResult, 'proved' | 'enforced'>> {
    const { policyEntries, policies, keptNamespaces } = this.#desired;
    const wanted = wantedNatives(policies, keptNamespaces);
    const states = await this.#writeNatives(wanted, live);
    const proved = await this.#nativeProof(wanted, states, live);
    if (proved?.failed !== undefined)
      this.#problems.push(`NativeNotEnforcing: webhook entries enforce policies (${proved.failed})`);
    const entries = entriesByPolicy(this.#desired);
    const owners = new Map([...entries].map(([policy, entry]) => [entry.name, policy]));
    const isProved = (policy: string): boolean => {
      const state = states.get(policy);
      return (
        state?.ok === true && proved?.failed === undefined && proved?.digests.get(policy) === state.digest
      );
    };
    const needed = policyEntries.webhooks.filter(({ name }) => {
      const policy = owners.get(name);
      return policy === undefined || !this.#isNativelyHeld(states.get(policy), proved);
    });
    const keeps = (name: string): boolean => {
      const policy = owners.get(name);
      return policy === undefined ? !this.#mayRemove : !isProved(policy);
    };
    const stale = staleNatives(live, wanted, states, policies);
    // Without an entry in its place the old one stays.
    const goes = (policy: string): boolean => stale.has(policy) && entries.has(policy);
    const filled = [...stale].some(goes)
      ? await this.#retire(needed, keeps, (kind, object) => goes(policyOf(kind, object) ?? ''), live)
      : await this.#fillPolicies(needed, keeps);
    await this.#removeGone(wanted, live, stale);
    return { proved, enforced: this.#enforcedBy(filled, isProvedBy(isProved, proved)) };
  }

  async #writeNatives(
    wanted: ReadonlyMap<string, WantedNative>,
    live: LiveNatives,
  ): Promise<ReadonlyMap<string, NativeState>> {
    const { cluster, signal } = this.#parts;
    const { states, written } = await writeNatives(cluster, wanted, live, signal);
    if (written.length > 0)
      this.#written.push({ what: `${String(written.length)} native policies`, content: written.join() });
    for (const [name, state] of states)
      if (!state.ok)
        this.#problems.push(`native policy ${name} is not in force, its entry enforces it: ${state.why}`);
    return states;
  }

  #fillPolicies(entries: readonly ValidatingEntry[], keeps: (name: string) => boolean): Promise<Filled> {
    const { name } = this.#desired.policyEntries.metadata;
    return this.#fill(name, entries, (entry) => !isCanary(entry) && keeps(entry));
  }

  /**
   * Entries first, with one that tells whether the API server calls them; native objects go when every API server was
   * seen to.
   */
  async #retire(
    entries: readonly ValidatingEntry[],
    keeps: (name: string) => boolean,
    goes: (kind: Kind, object: KubeObject | undefined) => boolean,
    live: LiveNatives,
  ): Promise<Filled> {
    const nonce = nonceOf(entries.map((entry) => JSON.stringify(entry)));
    const filled = await this.#fillPolicies([...entries, this.#canaryEntry(nonce)], keeps);
    this.#unfinished = true;
    if (!(await this.#entriesProved(filled, nonce))) return filled;
    await this.#removeNatives(live, (kind, name) => {
      const objects = kind.kind === NATIVE_POLICY.kind ? live.policies : live.bindings;
      return !goes(kind, objects.get(name));
    });
    return this.#fillPolicies(entries, keeps);
  }

  /** An entry does not come for a policy that the API server holds, as long as nothing says that it is not enforced. */
  #isNativelyHeld(state: NativeState | undefined, proved: Proved | undefined): boolean {
    return state?.ok === true && proved?.failed === undefined;
  }

  async #nativeProof(
    wanted: ReadonlyMap<string, WantedNative>,
    states: ReadonlyMap<string, NativeState>,
    live: LiveNatives,
  ): Promise<Proved | undefined> {
    const { clock } = this.#parts;
    const digests = new Map(
      [...states].flatMap(([name, state]): [string, string][] => (state.ok ? [[name, state.digest]] : [])),
    );
    if (wanted.size === 0) return undefined;
    const before = this.#before;
    if (before !== undefined && this.#holds(before, digests)) return before;
    const proof = await this.#proveNative(digests, live);
    const atMs = clock.monotonic();
    return proof.ok ? { digests, atMs } : { digests: new Map(), atMs, failed: proof.why };
  }

  async #proveNative(digests: ReadonlyMap<string, string>, live: LiveNatives): Promise<Proof> {
    const { cluster, namespace, signal } = this.#parts;
    const nonce = nonceOf([...digests].map(([name, digest]) => `${name} ${digest}`).toSorted());
    const [policy, binding] = canaryObjects(nonce, namespace);
    try {
      await put(cluster, NATIVE_POLICY, policy, live.policies.get(CANARY_NAME), signal);
      await put(cluster, NATIVE_POLICY_BINDING, binding, live.bindings.get(CANARY_NAME), signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { ok: false, why: error.message };
    }
    return this.#prove(nonce, nativeRefusal(nonce));
  }

  /** Whether a proof of before says enough: it is young, and about everything that is there now. */
  #holds(before: Proved, digests: ReadonlyMap<string, string>): boolean {
    const age = this.#parts.clock.monotonic() - before.atMs;
    if (before.failed !== undefined) return age < PROOF_RETRY_MS;
    return (
      age < PROOF_HOLDS_MS && [...digests].every(([name, digest]) => before.digests.get(name) === digest)
    );
  }

  async #removeGone(
    wanted: ReadonlyMap<string, WantedNative>,
    live: LiveNatives,
    stale: ReadonlySet<string>,
  ): Promise<void> {
    if (!this.#mayRemove) return;
    const bindings = new Set(
      [...wanted.values()].flatMap((one) => one.bindings.map(({ metadata }) => metadata.name ?? '')),
    );
    await this.#removeNatives(live, (kind, name) => {
      if (name === CANARY_NAME) return wanted.size > 0;
      if (kind.kind === NATIVE_POLICY.kind) return wanted.has(name) || stale.has(name);
      return bindings.has(name) || stale.has(policyOf(kind, live.bindings.get(name)) ?? '');
    });
  }

  async #removeNatives(live: LiveNatives, keeps: Parameters<typeof removeNatives>[2]): Promise<void> {
    const removed = await removeNatives(this.#parts.cluster, live, keeps, this.#parts.signal);
    if (removed > 0) this.#written.push({ what: `${String(removed)} native objects removed`, content: '' });
  }

  async #prove(nonce: string, refuses: (said: string) => boolean): Promise<Proof> {
    const { apiServers, clock, namespace, signal } = this.#parts;
    let servers: readonly ApiServer[];
    try {
      servers = await apiServers();
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      return { ok: false, why: error.message };
    }
    return prove({ servers, clock, namespace, nonce, refuses, ...(signal !== undefined && { signal }) });
  }

  async #fill(
    name: string,
    entries: readonly ValidatingEntry[],
    keeps: (name: string) => boolean,
  ): Promise<Filled> {
    const { cluster, signal } = this.#parts;
    // Nobody is to answer the canary's.
    const probe: ServerProbe = (entry, ...rest) =>
      isCanary(entry.name) ? Promise.resolve(undefined) : this.#parts.probe(entry, ...rest);
    const filled = await fill({
      cluster,
      name,
      entries,
      keeps,
      probe,
      ...(signal !== undefined && { signal }),
    });
    if (filled.written !== undefined) this.#written.push({ what: name, content: filled.written });
    if (filled.missing !== undefined && entries.length > 0) this.#problems.push(filled.missing);
    if (filled.waiting.size > 0) this.#unfinished = true;
    if (filled.missing === undefined)
      for (const [entry, why] of filled.waiting)
        this.#problems.push(`entry ${entry} waits for its server: ${why}`);
    for (const entry of filled.foreign)
      this.#problems.push(
        `entry ${entry} of ${name} stays: another field manager applies it too; take it out there`,
      );
    return filled;
  }

  #canaryEntry(nonce: string): ValidatingEntry {
    const { target, caBundle } = this.#desired;
    const { namespace } = this.#parts;
    return canaryEntry(nonce, { target, namespace, ...(caBundle !== undefined && { caBundle }) });
  }

  #enforcedBy(
    filled: Filled,
    nativeOf: (policy: string) => 'Native' | Enforced['because'] | undefined,
  ): ReadonlyMap<string, Enforced> {
    const wanted = entriesByPolicy(this.#desired);
    return new Map(
      this.#desired.policies.policies.map(({ policy: { name } }): [string, Enforced] => {
        const native = nativeOf(name);
        if (native === 'Native') return [name, { by: 'Native' }];
        const entry = wanted.get(name);
        const because = native === undefined ? {} : { because: native };
        if (entry !== undefined && filled.entries.has(entry.name))
          return [name, { by: 'Webhook', entry: entry.name, ...because }];
        return [name, { by: 'None', because: native ?? this.#whyNot(entry, filled) }];
      }),
    );
  }

  #whyNot(entry: ValidatingEntry | undefined, filled: Filled): NonNullable<Enforced['because']> {
    if (entry === undefined)
      return { reason: 'NoEntry', message: 'it has no binding, or no webhook entry can be made for it' };
    const message =
      filled.missing ?? filled.waiting.get(entry.name) ?? 'its webhook entry is not written yet';
    return { reason: filled.missing === undefined ? 'WaitsForServer' : 'NoConfiguration', message };
  }
}

function isCanary(name: string): boolean {
  return (
    name.startsWith('canary-') &&
    name === canaryEntryName(name.slice('canary-'.length).split('.', 1)[0] ?? '')
  );
}

function isProvedBy(
  isProved: (policy: string) => boolean,
  proved: Proved | undefined,
): (policy: string) => 'Native' | Enforced['because'] | undefined {
  return (policy) => {
    if (isProved(policy)) return 'Native';
    if (proved?.failed !== undefined) return { reason: 'NativeNotEnforcing', message: proved.failed };
    return undefined;
  };
}
