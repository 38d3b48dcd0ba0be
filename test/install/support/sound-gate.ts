/** A gate in a memory cluster with which nothing is wrong, for tests that make one thing wrong. */
import { createMemoryCluster, type MemoryCluster } from '../../../src/cluster/memory.ts';
import { NAMESPACE, VALIDATING_WEBHOOK_CONFIGURATION, type Kind } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import {
  DEPLOYMENT,
  ENDPOINT_SLICE,
  NETWORK_POLICY,
  SERVICE,
} from '../../../src/install/preflight/recovery-kinds.ts';
import {
  preflight,
  type PreflightInput,
  type PreflightReport,
  type Wanted,
} from '../../../src/install/preflight/preflight.ts';
import type { ValidatingEntry, WebhookConfiguration } from '../../../src/policies/entry.ts';
import { identityEntries } from '../../../src/policies/identity/entries.ts';
import { identitySettings } from '../../../src/policies/identity/settings.ts';
import { policyEntries } from '../../../src/policies/vap/entries.ts';
import { policyObjectsOf } from '../../../src/policies/vap/policy-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { anObject } from '../../support/builders.ts';

export const GATE_NAMESPACE = 'pacto-system';
export const POLICIES = 'pacto-gate-policies';
export const IDENTITY = 'pacto-gate-node-identity';
export const ENTRY = 'labels.example.com';

const SERVICE_TARGET = { service: { namespace: GATE_NAMESPACE, name: 'pacto-gate', port: 443 } };
const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const EXCLUDED = ['kube-system', 'kube-public', 'kube-node-lease'];
const AGENTS = 'pacto-node-agent';
const CREATED_MS = Date.parse('2026-01-01T00:00:00Z');

/** A policy about Deployments, which no step of recovery needs outside namespaces that are left out. */
const POLICY: readonly KubeObject[] = [
  {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: ENTRY },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['deployments'],
          },
        ],
      },
      validations: [{ expression: 'has(object.metadata.labels)' }],
    },
  },
  {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: ENTRY },
    spec: { policyName: ENTRY, validationActions: ['Deny'] },
  },
];

export function namespaceObject(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return anObject(NAMESPACE, { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } });
}

/** As it should be: the policies' configuration, and node identity's. */
function wantedConfigurations(): {
  readonly policies: WebhookConfiguration;
  readonly identity: WebhookConfiguration;
} {
  const { policies, bindings } = policyObjectsOf(POLICY);
  const of = { target: SERVICE_TARGET, caBundle: CA, timeoutSeconds: 10, ownNamespace: GATE_NAMESPACE };
  const identity = { enabled: true, failurePolicy: 'Fail' } as const;
  return {
    policies: policyEntries({
      ...of,
      policies,
      bindings,
      excludedNamespaces: EXCLUDED,
      writers: true,
    }).configuration,
    identity: identityEntries({
      ...of,
      settings: identitySettings({
        agents: [`${AGENTS}/${AGENTS}`],
        namespaces: [],
        podLookup: 'auto',
        requirePodClaims: false,
        requireNodeUid: false,
        pods: {
          controllerUsernames: ['system:serviceaccount:kube-system:daemon-set-controller'],
          daemonSets: [],
        },
      }),
      identity,
      tokens: identity,
      pods: identity,
    }).configuration,
  };
}

export interface SoundGate {
  readonly cluster: MemoryCluster;
  /** Puts an object in, or in place of the one of its name. */
  put(kind: Kind, object: KubeObject): void;
  /** Changes an entry of a live configuration. */
  change(configuration: string, entry: string, fields: Readonly<Record<string, unknown>>): void;
  /** Takes an entry out of a live configuration. */
  remove(configuration: string, entry: string): void;
  /** Puts a further entry into the live configuration of policies. */
  add(entry: Partial<ValidatingEntry> & { readonly name: string }): void;
  run(
    input?: Partial<Omit<PreflightInput, 'wanted'>> & { readonly wanted?: Partial<Wanted> },
  ): Promise<PreflightReport>;
}

export function soundGate(): SoundGate {
  const cluster = createMemoryCluster({ clock: new FakeClock() });
  const wanted = wantedConfigurations();
  const put = (kind: Kind, object: KubeObject): void => void cluster.load(kind, object);
  for (const name of [GATE_NAMESPACE, AGENTS, 'default', ...EXCLUDED]) put(NAMESPACE, namespaceObject(name));
  const labels = { 'app.kubernetes.io/name': 'pacto-gate' };
  const own = { namespace: GATE_NAMESPACE, name: 'pacto-gate', labels };
  put(
    DEPLOYMENT,
    anObject(DEPLOYMENT, own, { spec: { template: { metadata: { labels: { app: 'gate' } } } } }),
  );
  put(SERVICE, anObject(SERVICE, own, { spec: { ports: [{ port: 443, targetPort: 9443 }] } }));
  put(
    ENDPOINT_SLICE,
    anObject(
      ENDPOINT_SLICE,
      { ...own, labels: { 'kubernetes.io/service-name': 'pacto-gate' } },
      { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] },
    ),
  );
  put(
    NETWORK_POLICY,
    anObject(NETWORK_POLICY, own, {
      spec: {
        podSelector: { matchLabels: { app: 'gate' } },
        ingress: [{ from: [{ ipBlock: { cidr: '10.1.0.0/28' } }] }],
      },
    }),
  );
  const live = new Map<string, KubeObject>();
  const write = (object: KubeObject): void => {
    live.set(object.metadata.name ?? '', object);
    put(VALIDATING_WEBHOOK_CONFIGURATION, object);
  };
  for (const configuration of [wanted.policies, wanted.identity]) {
    write({
      ...structuredClone(configuration),
      metadata: { ...configuration.metadata, uid: `uid-${configuration.metadata.name}` },
    });
  }
  const entriesIn = (name: string): readonly ValidatingEntry[] =>
    (live.get(name)?.['webhooks'] ?? []) as readonly ValidatingEntry[];
  const setEntries = (name: string, webhooks: readonly object[]): void => {
    const object = live.get(name);
    if (object === undefined) throw new Error(`no configuration ${name}`);
    write({ ...object, webhooks });
  };
  return {
    cluster,
    put,
    change(configuration, entry, fields) {
      setEntries(
        configuration,
        entriesIn(configuration).map((one) => (one.name === entry ? Object.assign({}, one, fields) : one)),
      );
    },
    remove(configuration, entry) {
      setEntries(
        configuration,
        entriesIn(configuration).filter(({ name }) => name !== entry),
      );
    },
    add(entry) {
      const [first] = entriesIn(POLICIES);
      setEntries(POLICIES, [...entriesIn(POLICIES), { ...first, ...entry }]);
    },
    run: ({ wanted: other, ...input } = {}) =>
      preflight({
        cluster,
        nowMs: CREATED_MS,
        namespace: GATE_NAMESPACE,
        policyNamespaces: () => [],
        excludedNamespaces: EXCLUDED,
        agentNamespaces: [AGENTS],
        asksForNetworkPolicy: true,
        mayBeNative: true,
        wanted: () =>
          Promise.resolve({
            configurations: [wanted.identity, wanted.policies],
            incomparable: [],
            incomplete: [],
            comparesTarget: true,
            comparesBundle: true,
            findings: [],
            unknown: [],
            sources: [],
            ...other,
          }),
        shakeHands: () =>
          Promise.resolve({
            reached: true,
            trusted: true,
            why: '',
            notAfterMs: Date.parse('2026-06-01T00:00:00Z'),
          }),
        ...input,
      }),
  };
}
