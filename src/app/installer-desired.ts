/** What the installer is to bring about, out of the configuration, the policies and what the API server serves. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { entriesOf } from './entries.ts';
import type { PolicySources } from './policy-sources.ts';
import { namespacesOfGate } from './target.ts';
import type { Clock } from '../clock.ts';
import type { Cluster, ServedResource } from '../cluster/cluster.ts';
import type { ServerVersionFollower } from '../cluster/server-version.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { Desired } from '../install/desired.ts';
import type { InstallerOptions } from '../install/installer.ts';
import { StatusWriter, type PolicyFacts } from '../install/status.ts';
import type { Log } from '../log.ts';
import { Cel } from '../policies/cel/cel.ts';
import { FIRST_MINOR_WITH_CONDITIONS, type ClientTarget } from '../policies/entry.ts';
import { PolicyCompiler, problemsOf } from '../policies/vap/compile.ts';
import { KindTypes } from '../policies/vap/openapi-types.ts';
import { minorOf } from '../policies/vap/policy-objects.ts';
import type { SourcedPolicy } from '../policies/vap/sources.ts';
import { typeCheck } from '../policies/vap/typecheck.ts';
import type { Policy } from '../policies/vap/types.ts';

export interface DesiredParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly cluster: Pick<Cluster, 'resources'>;
  readonly target: ClientTarget;
  readonly known: {
    readonly sources: PolicySources;
    readonly version: ServerVersionFollower;
    caBundle(): string | undefined;
  };
}

export class InstallerDesired {
  readonly #config: Config;
  readonly #parts: DesiredParts;
  readonly #cel = new Cel();
  readonly #facts = new WeakMap<Policy, PolicyFacts>();
  readonly #status: StatusWriter;
  #kinds: Promise<KindTypes> | undefined;
  /** By group and version: what a server that is away served when it answered last. */
  readonly #served = new Map<string, readonly ServedResource[]>();

  constructor(config: Config, parts: DesiredParts) {
    this.#config = config;
    this.#parts = parts;
    this.#status = new StatusWriter({
      clock: parts.clock,
      factsOf: (policy) => this.#factsOf(policy),
      onError: (name, error) => parts.log.warn('status of a policy not written', { name, err: error }),
    });
  }

  /** @returns undefined before everything is known that it is made of. */
  async current(): Promise<Desired | undefined> {
    const { known, target } = this.#parts;
    const { sources, version } = known;
    await sources.fresh();
    const kubeMinor = version.current()?.minor;
    if (sources.unsynced() !== undefined || kubeMinor === undefined) return undefined;
    const doubt = sources.doubt();
    const policies = sources.current();
    const caBundle = known.caBundle();
    const entries = entriesOf(this.#config, {
      target,
      timeoutSeconds: this.#config.installer.timeoutSeconds,
      kubeMinor,
      policies,
      ...(kubeMinor < FIRST_MINOR_WITH_CONDITIONS ? { served: await this.#resources() } : {}),
      ...(caBundle === undefined ? {} : { caBundle }),
    });
    return {
      policies,
      policyEntries: entries.policies.configuration,
      otherEntries: [entries.identity.configuration],
      reach: entries.policies.reach,
      keptNamespaces: namespacesOfGate(this.#config, target),
      incomplete: [...sources.incomplete(), ...(doubt === undefined ? [] : [doubt.message])],
      target,
      ...(caBundle === undefined ? {} : { caBundle }),
    };
  }

  report(...[desired, enforced, cluster, signal]: Parameters<InstallerOptions['report']>): Promise<void> {
    return this.#status.write(desired, enforced, cluster, signal);
  }

  /** @throws GateError where a server is away of which nobody knows what it serves. */
  async #resources(): Promise<readonly ServedResource[]> {
    const { resources, unknown } = await this.#parts.cluster.resources();
    const away = new Set(unknown);
    const now = Map.groupBy(resources, ({ group, version }) => `${group}/${version}`);
    for (const [at, served] of now) if (!away.has(at)) this.#served.set(at, served);
    for (const at of this.#served.keys()) if (!now.has(at) && !away.has(at)) this.#served.delete(at);
    const missing = unknown.find((at) => !this.#served.has(at));
    if (missing !== undefined)
      throw new GateError(
        'GATE_CLUSTER_UNREACHABLE',
        `what ${missing} serves is not known, and wildcards of policies are written out from it; mend its APIService, or delete it`,
      );
    return [...this.#served.values()].flat();
  }

  /** The same policy is looked at once. */
  async #factsOf({ policy }: SourcedPolicy): Promise<PolicyFacts> {
    const before = this.#facts.get(policy);
    if (before !== undefined) return before;
    const minor = minorOf(this.#config.policies.compatibilityVersion);
    // A compiler for each: what it remembers goes with it.
    const compileErrors = problemsOf(new PolicyCompiler(this.#cel, minor).compile(policy));
    this.#kinds ??= loadKinds();
    const kinds = await this.#kinds;
    const facts = { compileErrors, typeWarnings: typeCheck(policy, { cel: this.#cel, minor, kinds }) };
    this.#facts.set(policy, facts);
    // Compiling and checking takes milliseconds; a thousand policies must not keep the Lease from being renewed.
    await nextTurn();
    return facts;
  }
}

async function loadKinds(): Promise<KindTypes> {
  const { loadOpenApiTypes } = await import('../cli/openapi.ts');
  return new KindTypes(await loadOpenApiTypes());
}
