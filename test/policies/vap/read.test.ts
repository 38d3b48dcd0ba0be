import { describe, expect, test } from 'vitest';

import { readBinding, readPolicy } from '../../../src/policies/vap/read.ts';

const RULE = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['deployments'],
};

function policy(spec: unknown, metadata: unknown = { name: 'p.example.com' }): unknown {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec,
  };
}

describe('readPolicy', () => {
  test('fills in the defaults of what is left out or null', () => {
    const read = readPolicy(
      policy({ failurePolicy: null, matchConstraints: { resourceRules: [RULE], objectSelector: null } }),
    );
    expect(read).toMatchObject({
      ok: true,
      warnings: [],
      value: {
        name: 'p.example.com',
        failurePolicy: 'Fail',
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: { matchLabels: {}, matchExpressions: [] },
          objectSelector: { matchLabels: {}, matchExpressions: [] },
          resourceRules: [{ ...RULE, scope: '*', resourceNames: [] }],
          excludeResourceRules: [],
        },
        validations: [],
        auditAnnotations: [],
        matchConditions: [],
        variables: [],
      },
    });
  });

  test('leaves out what is not there, and keeps an empty reason', () => {
    const read = readPolicy(
      policy({ validations: [{ expression: 'true', message: '', messageExpression: '', reason: '' }] }),
    );
    expect(read.ok && read.value.validations).toStrictEqual([{ expression: 'true', reason: '' }]);
    expect(read.ok && Object.keys(read.value)).not.toContain('matchConstraints');
  });

  test.each([
    ['without a spec', undefined],
    ['with a null spec', null],
    ['with an empty spec', {}],
  ])('reads a policy %s', (_, spec) => {
    expect(readPolicy(policy(spec))).toMatchObject({ ok: true, value: { failurePolicy: 'Fail' } });
  });

  test('drops unknown fields and names them with their places', () => {
    const read = readPolicy({
      ...(policy({ nonsense: 1, validations: [{ expression: 'true', mesage: 'x' }] }) as object),
      extra: {},
    });
    expect(read).toMatchObject({
      ok: true,
      warnings: [
        'unknown field "spec.nonsense"',
        'unknown field "spec.validations[0].mesage"',
        'unknown field "extra"',
      ],
      value: { validations: [{ expression: 'true' }] },
    });
  });

  test('names at most a hundred unknown fields', () => {
    const spec = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${String(index)}`, 1]));
    expect(readPolicy(policy(spec))).toMatchObject({ ok: true, warnings: { length: 100 } });
  });

  test('reads keys that other programs trip over', () => {
    const labels = JSON.parse('{"__proto__": "a", "constructor": "b"}') as unknown;
    const read = readPolicy(policy({}, { name: 'p', labels }));
    expect(read.ok && Object.entries(read.metadata.labels)).toStrictEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  test.each([
    ['a text', 'x', 'json: cannot unmarshal string into Go value of type v1.ValidatingAdmissionPolicy'],
    ['a list', [], 'json: cannot unmarshal array into Go value of type v1.ValidatingAdmissionPolicy'],
  ])('refuses %s', (_, object, fault) => {
    expect(readPolicy(object)).toStrictEqual({ ok: false, fault });
  });

  test.each([
    [
      { validations: 'true' },
      'string into Go struct field ValidatingAdmissionPolicySpec.spec.validations of type []v1.Validation',
    ],
    [
      { validations: ['true'] },
      'string into Go struct field ValidatingAdmissionPolicySpec.spec.validations of type v1.Validation',
    ],
    [
      { validations: [{ expression: true }] },
      'bool into Go struct field Validation.spec.validations.expression of type string',
    ],
    [
      { failurePolicy: 1 },
      'number into Go struct field ValidatingAdmissionPolicySpec.spec.failurePolicy of type v1.FailurePolicyType',
    ],
    [
      { failurePolicy: new Object(1) },
      'number into Go struct field ValidatingAdmissionPolicySpec.spec.failurePolicy of type v1.FailurePolicyType',
    ],
    [
      { matchConstraints: { resourceRules: [{ operations: 'CREATE' }] } },
      'string into Go struct field NamedRuleWithOperations.spec.matchConstraints.resourceRules.RuleWithOperations.operations of type []v1.OperationType',
    ],
    [
      { matchConstraints: { objectSelector: { matchLabels: { a: 1 } } } },
      'number into Go struct field LabelSelector.spec.matchConstraints.objectSelector.matchLabels of type string',
    ],
    [
      { matchConstraints: { objectSelector: { matchLabels: [] } } },
      'array into Go struct field LabelSelector.spec.matchConstraints.objectSelector.matchLabels of type map[string]string',
    ],
  ])('refuses the spec %j', (spec, fault) => {
    expect(readPolicy(policy(spec))).toStrictEqual({ ok: false, fault: `json: cannot unmarshal ${fault}` });
  });

  test('tells the first of several faults, and none beside it', () => {
    const read = readPolicy(policy({ validations: {}, failurePolicy: [] }));
    expect(read).toMatchObject({ ok: false, fault: expect.stringContaining('spec.validations') as string });
  });

  test('refuses a generation that is no integer', () => {
    expect(readPolicy(policy({}, { name: 'p', generation: 1.5 }))).toStrictEqual({
      ok: false,
      fault:
        'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64',
    });
  });
});

describe('readBinding', () => {
  test('reads what is there and nothing else', () => {
    const spec = { policyName: 'p', validationActions: ['Deny'], paramRef: { name: 'x' } };
    const read = readBinding({ metadata: { name: 'b' }, spec });
    expect(read.ok && read.value).toStrictEqual({
      name: 'b',
      policyName: 'p',
      paramRef: { name: 'x' },
      validationActions: ['Deny'],
    });
  });

  test('keeps an empty selector apart from none', () => {
    const paramRef = { selector: {}, parameterNotFoundAction: 'Allow' };
    const read = readBinding({ metadata: { name: 'b' }, spec: { policyName: 'p', paramRef } });
    expect(read.ok && read.value.paramRef).toStrictEqual({
      selector: { matchLabels: {}, matchExpressions: [] },
      parameterNotFoundAction: 'Allow',
    });
  });

  test('reads a null in a list of texts as an empty one', () => {
    const read = readBinding({ metadata: { name: 'b' }, spec: { validationActions: [null, 'Deny'] } });
    expect(read.ok && read.value.validationActions).toStrictEqual(['', 'Deny']);
  });

  test('fills in the defaults of matchResources', () => {
    const read = readBinding({ metadata: { name: 'b' }, spec: { matchResources: {} } });
    expect(read.ok && read.value.matchResources?.matchPolicy).toBe('Equivalent');
  });
});
