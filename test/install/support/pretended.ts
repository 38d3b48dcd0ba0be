/**
 * A memory cluster that refuses requests by what the installer writes, as an API server does: by native policies and by
 * webhook entries, each a while after they were written.
 */
import { ApiRefusal } from '../../../src/cluster/answers.ts';
import {
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../../../src/cluster/kinds.ts';
import { createMemoryCluster, type AdmittedWrite, type MemoryCluster } from '../../../src/cluster/memory.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { GateError } from '../../../src/errors.ts';
import { CANARY_LABEL, CANARY_NAME } from '../../../src/install/names.ts';
import type { Clock } from '../../../src/clock.ts';
import type { Desired } from '../../../src/install/desired.ts';
import type { ValidatingEntry } from '../../../src/policies/entry.ts';
import { policyEntryName, policyPath } from '../../../src/policies/vap/entry-name.ts';
import { collectPolicies } from '../../../src/policies/vap/sources.ts';

export const NAMESPACE = 'pacto-system';
export const CONFIGURATION = 'pacto-gate-policies';

interface Seen {
  readonly policies: readonly KubeObject[];
  readonly bindings: readonly KubeObject[];
  readonly entries: readonly ValidatingEntry[];
}

export interface PretendedOptions {
  readonly clock: Clock;
  /** Whether the plugin runs; it may change. Default: it does. */
  readonly enforcesNatively?: () => boolean;
  /** How long what was written takes to act, milliseconds; it may change. */
  readonly delaysMs?: () => { readonly native: number; readonly webhook: number };
  readonly servesNative?: boolean;
  /** Asked before each write that is no dry run. */
  readonly onWrite?: (write: AdmittedWrite) => void;
}

export class Pretended {
  readonly cluster: MemoryCluster;
  readonly #options: PretendedOptions;
  readonly #states: { readonly atMs: number; readonly seen: Seen }[] = [];

  constructor(options: PretendedOptions) {
    this.#options = options;
    this.cluster = createMemoryCluster({ clock: options.clock, admit: (write) => this.#admit(write) });
    this.cluster.load(VALIDATING_WEBHOOK_CONFIGURATION, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: CONFIGURATION },
    });
    if (options.servesNative === false) {
      const error = new GateError('GATE_CLUSTER_UNSUPPORTED', 'not served');
      const list = this.cluster.list.bind(this.cluster);
      this.cluster.list = (kind, given) =>
        kind.kind.startsWith('ValidatingAdmissionPolicy') ? Promise.reject(error) : list(kind, given);
    }
    this.note();
  }

  /** Of what is there now: what acts from now on. */
  note(): void {
    const items = (kind: Kind): readonly KubeObject[] => this.#stored(kind);
    const entries = items(VALIDATING_WEBHOOK_CONFIGURATION).flatMap(
      (object) => (object['webhooks'] ?? []) as ValidatingEntry[],
    );
    const seen = { policies: items(NATIVE_POLICY), bindings: items(NATIVE_POLICY_BINDING), entries };
    this.#states.push({ atMs: this.#options.clock.monotonic(), seen });
  }

  readonly #objects = new Map<string, Map<string, KubeObject>>();

  #stored(kind: Kind): readonly KubeObject[] {
    return [...(this.#objects.get(kind.kind)?.values() ?? [])];
  }

  /** What the API server acts on now. */
  get seen(): Seen {
    const { native = 0, webhook = 0 } = this.#options.delaysMs?.() ?? {};
    const { policies, bindings } = this.#seenAfter(native);
    return { policies, bindings, entries: this.#seenAfter(webhook).entries };
  }

  #seenAfter(delayMs: number): Seen {
    const then = this.#options.clock.monotonic() - delayMs;
    return (this.#states.findLast(({ atMs }) => atMs <= then) ?? this.#states[0])?.seen ?? NOTHING;
  }

  /** Whether a request is refused that this policy is about, and by what. */
  refusedBy(policy: string): ('native' | 'webhook')[] {
    const { policies, bindings, entries } = this.seen;
    const enforces = this.#options.enforcesNatively?.() ?? true;
    const native =
      enforces &&
      policies.some(({ metadata }) => metadata.name === policy) &&
      bindings.some(({ spec }) => (spec as { policyName?: string }).policyName === policy);
    const webhook = entries.some(({ name }) => name === policyEntryName(policy));
    return [...(native ? (['native'] as const) : []), ...(webhook ? (['webhook'] as const) : [])];
  }

  #admit(write: AdmittedWrite): void {
    if (!write.dryRun) this.#options.onWrite?.(write);
    if (write.kind.kind === 'ConfigMap' && write.object.metadata.name === CANARY_NAME)
      this.#canary(write.object);
    if (!write.dryRun) this.#store(write);
  }

  #store({ kind, object, operation }: AdmittedWrite): void {
    const name = object.metadata.name ?? '';
    const objects = this.#objects.get(kind.kind) ?? new Map<string, KubeObject>();
    this.#objects.set(kind.kind, objects);
    if (operation === 'DELETE') objects.delete(name);
    else objects.set(name, object);
    this.note();
  }

  #canary({ metadata }: KubeObject): void {
    const nonce = metadata.labels?.[CANARY_LABEL] ?? '';
    const { policies, bindings, entries } = this.seen;
    const entry = entries.find(({ objectSelector }) => objectSelector.matchLabels?.[CANARY_LABEL] === nonce);
    if (entry !== undefined)
      throw refusal(`Internal error occurred: failed calling webhook "${entry.name}": the server said 503`);
    if (this.#options.enforcesNatively?.() === false) return;
    const policy = policies.find((one) => one.metadata.name === CANARY_NAME);
    const binding = bindings.find((one) => one.metadata.name === CANARY_NAME);
    const selects = JSON.stringify(binding?.['spec'] ?? {}).includes(nonce);
    const [validation] =
      ((policy?.['spec'] ?? {}) as { validations?: { message: string }[] }).validations ?? [];
    if (validation !== undefined && selects)
      throw refusal(
        `configmaps "${CANARY_NAME}" is forbidden: ValidatingAdmissionPolicy '${CANARY_NAME}' with binding '${CANARY_NAME}' denied request: ${validation.message}`,
      );
  }
}

const NOTHING: Seen = { policies: [], bindings: [], entries: [] };

function refusal(said: string): ApiRefusal {
  return new ApiRefusal('GATE_CLUSTER_FORBIDDEN', 'cannot create configmaps', {}, said);
}

/** What is wanted for these policies, each with one binding. */
export function desiredOf(names: readonly string[], more: Partial<Desired> = {}): Desired {
  const objects = names.flatMap((name) => [
    {
      apiVersion: 'gate.pacto.trianalab.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] },
          ],
        },
        validations: [{ expression: `object.metadata.name != 'bad-${name}'` }],
      },
    },
    {
      apiVersion: 'gate.pacto.trianalab.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]);
  const target = { url: 'https://gate.example:9443' };
  return {
    policies: collectPolicies(objects.map((object) => ({ object, source: { source: 'customResource' } }))),
    policyEntries: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: CONFIGURATION, labels: {} },
      webhooks: names.map((name) => entryFor(name)),
    },
    otherEntries: [],
    reach: names.map((policy) => ({ policy, entry: policyEntryName(policy), notEnforced: [] })),
    incomplete: [],
    keptNamespaces: ['pacto-system'],
    target,
    ...more,
  };
}

export function entryFor(name: string, failurePolicy: 'Fail' | 'Ignore' = 'Fail'): ValidatingEntry {
  return {
    name: policyEntryName(name),
    clientConfig: { url: `https://gate.example:9443${policyPath(name)}` },
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'], scope: '*' },
    ],
    failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
  };
}
