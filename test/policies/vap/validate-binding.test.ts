import { describe, expect, test } from 'vitest';

import { answerBindingWrite } from '../../../src/policies/vap/validate-binding.ts';
import { OPTIONS, binding, findings } from './written.ts';

function paramRef(ref: object): object {
  return { paramRef: { parameterNotFoundAction: 'Deny', ...ref } };
}

describe('a binding is accepted', () => {
  test.each<[string, object]>([
    ['as simple as it can be', {}],
    ['with two actions', { validationActions: ['Warn', 'Audit'] }],
    ['with a named param', paramRef({ name: 'x', namespace: 'Anything' })],
    ['with a selector that selects all', paramRef({ selector: {} })],
    ['with a selector and an empty name', paramRef({ name: '', selector: {} })],
    ['with resources of its own and no rules', { matchResources: { matchPolicy: 'Exact' } }],
  ])('%s', (_, spec) => {
    expect(answerBindingWrite(binding(spec), OPTIONS)).toStrictEqual({ status: undefined, warnings: [] });
  });
});

describe('a binding is refused', () => {
  test.each<[object, readonly string[]]>([
    [
      { policyName: null, validationActions: [] },
      [
        'spec.policyName: Required value',
        'spec.validationActions: Required value: at least one validation action is required',
      ],
    ],
    [
      { validationActions: ['Deny', 'Warn', 'Warn'] },
      [
        'spec.validationActions[2]: Duplicate value: "Warn"',
        'spec.validationActions: Invalid value: ["Deny","Warn","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      { validationActions: ['deny'] },
      ['spec.validationActions[0]: Unsupported value: "deny": supported values: "Audit", "Deny", "Warn"'],
    ],
    [paramRef({ name: '.' }), [`spec.paramRef.name: Invalid value: ".": may not be '.'`]],
    [
      paramRef({ name: 'x', selector: { matchLabels: { a: '-' } } }),
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        `spec.paramRef.selector.matchLabels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      ],
    ],
    [
      { paramRef: { parameterNotFoundAction: '' } },
      [
        'spec.paramRef: Required value: one of name or selector must be specified',
        'spec.paramRef.parameterNotFoundAction: Required value',
      ],
    ],
    [
      paramRef({ name: 'x', parameterNotFoundAction: 'Ignore' }),
      [
        'spec.paramRef.parameterNotFoundAction: Unsupported value: "Ignore": supported values: "Deny", "Allow"',
      ],
    ],
    [
      { matchResources: { resourceRules: [{}] } },
      [
        'spec.matchResources.resourceRules[0].operations: Required value',
        'spec.matchResources.resourceRules[0].apiGroups: Required value',
        'spec.matchResources.resourceRules[0].apiVersions: Required value',
        'spec.matchResources.resourceRules[0].resources: Required value',
      ],
    ],
  ])('with %j', (spec, wanted) => {
    expect(findings(answerBindingWrite(binding(spec), OPTIONS))).toStrictEqual(wanted);
  });

  test('under the name of its group', () => {
    const { status } = answerBindingWrite(binding({ policyName: '' }), {
      ...OPTIONS,
      group: 'gate.pacto.trianalab.io',
    });
    expect(status?.message).toBe(
      'ValidatingAdmissionPolicyBinding.gate.pacto.trianalab.io "b" is invalid: spec.policyName: Required value',
    );
  });

  test('and its unknown fields are told all the same', () => {
    const answer = answerBindingWrite(binding({ policyName: '', polciyName: 'p' }), OPTIONS);
    expect(answer.warnings).toStrictEqual(['unknown field "spec.polciyName"']);
  });
});
