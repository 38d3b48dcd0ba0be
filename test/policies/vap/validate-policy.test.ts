import { describe, expect, test } from 'vitest';

import { answerPolicyWrite, policyWrite } from '../../../src/policies/vap/validate-policy.ts';
import { OPTIONS, RULE, findings, policy } from './written.ts';

const KEY_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function told(spec: object, metadata: object = {}): readonly string[] {
  return findings(answerPolicyWrite(policy(spec, metadata), OPTIONS));
}

function rules(...changes: readonly object[]): object {
  return { matchConstraints: { resourceRules: changes.map((change) => Object.assign({}, RULE, change)) } };
}

function conditions(...expressions: readonly string[]): object {
  return {
    matchConditions: expressions.map((expression, index) => ({ name: `c${String(index)}`, expression })),
  };
}

describe('a policy is accepted', () => {
  test.each<[string, object]>([
    ['as simple as it can be', {}],
    [
      'with every member',
      {
        failurePolicy: 'Ignore',
        paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Limit' },
        matchConditions: [{ name: 'a.b/c', expression: ' params.on == true ' }],
        variables: [{ name: '_v', expression: 'object.spec.replicas' }],
        validations: [
          {
            expression: 'variables._v > 1',
            message: ' ends in a line feed\n',
            messageExpression: "'is ' + string(variables._v)",
            reason: 'RequestEntityTooLarge',
          },
        ],
        auditAnnotations: [{ key: 'k', valueExpression: 'null' }],
      },
    ],
    ['with annotations only', { validations: [], auditAnnotations: [{ key: 'k', valueExpression: "'v'" }] }],
    ['with the core group', rules({ apiGroups: [''] })],
    ['with every pattern of resources', rules({ resources: ['*', '*/scale', 'pods/*', 'nodes/status'] })],
    ['with a resource before a star', rules({ resources: ['pods', '*'] })],
    ['with the authorizer in conditions', conditions("authorizer.path('/x').check('get').allowed()")],
    [
      'with a variable that is declared twice',
      {
        variables: [
          { name: 'a', expression: '1' },
          { name: 'a', expression: "'x'" },
        ],
        validations: [{ expression: "variables.a == 'x'" }],
      },
    ],
  ])('%s', (_, spec) => {
    expect(answerPolicyWrite(policy(spec), OPTIONS)).toStrictEqual({ status: undefined, warnings: [] });
  });
});

describe('a policy is refused', () => {
  test.each<[object, readonly string[]]>([
    [
      { failurePolicy: 'Maybe<' },
      [String.raw`spec.failurePolicy: Unsupported value: "Maybe\u003c": supported values: "Fail", "Ignore"`],
    ],
    [
      { failurePolicy: '' },
      ['spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"'],
    ],
    [{ matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      rules({ apiGroups: ['*', 'apps'] }),
      [
        `spec.matchConstraints.resourceRules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`,
      ],
    ],
    [
      rules({ apiVersions: ['*', ''] }),
      [
        `spec.matchConstraints.resourceRules[0].apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`,
        'spec.matchConstraints.resourceRules[0].apiVersions[1]: Required value',
      ],
    ],
    [
      rules({}, { resources: ['*/*', 'pods', ''] }),
      [
        'spec.matchConstraints.resourceRules[1].resources[2]: Required value',
        `spec.matchConstraints.resourceRules[1].resources: Invalid value: ["*/*","pods",""]: if '*/*' is present, must not specify other resources`,
      ],
    ],
    [
      rules({ resources: ['*', 'pods'] }),
      [
        `spec.matchConstraints.resourceRules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
      ],
    ],
    [
      rules({ resources: ['pods/*', 'pods/exec'] }),
      [
        `spec.matchConstraints.resourceRules[0].resources[1]: Invalid value: "pods/exec": if 'pods/*' is present, must not specify pods/exec`,
      ],
    ],
    [
      rules({ resourceNames: ['a/b%', '..'] }),
      [
        `spec.matchConstraints.resourceRules[0].resourceNames[0]: Invalid value: "a/b%": may not contain '/'`,
        `spec.matchConstraints.resourceRules[0].resourceNames[0]: Invalid value: "a/b%": may not contain '%'`,
        `spec.matchConstraints.resourceRules[0].resourceNames[1]: Invalid value: "..": may not be '..'`,
      ],
    ],
    [conditions('true', ' '), ['spec.matchConditions[1].expression: Required value']],
    [{ matchConditions: [{ expression: 'true' }] }, ['spec.matchConditions[0].name: Required value']],
    [
      { matchConditions: [{ name: 'a b', expression: 'true' }] },
      [`spec.matchConditions[0].name: Invalid value: "a b": ${KEY_RULE}`],
    ],
    [
      conditions('  object.spec.flag '),
      [
        'spec.matchConditions[0].expression: Invalid value: "object.spec.flag": must evaluate to bool but got dyn',
      ],
    ],
    [
      { variables: [{ name: ' ', expression: ' ' }] },
      [
        'spec.variables[0].name: Required value: name is not specified',
        'spec.variables[0].expression: Required value: expression is not specified',
      ],
    ],
    [
      { variables: [{ name: 'while', expression: '1' }] },
      ['spec.variables[0].name: Invalid value: "while": must be a valid CEL identifier'],
    ],
    [
      { validations: [{ expression: 'true', reason: 'Unauthorized' }] },
      [
        'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
    [
      { validations: [{ expression: 'true', messageExpression: ' \n' }] },
      [
        String.raw`spec.validations[0].messageExpression: Invalid value: " \n": must be non-empty if specified`,
      ],
    ],
    [
      { validations: [{ expression: "int('x') == 1" }] },
      [
        "spec.validations[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
      ],
    ],
    [
      {
        auditAnnotations: [
          { key: 'k', valueExpression: ' 1 ' },
          { key: 'k', valueExpression: "'v'" },
        ],
      },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: " 1 ": must evaluate to one of [string null_type] but got int',
        'spec.auditAnnotations[1].key: Duplicate value: "k"',
      ],
    ],
    [
      { auditAnnotations: [{ valueExpression: "'v'" }] },
      [
        'spec.auditAnnotations[0].key: Invalid value: "p.example.com/": name part must be non-empty',
        `spec.auditAnnotations[0].key: Invalid value: "p.example.com/": ${KEY_RULE}`,
      ],
    ],
    [{ paramKind: {} }, ['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value']],
    [
      { paramKind: { apiVersion: 'rules.example.com/', kind: 'Limit' } },
      ['spec.paramKind.apiVersion: Invalid value: "rules.example.com/": version must be specified'],
    ],
    [
      { paramKind: { apiVersion: '/', kind: 'Limit' } },
      ['spec.paramKind.apiVersion: Invalid value: "/": version must be specified'],
    ],
    [
      { paramKind: { apiVersion: 'V1', kind: 'ConfigMap' } },
      [
        `spec.paramKind.apiVersion: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
      ],
    ],
    [
      {
        matchConstraints: {
          resourceRules: [RULE],
          objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
        },
      },
      [
        "spec.matchConstraints.objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
  ])('with %j', (spec, wanted) => {
    expect(told(spec)).toStrictEqual(wanted);
  });

  test('with 65 conditions', () => {
    const many = conditions(...Array.from({ length: 65 }, () => 'true'));
    expect(told(many)).toStrictEqual(['spec.matchConditions: Too many: 65: must have at most 64 items']);
    expect(told(conditions(...Array.from({ length: 64 }, () => 'true')))).toStrictEqual([]);
  });

  test('with an expression whose place it names as the API server does', () => {
    expect(told({ validations: [{ expression: 'true &&\n  nope' }] })).toStrictEqual([
      `spec.validations[0].expression: Invalid value: "true &&\\n  nope": compilation failed: ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope\n | ..^`,
    ]);
  });

  test('in one text, and in a cause for each finding', () => {
    const one = { expression: 'true', reason: 'X' };
    const { status } = answerPolicyWrite(policy({ validations: [one, one], failurePolicy: 'X' }), OPTIONS);
    expect(status?.message).toBe(
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p.example.com" is invalid: [spec.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore", spec.validations[0].reason: Unsupported value: "X": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", spec.validations[1].reason: Unsupported value: "X": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"]',
    );
    expect(status).toMatchObject({ reason: 'Invalid', code: 422, details: { causes: { length: 3 } } });
  });

  test('with 400, when something has a wrong type', () => {
    const { status } = answerPolicyWrite(policy({ validations: 1 }), OPTIONS);
    expect(status).toStrictEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'ValidatingAdmissionPolicy in version "v1" cannot be handled as a ValidatingAdmissionPolicy: json: cannot unmarshal number into Go struct field ValidatingAdmissionPolicySpec.spec.validations of type []v1.Validation',
      reason: 'BadRequest',
      code: 400,
    });
  });
});

describe('metadata', () => {
  test.each<[string, object]>([
    ['a generated name', { name: undefined, generateName: 'gen-' }],
    ['labels and annotations', { labels: { a: '' }, annotations: { 'Example.COM/A': '\n' } }],
    [
      'an owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }] },
    ],
    ['a finalizer', { finalizers: ['example.com/x', 'orphan'] }],
  ])('is accepted with %s', (_, metadata) => {
    expect(told({}, metadata)).toStrictEqual([]);
  });

  test.each<[object, readonly string[]]>([
    [{ name: '' }, ['metadata.name: Required value: name or generateName is required']],
    [{ labels: { 'a b': 'ok' } }, [`metadata.labels: Invalid value: "a b": ${KEY_RULE}`]],
    [
      { annotations: { '': 'x' } },
      [
        'metadata.annotations: Invalid value: "": name part must be non-empty',
        `metadata.annotations: Invalid value: "": ${KEY_RULE}`,
      ],
    ],
    [
      { annotations: { a: 'x'.repeat(256 * 1024) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      { ownerReferences: [{ apiVersion: 'a/b/c' }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ])('is refused with %j', (metadata, wanted) => {
    expect(told({}, metadata)).toStrictEqual(wanted);
  });

  test('is refused with two controllers', () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', uid: 'u', controller: true };
    const ownerReferences = [
      { ...owner, name: 'a' },
      { ...owner, name: 'b' },
    ];
    expect(told({}, { ownerReferences })).toStrictEqual([
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"b","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b',
    ]);
  });

  test('without a name, an annotation has no key', () => {
    expect(told({ auditAnnotations: [{ key: 'k', valueExpression: "'v'" }] }, { name: '' })).toStrictEqual([
      'metadata.name: Required value: name or generateName is required',
      'spec.auditAnnotations[0].key: Invalid value: "k": requires metadata.name be non-empty',
    ]);
  });
});

describe('names that are kept for files', () => {
  const metadata = { name: 'x.static.k8s.io' };
  const rule =
    'names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API';

  test('are accepted without a word up to 1.35, with a warning by 1.36, and refused by 1.37', () => {
    const answers = [35, 36, 37].map((minor) =>
      answerPolicyWrite(policy({}, metadata), { ...OPTIONS, minor }),
    );
    expect(answers.map(({ warnings }) => warnings)).toStrictEqual([[], [`metadata.name: ${rule}`], []]);
    expect(answers.map(findings)).toStrictEqual([
      [],
      [],
      [`metadata.name: Invalid value: "x.static.k8s.io": ${rule}`],
    ]);
  });

  test('may be updated by 1.37, with a warning', () => {
    const object = policy({}, metadata);
    const answer = answerPolicyWrite(object, { ...OPTIONS, minor: 37, old: object });
    expect(answer).toStrictEqual({ status: undefined, warnings: [`metadata.name: ${rule}`] });
  });
});

describe('expressions', () => {
  const range = { validations: [{ expression: 'lists.range(2) == [0, 1]' }] };

  test('that are new may use what the minor before knows', () => {
    const answers = [34, 35].map((minor) => answerPolicyWrite(policy(range), { ...OPTIONS, minor }));
    expect(answers.map(({ status }) => status === undefined)).toStrictEqual([false, true]);
  });

  test('that are stored may use everything', () => {
    const stored = policy(range);
    const update = policy({ ...range, failurePolicy: 'Ignore' });
    expect(answerPolicyWrite(update, { ...OPTIONS, minor: 34, old: stored }).status).toBeUndefined();
    const changed = policy({ validations: [{ expression: 'lists.range(3) == [0, 1]' }] });
    expect(answerPolicyWrite(changed, { ...OPTIONS, minor: 34, old: stored }).status).toBeDefined();
  });

  test('of conditions are not looked at again while neither they nor the paramKind change', () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const broken = policy({ matchConditions: [{ name: 'a', expression: 'nope' }], paramKind });
    const kept = policy({
      matchConditions: [{ name: 'a', expression: 'nope' }],
      paramKind,
      failurePolicy: 'Ignore',
    });
    const changed = policy({ matchConditions: [{ name: 'a', expression: 'nope' }] });
    expect(answerPolicyWrite(kept, { ...OPTIONS, old: broken }).status).toBeUndefined();
    expect(findings(answerPolicyWrite(changed, { ...OPTIONS, old: broken }))).toHaveLength(1);
  });

  test('of broken validations are refused at any update', () => {
    const broken = policy({ validations: [{ expression: 'nope' }] });
    expect(findings(answerPolicyWrite(broken, { ...OPTIONS, old: broken }))).toHaveLength(1);
  });

  test('see the types of variables, and dyn where one does not compile', () => {
    const variables = [{ name: 'a', expression: 'nope' }];
    expect(told({ variables, validations: [{ expression: 'variables.a == 1' }] })).toHaveLength(1);
    const typed = {
      variables: [{ name: 'a', expression: '1' }],
      validations: [{ expression: "variables.a == ''" }],
    };
    expect(told(typed)).toHaveLength(1);
  });
});

describe('an update', () => {
  test('is refused where it changes the name, and names what is wrong with labels in both passes', () => {
    const old = policy({}, { name: 'other' });
    const answer = answerPolicyWrite(policy({}, { labels: { a: '!' } }), { ...OPTIONS, old });
    const causes = findings(answer);
    expect(causes.filter((cause) => cause.startsWith('metadata.labels'))).toHaveLength(3);
    // The text says it once.
    expect(answer.status?.message.split('metadata.labels')).toHaveLength(2);
    expect(causes).toContain('metadata.name: Invalid value: "p.example.com": field is immutable');
  });

  test('is refused where what is stored cannot be read', () => {
    expect(answerPolicyWrite(policy(), { ...OPTIONS, old: 'x' }).status).toMatchObject({ code: 400 });
  });
});

describe('a policy of thousands of expressions', () => {
  test('is checked in steps, one at least for each', () => {
    const each = Array.from({ length: 300 }, (_, index) => index);
    const object = policy({
      variables: each.map((index) => ({ name: `v${String(index)}`, expression: '1' })),
      matchConditions: each.slice(0, 60).map((index) => ({ name: `c${String(index)}`, expression: 'true' })),
      validations: each.map(() => ({ expression: 'true' })),
      auditAnnotations: each
        .slice(0, 20)
        .map((index) => ({ key: `k${String(index)}`, valueExpression: "'a'" })),
    });
    const steps = policyWrite(object, OPTIONS);
    let taken = 0;
    let next = steps.next();
    for (; next.done !== true; next = steps.next()) taken += 1;
    expect(taken).toBeGreaterThanOrEqual(300 + 60 + 300 + 20);
    expect(next.value).toStrictEqual(answerPolicyWrite(object, OPTIONS));
    expect(next.value.status).toBeUndefined();
  });
});
