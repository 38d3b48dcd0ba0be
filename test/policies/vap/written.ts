/** Policies and bindings for the tests of the write-time rules. */
import { Cel } from '../../../src/policies/cel/cel.ts';
import type { WriteAnswer, WriteOptions } from '../../../src/policies/vap/write-answer.ts';

const CEL = new Cel();

export const RULE = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['deployments'],
};

export const OPTIONS: WriteOptions = { cel: CEL, minor: 36 };

/** A policy that is fine, with what a case changes in its spec and metadata. */
export function policy(spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p.example.com', ...metadata },
    spec: {
      matchConstraints: { resourceRules: [RULE] },
      validations: [{ expression: 'object.spec.replicas > 1' }],
      ...spec,
    },
  };
}

/** A binding that is fine, with what a case changes. */
export function binding(spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'b', ...metadata },
    spec: { policyName: 'p.example.com', validationActions: ['Deny'], ...spec },
  };
}

/** What a refusal says of the fields: `field: text`. */
export function findings({ status }: WriteAnswer): readonly string[] {
  return (status?.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}
