import { describe, expect, it } from 'vitest';
import {
  MUTATING_WEBHOOK_CONFIGURATION,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from '../../src/cluster/kinds.ts';
import { anObject } from '../support/builders.ts';
import { findIn, type Case } from './support/preflight-case.ts';
import {
  ENTRY,
  soundGate,
  type SoundGate,
  GATE_NAMESPACE,
  IDENTITY,
  POLICIES,
} from './support/sound-gate.ts';

const EVERYTHING = [
  { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'], scope: '*' },
];
const NODE_IDENTITY = 'node-identity.gate.pacto.trianalab.io';

const MANAGED = { 'gate.pacto.trianalab.io/managed-by': 'pacto-gate' };

function denyAllNatively(gate: SoundGate): void {
  const spec = { matchConstraints: { resourceRules: EVERYTHING }, validations: [{ expression: 'false' }] };
  gate.put(NATIVE_POLICY, anObject(NATIVE_POLICY, { name: 'all.example.com', labels: MANAGED }, { spec }));
  for (const name of ['all-here', 'all-there']) {
    const binding = { policyName: 'all.example.com', validationActions: ['Deny'] };
    gate.put(
      NATIVE_POLICY_BINDING,
      anObject(NATIVE_POLICY_BINDING, { name, labels: MANAGED }, { spec: binding }),
    );
  }
}

const ENTRY_CASES: readonly Case[] = [
  {
    code: 'PREFLIGHT_CONFIGURATION_MISSING',
    title: 'a configuration that is not there',
    make: ({ cluster }) => void cluster.unload(VALIDATING_WEBHOOK_CONFIGURATION, { name: POLICIES }),
  },
  {
    code: 'PREFLIGHT_ENTRY_MISSING',
    title: 'an entry under another name',
    make: (gate) => gate.change(POLICIES, ENTRY, { name: 'other.example.com' }),
    also: ['PREFLIGHT_ENTRY_EXTRA'],
  },
  {
    code: 'PREFLIGHT_ENTRY_EXTRA',
    title: 'an entry of a policy that is gone',
    make: (gate) => gate.add({ name: 'gone.example.com' }),
  },
  {
    code: 'PREFLIGHT_ENTRY_EXTRA',
    title: 'an entry of ours in the configuration of somebody else',
    make: (gate) =>
      gate.put(VALIDATING_WEBHOOK_CONFIGURATION, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'old' },
        webhooks: [
          {
            name: 'x.example.com',
            clientConfig: { url: 'https://gate.example.com/validate/policies/x' },
            failurePolicy: 'Ignore',
          },
        ],
      }),
  },
  {
    code: 'PREFLIGHT_PATH_TWICE',
    title: 'two configurations that ask for the same',
    make: (gate) =>
      gate.put(VALIDATING_WEBHOOK_CONFIGURATION, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'old', labels: { 'app.kubernetes.io/name': 'pacto-gate' } },
        webhooks: [
          {
            name: ENTRY,
            clientConfig: {
              service: { namespace: GATE_NAMESPACE, name: 'pacto-gate', path: `/validate/policies/${ENTRY}` },
            },
            failurePolicy: 'Ignore',
          },
        ],
      }),
    also: ['PREFLIGHT_ENTRY_EXTRA'],
  },
  {
    code: 'PREFLIGHT_ENTRY_WIDER',
    title: 'rules for more resources',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['deployments', 'controllerrevisions'],
            scope: '*',
          },
        ],
      }),
  },
  {
    code: 'PREFLIGHT_ENTRY_NARROWER',
    title: 'a selector for fewer objects',
    make: (gate) => gate.change(POLICIES, ENTRY, { objectSelector: { matchLabels: { checked: 'yes' } } }),
  },
  {
    code: 'PREFLIGHT_ENTRY_NARROWER',
    title: 'a match policy that passes other versions',
    make: (gate) => gate.change(POLICIES, ENTRY, { matchPolicy: 'Exact' }),
  },
  {
    code: 'PREFLIGHT_ENTRY_DIFFERS',
    title: 'rules for other resources',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['*'],
            resources: ['controllerrevisions'],
            scope: '*',
          },
        ],
      }),
  },
  {
    code: 'PREFLIGHT_CONDITIONS',
    title: 'a match condition that somebody put in',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        matchConditions: [{ name: 'not-me', expression: "request.userInfo.username != 'me'" }],
      }),
  },
  {
    code: 'PREFLIGHT_CONDITIONS',
    title: 'the match condition of agents taken out',
    make: (gate) => gate.change(IDENTITY, NODE_IDENTITY, { matchConditions: [] }),
  },
  {
    code: 'PREFLIGHT_FAILURE_POLICY',
    title: 'Ignore where it should be Fail',
    make: (gate) => gate.change(POLICIES, ENTRY, { failurePolicy: 'Ignore' }),
    also: ['PREFLIGHT_RECOVERY_DELAYED'],
  },
  {
    code: 'PREFLIGHT_TARGET',
    title: 'another service',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        clientConfig: {
          service: {
            namespace: GATE_NAMESPACE,
            name: 'pacto-gate',
            path: '/validate/policies/another',
            port: 443,
          },
          caBundle: btoa('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
        },
      }),
  },
  {
    code: 'PREFLIGHT_CA_BUNDLE',
    title: 'another CA',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        clientConfig: {
          service: {
            namespace: GATE_NAMESPACE,
            name: 'pacto-gate',
            path: `/validate/policies/${ENTRY}`,
            port: 443,
          },
          caBundle: btoa('-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n'),
        },
      }),
  },
  {
    code: 'PREFLIGHT_TIMEOUT',
    title: 'another time',
    make: (gate) => gate.change(POLICIES, ENTRY, { timeoutSeconds: 30 }),
  },
  {
    code: 'PREFLIGHT_REVIEW',
    title: 'a version of reviews that the gate does not read',
    make: (gate) => gate.change(POLICIES, ENTRY, { admissionReviewVersions: ['v2'] }),
  },
  {
    code: 'PREFLIGHT_NATIVE',
    title: 'no entry where a native policy of ours is',
    make: (gate) => {
      gate.remove(POLICIES, ENTRY);
      gate.put(
        NATIVE_POLICY,
        anObject(NATIVE_POLICY, {
          name: ENTRY,
          labels: MANAGED,
        }),
      );
    },
  },
  {
    code: 'PREFLIGHT_NATIVE_LOCK',
    title: 'a native policy that denies everything',
    make: denyAllNatively,
  },
  {
    code: 'PREFLIGHT_RECOVERY_BLOCKED',
    title: 'an entry about everything, system namespaces left out',
    make: (gate) => gate.change(POLICIES, ENTRY, { rules: EVERYTHING }),
    also: ['PREFLIGHT_ENTRY_WIDER', 'PREFLIGHT_COMFORT_BLOCKED'],
  },
  {
    code: 'PREFLIGHT_COMFORT_BLOCKED',
    title: 'an entry about roles',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        rules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['deployments'],
            scope: '*',
          },
          {
            apiGroups: ['rbac.authorization.k8s.io'],
            apiVersions: ['*'],
            operations: ['*'],
            resources: ['clusterroles'],
            scope: '*',
          },
        ],
      }),
    // An API server that starts makes roles, too.
    also: ['PREFLIGHT_ENTRY_WIDER', 'PREFLIGHT_RECOVERY_BLOCKED'],
  },
  {
    code: 'PREFLIGHT_RECOVERY_DELAYED',
    title: 'an entry about Nodes with failure policy Ignore',
    make: (gate) =>
      gate.change(POLICIES, ENTRY, {
        failurePolicy: 'Ignore',
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['nodes'], scope: '*' },
        ],
      }),
    also: ['PREFLIGHT_ENTRY_DIFFERS', 'PREFLIGHT_FAILURE_POLICY'],
  },
  {
    code: 'PREFLIGHT_FOREIGN_ENTRY',
    title: "somebody else's entry about Pods",
    make: (gate) =>
      gate.put(MUTATING_WEBHOOK_CONFIGURATION, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'mesh' },
        webhooks: [
          {
            name: 'inject.mesh.example.com',
            clientConfig: { service: { namespace: 'mesh', name: 'mesh', path: '/inject' } },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          },
        ],
      }),
  },
];

describe('the live entries beside those that should be', () => {
  it.each(ENTRY_CASES.map((one) => [one.code, one.title, one] as const))(
    'give %s for %s',
    async (_code, _title, one) => {
      const { codes, strange } = await findIn(one);
      expect(codes).toContain(one.code);
      expect(strange).toEqual([]);
    },
  );

  it('print the whole command that takes the bindings of a native policy away', async () => {
    const gate = soundGate();
    denyAllNatively(gate);
    const { findings } = await gate.run();
    expect(findings.find(({ code }) => code === 'PREFLIGHT_NATIVE_LOCK')?.next).toContain(
      'kubectl delete validatingadmissionpolicybindings.admissionregistration.k8s.io all-here all-there,',
    );
  });
});
