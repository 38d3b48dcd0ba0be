/** Policies over ConfigMaps of a memory cluster, followed as the server follows them. */
import { onTestFinished } from 'vitest';
import { openPolicies } from '../../src/app/webhooks.ts';
import type { EnforcedPolicies } from '../../src/app/policies.ts';
import { CONFIG_MAP, GATE_POLICY, GATE_POLICY_BINDING } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Clock } from '../../src/clock.ts';
import type { Config } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { readerOver } from '../webhooks/decide-by.ts';
import { edgeOf, rawRequest } from '../webhooks/edge-parts.ts';
import { aReview } from '../webhooks/policy-webhook.ts';

const OWN_NAMESPACE = 'pacto-system';

const GATE = 'gate.pacto.trianalab.io/v1';
const NATIVE = 'admissionregistration.k8s.io/v1';

export interface Written {
  readonly native?: boolean;
  readonly expression?: string;
  readonly spec?: object;
}

/** Looks at ConfigMaps; by default it refuses all of them. */
export function policyObject(name: string, { native, expression = 'false', spec }: Written = {}): KubeObject {
  return {
    apiVersion: native === true ? NATIVE : GATE,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] },
        ],
      },
      validations: [{ expression, message: `${name}: no` }],
      ...spec,
    },
  };
}

export function bindingObject(policyName: string, { native, spec }: Written = {}): KubeObject {
  return {
    apiVersion: native === true ? NATIVE : GATE,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  };
}

export function configMapObject(
  name: string,
  data: object,
  {
    namespace = OWN_NAMESPACE,
    labels = { 'gate.pacto.trianalab.io/policies': 'true' },
    ...more
  }: {
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly binaryData?: object;
  } = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data, ...more };
}

export function yamlOf(...objects: readonly KubeObject[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}

export interface Followed {
  readonly cluster: MemoryCluster;
  readonly clock: FakeClock;
  readonly policies: EnforcedPolicies;
  /** Lines of the log. */
  readonly lines: readonly string[];
  write(...objects: readonly KubeObject[]): void;
  remove(...objects: readonly KubeObject[]): void;
  /** `200 allowed`, `200 denied a: no`, `503`. */
  ask(policy: string): Promise<string>;
  /** Waits until the answer for a policy is this one. */
  becomes(policy: string, answer: string): Promise<void>;
}

export type PolicySettings = Partial<Config['policies']> & {
  readonly state?: 'cached' | 'live';
  readonly podNamespace?: string | undefined;
};

/** A configuration with the custom resources and ConfigMaps of a cluster as sources. */
export function settingsFor({
  state = 'cached',
  ...given
}: PolicySettings): Pick<Config, 'policies' | 'state' | 'environment'> {
  const { podNamespace, ...policies } = { podNamespace: OWN_NAMESPACE, ...given };
  return {
    state,
    environment: { apiServer: undefined, podNamespace, home: undefined, unusedUpstream: [] },
    policies: {
      sources: ['customResources', 'configMaps'],
      namespaces: [],
      files: [],
      directory: undefined,
      compatibilityVersion: '1.36',
      paramKinds: [],
      excludedNamespaces: [],
      enforcement: 'auto',
      ...policies,
    },
  };
}

export interface FollowOptions {
  readonly prepare?: (cluster: MemoryCluster) => void;
  /** Default: one that stands still. */
  readonly clock?: Clock;
  /** Every list brings other objects, as those of an API server do. */
  readonly copies?: boolean;
}

export async function followPolicies(
  settings: PolicySettings = {},
  objects: readonly KubeObject[] = [],
  { prepare, clock: given, copies = false }: FollowOptions = {},
): Promise<Followed> {
  const standing = new FakeClock();
  const clock = given ?? standing;
  const cluster = createMemoryCluster({ clock });
  const kindOf = ({ kind }: KubeObject) =>
    kind === 'ConfigMap' ? CONFIG_MAP : kind.endsWith('Binding') ? GATE_POLICY_BINDING : GATE_POLICY;
  const write = (...written: readonly KubeObject[]): void => {
    for (const object of written) cluster.load(kindOf(object), object);
  };
  write(...objects);
  prepare?.(cluster);
  const lines: string[] = [];
  const opened = await openPolicies(settingsFor(settings), {
    clock,
    cluster: {
      watch: (kind, options) => cluster.watch(kind, options),
      async list(kind, options) {
        const page = await cluster.list(kind, options);
        return copies ? structuredClone(page) : page;
      },
    },
    reviewAccess: undefined,
    log: createLog({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    }),
  });
  if (opened === undefined) throw new Error('no policies');
  const { edge } = edgeOf([opened.webhook], readerOver([SHOP]));
  const ask = async (policy: string): Promise<string> => {
    const { status, body } = await edge.answer(rawRequest(`/validate/policies/${policy}`, REVIEW));
    if (status !== 200) return String(status);
    const { response } = JSON.parse(Buffer.from(body).toString()) as {
      response: { allowed: boolean; status?: { message: string }; warnings?: string[] };
    };
    const message = response.status?.message.replace(/^.* denied request: /, '') ?? response.warnings?.[0];
    return `200 ${response.allowed ? 'allowed' : 'denied'}${message === undefined ? '' : ` ${message}`}`;
  };
  return {
    cluster,
    clock: standing,
    policies: opened,
    lines,
    write,
    remove(...removed) {
      for (const object of removed) {
        const { name = '', namespace } = object.metadata;
        cluster.unload(kindOf(object), { name, ...(namespace === undefined ? {} : { namespace }) });
      }
    },
    ask,
    async becomes(policy, answer) {
      let last = '';
      let pending: Promise<void> | undefined;
      await until(`${policy} answers ${answer}`, () => {
        pending ??= ask(policy).then((now) => {
          last = now;
          pending = undefined;
        });
        return last === answer;
      });
    },
  };
}

export const SHOP: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };

export const REVIEW = aReview({
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } },
});

/** As `followPolicies`, until the test ends. */
export async function follow(...args: Parameters<typeof followPolicies>): Promise<Followed> {
  const followed = await followPolicies(...args);
  onTestFinished(() => followed.policies.close());
  return followed;
}

/** Messages of the log that are not about watches. */
export function said({ lines }: Followed): readonly string[] {
  return lines
    .map(
      (line) =>
        JSON.parse(line) as { message: string; name?: string; count?: number; err?: { message: string } },
    )
    .filter(({ message }) => !message.startsWith('watch'))
    .map(({ message, name, count, err }) =>
      [message, name, count, err?.message].filter((part) => part !== undefined).join(' | '),
    );
}

/** A policy and its binding. */
export const pair = (name: string, expression = 'false') => [
  policyObject(name, { expression }),
  bindingObject(name),
];
