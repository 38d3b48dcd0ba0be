/** The sixteen policies of the benchmark as objects, for files, for an API server and for the peer. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { policyPath } from '../../../src/policies/vap/entry-name.ts';

/** What is read of a policy here. */
export interface PolicyObject extends KubeObject {
  readonly metadata: { readonly name: string };
  readonly spec: PolicySpec;
}

export interface PolicySpec {
  readonly matchConstraints: object;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly {
    readonly expression: string;
    readonly message?: string;
    readonly messageExpression?: string;
  }[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
}

/** All of the sixteen in one object: the work of sixteen policies on one review. */
export const TOGETHER = 'sixteen-together';

const FILE = fileURLToPath(new URL('./policies.yaml', import.meta.url));

export function benchPolicies(): readonly PolicyObject[] {
  return parse(readFileSync(FILE, 'utf8')) as readonly PolicyObject[];
}

/** @throws Error where two policies give variables the same name */
export function together(policies: readonly PolicyObject[]): PolicyObject {
  const [first] = policies;
  if (first === undefined) throw new Error('there are no policies');
  const variables = policies.flatMap(({ spec }) => spec.variables ?? []);
  if (new Set(variables.map(({ name }) => name)).size < variables.length)
    throw new Error('two policies have a variable of the same name');
  return {
    ...first,
    metadata: { name: TOGETHER },
    spec: {
      matchConstraints: first.spec.matchConstraints,
      variables,
      validations: policies.flatMap(({ spec }) => spec.validations),
    },
  };
}

export function bindingOf(policy: KubeObject): KubeObject {
  const { name = '' } = policy.metadata;
  return {
    apiVersion: policy.apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
}

/** Policies and their bindings as one file of `policies.files`. */
export function policyFile(policies: readonly PolicyObject[]): string {
  return policies
    .flatMap((policy) => [policy, bindingOf(policy)])
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

/** Where each of them is answered, one policy a request (design decision 16). */
export function pathsOf(policies: readonly KubeObject[]): readonly string[] {
  return policies.map(({ metadata }) => policyPath(metadata.name ?? ''));
}
