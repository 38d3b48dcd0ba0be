/** The policies in force, compiled and followed, and what is to be said about them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CatchUp } from './catch-up.ts';
import { openPolicySources, type PolicySources, type PolicySourceParts } from './policy-sources.ts';
import { PolicyProblems, type PolicyProblem } from './policy-problems.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { PolicyFacts } from '../metrics.ts';
import { Cel } from '../policies/cel/cel.ts';
import { minorOf } from '../policies/vap/policy-objects.ts';
import { policySetSteps, type PolicySet } from '../policies/vap/policy-set.ts';
import type { SourcedPolicies } from '../policies/vap/sources.ts';
import type { Binding, Policy } from '../policies/vap/types.ts';
import { paramKindOf } from '../webhooks/param-kinds.ts';
import { policiesWebhook, type PolicySnapshot } from '../webhooks/policies.webhook.ts';
import { policyWritersWebhook } from '../webhooks/policy-writers.webhook.ts';
import type { Webhook } from '../webhooks/webhook.ts';

export interface PolicyParts extends PolicySourceParts {
  /** Who answers the authorizer's questions; undefined where nobody can. */
  readonly reviewAccess: ReviewAccess | undefined;
  /** What only says something, and decides nothing, waits for this and for whoever asks meanwhile. */
  readonly served?: Promise<void>;
}

export interface EnforcedPolicies {
  readonly webhook: Webhook;
  /** Checks who writes them, where custom resources are a source. */
  readonly writers: Webhook | undefined;
  readonly sources: PolicySources;
  /** Undefined until everything was read and compiled once. */
  set(): PolicySet | undefined;
  facts(): PolicyFacts;
  /** For readiness: what is not known or compiled yet. */
  unsynced(): string | undefined;
  /** Resolves once what is known by now is in force. */
  settled(): Promise<void>;
  /** Resolves once `unsynced` is undefined for the first time. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** @throws GateError as openPolicySources */
export async function loadPolicies(
  config: Pick<Config, 'policies' | 'state' | 'environment'>,
  parts: PolicyParts,
): Promise<EnforcedPolicies> {
  const { reviewAccess, served } = parts;
  const { compatibilityVersion, paramKinds } = config.policies;
  const sources = await openPolicySources(config, parts);
  const compiled = new CompiledPolicies(sources, minorOf(compatibilityVersion), parts);
  const webhook = policiesWebhook({
    current: () => compiled.current,
    doubt: () => sources.doubt(),
    prepare: () => sources.fresh()?.then(() => compiled.settled()),
    paramKinds: paramKinds.map(paramKindOf),
    ...(reviewAccess === undefined ? {} : { reviewAccess }),
  });
  // Whoever serves gives answers before it hears what is to be said about the policies.
  await (served === undefined ? compiled.settled() : Promise.race([compiled.ready, compiled.settled()]));
  return {
    webhook,
    writers: writersOf(config, parts, sources),
    sources,
    set: () => compiled.current?.set,
    facts: () => compiled.facts(),
    unsynced: () => sources.unsynced() ?? compiled.unsynced(),
    settled: () => compiled.settled(),
    ready: compiled.ready,
    async close() {
      await sources.close();
      await compiled.close();
    },
  };
}

function writersOf(
  { policies }: Pick<Config, 'policies'>,
  { reviewAccess }: Pick<PolicyParts, 'reviewAccess'>,
  sources: PolicySources,
): Webhook | undefined {
  const { compatibilityVersion, paramKinds, sources: named } = policies;
  if (!named.includes('customResources')) return undefined;
  return policyWritersWebhook({
    cel: new Cel(),
    minor: minorOf(compatibilityVersion),
    paramKinds: paramKinds.map(paramKindOf),
    ...(reviewAccess === undefined ? {} : { reviewAccess }),
    async inForce() {
      await sources.fresh();
      const missing = sources.unsynced();
      const doubt =
        sources.doubt() ??
        (missing === undefined ? undefined : new GateError('GATE_UNSYNCED', `policies: ${missing}`));
      if (doubt !== undefined) throw doubt;
      return sources.current();
    },
  });
}

/** Compiling lets requests pass after so many milliseconds: less than the budget of a stall, more than a turn costs. */
const TURN_MS = 8;
/** The same for what only says something: about an expression. */
const ASIDE_TURN_MS = 1;
/** Lines of the log about one change; what is beyond is counted. */
const MOST_LINES = 50;

interface Made extends PolicySnapshot {
  readonly bindings: readonly Binding[];
}

/** Keeps a snapshot of what the sources say; the one before stays in force until it is whole. */
class CompiledPolicies {
  readonly #sources: PolicySources;
  readonly #minor: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #cel = new Cel();
  readonly #checks: PolicyProblems;
  readonly #catchUp: CatchUp;
  readonly #stopListening: () => void;
  readonly #first = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #served: Promise<void>;
  #made: Made | undefined;
  #problems: readonly PolicyProblem[] = [];

  constructor(
    sources: PolicySources,
    minor: number,
    { clock, log, served }: Pick<PolicyParts, 'clock' | 'log' | 'served'>,
  ) {
    this.#sources = sources;
    this.#minor = minor;
    this.#clock = clock;
    this.#log = log;
    this.#served = Promise.race([served, this.#closed.promise]);
    this.#checks = new PolicyProblems(this.#cel, minor);
    this.#catchUp = new CatchUp(
      () => this.#makeAll(),
      (error) => log.error('policies not compiled', { err: error }),
    );
    this.#stopListening = sources.onChange(() => this.#catchUp.wake());
    this.#catchUp.wake();
  }

  get current(): PolicySnapshot | undefined {
    return this.#made;
  }

  facts(): PolicyFacts {
    const problems = this.#problems.length + this.#sources.faults();
    return { policies: this.#made?.policies.length ?? 0, problems };
  }

  unsynced(): string | undefined {
    return this.#made === undefined ? 'policies are not compiled yet' : undefined;
  }

  get ready(): Promise<void> {
    return this.#first.promise;
  }

  settled(): Promise<void> {
    return this.#catchUp.settled();
  }

  async close(): Promise<void> {
    this.#stopListening();
    const closed = this.#catchUp.close();
    this.#closed.resolve();
    await closed;
  }

  /** Where it throws, what is in force stays so. */
  async #makeAll(): Promise<void> {
    // A part of the policies, or of their bindings, is not what anybody wrote.
    if (this.#sources.unsynced() === undefined) await this.#make(this.#sources.current());
  }

  async #make(found: SourcedPolicies): Promise<void> {
    const policies = found.policies.map(({ policy }) => policy);
    const bindings = found.bindings.map(({ binding }) => binding);
    const before = this.#made;
    const isSame =
      before !== undefined && areSame(before.policies, policies) && areSame(before.bindings, bindings);
    const set = isSame ? before.set : await this.#compile(policies, bindings, before?.set);
    if (set === undefined) return;
    if (!isSame) this.#made = { policies, bindings, set };
    this.#first.resolve();
    await this.#served;
    if (this.#catchUp.isClosed) return;
    const problems = await this.#inTurns(this.#checks.find(found, set), ASIDE_TURN_MS);
    if (problems !== undefined) this.#say(policies.length, problems, before === undefined ? 'first' : isSame);
  }

  #compile(
    policies: readonly Policy[],
    bindings: readonly Binding[],
    previous: PolicySet | undefined,
  ): Promise<PolicySet | undefined> {
    const given = { cel: this.#cel, policies, bindings, minor: this.#minor };
    return this.#inTurns(policySetSteps({ ...given, ...(previous === undefined ? {} : { previous }) }));
  }

  /** @returns undefined where it was closed meanwhile */
  async #inTurns<T>(steps: Generator<void, T>, turnMs = TURN_MS): Promise<T | undefined> {
    let sinceMs = this.#clock.monotonic();
    for (;;) {
      const next = steps.next();
      if (next.done === true) return next.value;
      if (this.#clock.monotonic() - sinceMs < turnMs) continue;
      await nextTurn();
      if (this.#catchUp.isClosed) return undefined;
      sinceMs = this.#clock.monotonic();
    }
  }

  #say(count: number, problems: readonly PolicyProblem[], change: 'first' | boolean): void {
    const said = new Set(this.#problems.map(textOf));
    const fresh = problems.filter((problem) => !said.has(textOf(problem)));
    this.#problems = problems;
    for (const { kind, name, message, isHalf } of fresh.slice(0, MOST_LINES))
      // At the start nobody is in the middle of writing a pair.
      if (isHalf && change !== 'first')
        this.#log.info('policy or binding without its other half', { kind, name });
      else
        this.#log.warn('policy not enforced as it is written', {
          kind,
          name,
          err: new GateError('GATE_POLICY_INVALID', message),
        });
    const more = fresh.length - MOST_LINES;
    if (more > 0) this.#log.warn('more policies not enforced as they are written', { count: more });
    if (change === 'first') this.#log.info('policies loaded', { count });
    else if (!change) this.#log.info('policies changed', { count });
  }
}

function areSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return (
    a.length === b.length && a.every((one, index) => one === b[index] || isDeepStrictEqual(one, b[index]))
  );
}

function textOf({ kind, name, message }: PolicyProblem): string {
  return `${kind} ${name} ${message}`;
}
