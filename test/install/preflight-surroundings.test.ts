import { describe, expect, it } from 'vitest';
import { NAMESPACE } from '../../src/cluster/kinds.ts';
import type { PreflightInput } from '../../src/install/preflight/preflight.ts';
import {
  DEPLOYMENT,
  ENDPOINT_SLICE,
  NETWORK_POLICY,
  SERVICE,
} from '../../src/install/preflight/recovery-kinds.ts';
import { anObject } from '../support/builders.ts';
import { findIn, type Case } from './support/preflight-case.ts';
import { ENTRY, GATE_NAMESPACE, namespaceObject, POLICIES, type SoundGate } from './support/sound-gate.ts';

/** No API server of today shows a Namespace without the label, and no memory cluster. */
function withLabels(
  { cluster }: SoundGate,
  name: string,
  labels: Readonly<Record<string, string>>,
): PreflightInput['cluster'] {
  return {
    get: (...args) => cluster.get(...args),
    async list(...args) {
      const page = await cluster.list(...args);
      const items = page.items.map((item) =>
        item.kind === 'Namespace' && item.metadata.name === name
          ? { ...item, metadata: Object.assign({}, item.metadata, { labels }) }
          : item,
      );
      return { ...page, items };
    },
  };
}

const expiring: NonNullable<PreflightInput['shakeHands']> = () =>
  Promise.resolve({ reached: true, trusted: true, why: '', notAfterMs: Date.parse('2026-01-05T00:00:00Z') });

const CASES: readonly Case[] = [
  {
    code: 'PREFLIGHT_NAMESPACE_COVERED',
    title: 'a selector that leaves kube-system in',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['batch'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['jobs'],
            scope: '*',
          },
        ],
        namespaceSelector: {
          matchExpressions: [
            { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [GATE_NAMESPACE] },
          ],
        },
      }),
    also: ['PREFLIGHT_ENTRY_DIFFERS'],
  },
  {
    code: 'PREFLIGHT_NAMESPACE_COVERED',
    title: 'a selector that the labels of the own namespace meet',
    make: (gate) => {
      gate.put(NAMESPACE, namespaceObject(GATE_NAMESPACE, { policies: 'on' }));
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['batch'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['jobs'],
            scope: '*',
          },
        ],
        namespaceSelector: { matchLabels: { policies: 'on' } },
      });
    },
    also: ['PREFLIGHT_ENTRY_DIFFERS'],
  },
  {
    code: 'PREFLIGHT_NO_SELECTOR',
    title: 'no selector at all',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['batch'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['jobs'],
            scope: '*',
          },
        ],
        namespaceSelector: {},
      }),
    also: ['PREFLIGHT_ENTRY_DIFFERS'],
  },
  {
    code: 'PREFLIGHT_NAMESPACE_UNNAMED',
    title: 'a Namespace without the label of its name, as before Kubernetes 1.21',
    read: (gate) => withLabels(gate, 'kube-public', {}),
    also: ['PREFLIGHT_NAMESPACE_COVERED'],
  },
  {
    code: 'PREFLIGHT_NAMESPACE_UNNAMED',
    title: 'the Namespace of agents with the name of another',
    read: (gate) => withLabels(gate, 'pacto-node-agent', { 'kubernetes.io/metadata.name': 'other' }),
  },
  {
    code: 'PREFLIGHT_NAMESPACE_DEFAULT',
    title: 'a gate in default',
    input: { namespace: 'default', asksForNetworkPolicy: false },
    also: ['PREFLIGHT_NAMESPACE_COVERED', 'PREFLIGHT_RECOVERY_BLOCKED', 'PREFLIGHT_COMFORT_BLOCKED'],
  },
  {
    code: 'PREFLIGHT_EXCLUSION_MISSING',
    title: 'kube-system not left out by the configuration',
    input: { excludedNamespaces: ['kube-public', 'kube-node-lease'] },
  },
  {
    code: 'PREFLIGHT_POINTER_BLOCKED',
    title: 'an entry that reaches the HelmRelease of the gate',
    make: (gate) => {
      gate.put(
        DEPLOYMENT,
        anObject(
          DEPLOYMENT,
          {
            namespace: GATE_NAMESPACE,
            name: 'pacto-gate',
            labels: {
              'app.kubernetes.io/name': 'pacto-gate',
              'helm.toolkit.fluxcd.io/name': 'gate',
              'helm.toolkit.fluxcd.io/namespace': 'delivery',
            },
          },
          { spec: { template: { metadata: { labels: { app: 'gate' } } } } },
        ),
      );
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['helm.toolkit.fluxcd.io'],
            apiVersions: ['v2'],
            operations: ['*'],
            resources: ['helmreleases'],
            scope: '*',
          },
        ],
      });
    },
    also: ['PREFLIGHT_ENTRY_DIFFERS', 'PREFLIGHT_COMFORT_BLOCKED'],
  },
  {
    code: 'PREFLIGHT_AUTH_NONE',
    title: 'no NetworkPolicy for the Pods of the gate',
    make: ({ cluster }) =>
      void cluster.unload(NETWORK_POLICY, { namespace: GATE_NAMESPACE, name: 'pacto-gate' }),
  },
  {
    code: 'PREFLIGHT_AUTH_NONE',
    title: 'a NetworkPolicy that lets everybody in',
    make: (gate) =>
      gate.put(
        NETWORK_POLICY,
        anObject(
          NETWORK_POLICY,
          { namespace: GATE_NAMESPACE, name: 'pacto-gate' },
          { spec: { podSelector: {}, ingress: [{}] } },
        ),
      ),
  },
  {
    code: 'PREFLIGHT_AUTH_NONE',
    title: 'a NetworkPolicy for other Pods',
    make: (gate) =>
      gate.put(
        NETWORK_POLICY,
        anObject(
          NETWORK_POLICY,
          { namespace: GATE_NAMESPACE, name: 'pacto-gate' },
          {
            spec: {
              podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['gate'] }] },
            },
          },
        ),
      ),
  },
  {
    code: 'PREFLIGHT_SERVICE_MISSING',
    title: 'no Service',
    make: ({ cluster }) => void cluster.unload(SERVICE, { namespace: GATE_NAMESPACE, name: 'pacto-gate' }),
  },
  {
    code: 'PREFLIGHT_SERVICE_MISSING',
    title: 'a Service without the port',
    make: (gate) =>
      gate.put(
        SERVICE,
        anObject(
          SERVICE,
          { namespace: GATE_NAMESPACE, name: 'pacto-gate' },
          { spec: { ports: [{ port: 8443 }] } },
        ),
      ),
  },
  {
    code: 'PREFLIGHT_SERVICE_NOT_READY',
    title: 'no Pod that is ready',
    make: (gate) =>
      gate.put(
        ENDPOINT_SLICE,
        anObject(
          ENDPOINT_SLICE,
          {
            namespace: GATE_NAMESPACE,
            name: 'pacto-gate',
            labels: { 'kubernetes.io/service-name': 'pacto-gate' },
          },
          { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }] },
        ),
      ),
  },
  {
    code: 'PREFLIGHT_CERTIFICATE_UNTRUSTED',
    title: 'a certificate of another CA',
    input: {
      shakeHands: () =>
        Promise.resolve({
          reached: true,
          trusted: false,
          why: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
          notAfterMs: Date.parse('2027-01-01T00:00:00Z'),
        }),
    },
  },
  {
    code: 'PREFLIGHT_CERTIFICATE_EXPIRES',
    title: 'a certificate for four days',
    input: { shakeHands: expiring },
  },
  {
    code: 'PREFLIGHT_CERTIFICATE_NOT_CHECKED',
    title: 'a server out of reach',
    input: { shakeHands: () => Promise.resolve({ reached: false, why: 'ENOTFOUND' }) },
  },
  {
    code: 'PREFLIGHT_CERTIFICATE_NOT_CHECKED',
    title: 'files, which have no servers',
    input: { shakeHands: undefined },
  },
];

describe('what the entries depend on', () => {
  it.each(CASES.map((one) => [one.code, one.title, one] as const))(
    'gives %s for %s',
    async (_code, _title, one) => {
      const { codes, strange } = await findIn(one);
      expect(codes).toContain(one.code);
      expect(strange).toEqual([]);
    },
  );
});
