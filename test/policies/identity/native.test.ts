/** The native policies say the same as the generated webhook entries and use the same codes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { identityEntries } from '../../../src/policies/identity/entries.ts';
import { NODE_LEASE_ENTRY } from '../../../src/policies/identity/entry-names.ts';
import { FINDING_CODES } from '../../../src/policies/finding.ts';
import { CASES } from './cases.ts';
import { settings } from './settings.ts';

interface Native {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy?: string;
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    readonly matchConditions?: readonly { readonly expression: string }[];
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly {
      readonly reason: string;
      readonly expression: string;
      readonly message?: string;
      readonly messageExpression?: string;
    }[];
    readonly matchConstraints?: { readonly resourceRules: readonly object[] };
    readonly matchResources?: {
      readonly namespaceSelector: { readonly matchExpressions: readonly { readonly values: string[] }[] };
    };
  };
}

const FILES = { 'node-identity': 2, 'node-identity-tokens': 2, 'node-identity-pods': 2 } as const;
const documents = (file: string): Native[] =>
  parseAllDocuments(readFileSync(`manifests/policies/${file}.yaml`, 'utf8')).map(
    (document) => document.toJS() as Native,
  );
const on = { enabled: true, failurePolicy: 'Fail' } as const;
const { webhooks } = identityEntries({
  settings: settings(),
  identity: on,
  tokens: on,
  pods: on,
  target: { url: 'https://127.0.0.1:9443' },
  timeoutSeconds: 10,
}).configuration;

/** Codes in the texts of a policy. */
function codesOf(policy: Native | undefined): string[] {
  const texts = (policy?.spec.validations ?? []).map(
    (one) => `${one.message ?? ''}${one.messageExpression ?? ''}`,
  );
  return texts.map((text) => /\[([A-Z_]+)\]/.exec(text)?.[1] ?? `no code in ${text}`);
}

describe.each(Object.entries(FILES))('manifests/policies/%s.yaml', (file, count) => {
  const all = documents(file);
  const policy = all.find((one) => one.kind === 'ValidatingAdmissionPolicy');
  const binding = all.find((one) => one.kind === 'ValidatingAdmissionPolicyBinding');
  const entry = webhooks.find((one) => one.name === policy?.metadata.name);

  it('holds a policy and its binding, which denies', () => {
    expect(all).toHaveLength(count);
    expect(policy?.spec.failurePolicy).toBe('Fail');
    expect(binding?.spec.policyName).toBe(policy?.metadata.name);
    expect(binding?.spec.validationActions).toEqual(['Deny']);
  });

  it('has the rules and the namespaces of the webhook entry', () => {
    expect(policy?.spec.matchConstraints?.resourceRules).toEqual(entry?.rules);
    const selected = binding?.spec.matchResources?.namespaceSelector.matchExpressions[0]?.values ?? [];
    const lease = file === 'node-identity' ? ['kube-node-lease'] : [];
    expect(selected).toEqual([...lease, ...(entry?.namespaceSelector.matchExpressions?.[0]?.values ?? [])]);
  });

  it('looks at the agents only', () => {
    const [condition, ...more] = policy?.spec.matchConditions ?? [];
    expect(more).toEqual([]);
    expect(condition?.expression).toMatch(/ in \[\s*'[^']*pacto-node-agent[:/]pacto-node-agent'\s*\]$/);
    expect(condition?.expression).not.toContain('||');
  });

  it('denies with Forbidden and codes that are explained', () => {
    for (const validation of policy?.spec.validations ?? []) expect(validation.reason).toBe('Forbidden');
    const known = Object.keys(FINDING_CODES);
    expect(codesOf(policy).filter((code) => !known.includes(code))).toEqual([]);
  });

  it('has a code for each denial of the table that it can tell', () => {
    const webhook = file.replace(/^node-identity-/, '');
    const needed = CASES.filter((one) => one.webhook === webhook && !one.webhookOnly && !one.unitOnly);
    const codes = codesOf(policy);
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.flatMap((one) => one.codes).filter((code) => !codes.includes(code))).toEqual([]);
  });
});

describe('the kubelets’ namespace', () => {
  it('is selected by an entry of its own, for the agents only', () => {
    const lease = webhooks.find((one) => one.name === NODE_LEASE_ENTRY);
    expect(lease?.namespaceSelector.matchExpressions?.[0]?.values).toEqual(['kube-node-lease']);
    expect(lease?.matchConditions).toHaveLength(1);
  });
});
