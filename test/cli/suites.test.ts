import { describe, expect, it } from 'vitest';
import { runCommand } from './run-command.ts';
import { ALLOWED, binding, configMap, DENIED, given, policy, report, suite } from './suite-files.ts';

/** What differs in the only case. */
async function differing(one: object, more: object = {}): Promise<readonly string[]> {
  const { value, code } = await report(suite([{ name: 'c', ...one }], more));
  expect(code).toBe(value.failed === 0 ? 0 : 1);
  return value.suites[0]?.cases.flatMap(({ differences }) => differences.map(({ what }) => what)) ?? [];
}

describe('an expectation', () => {
  it.each<[string, object, object, readonly string[]]>([
    ['that it is denied passes', DENIED, { allowed: false }, []],
    ['that it is denied fails', ALLOWED, { allowed: false }, ['allowed']],
    ['that it is allowed passes', ALLOWED, { allowed: true }, []],
    ['that it is allowed fails', DENIED, { allowed: true }, ['allowed']],
    ['of a message means a denial', ALLOWED, { message: 'need x' }, ['allowed']],
    ['of the exact message passes', DENIED, { message: 'need x' }, []],
    ['of the exact message fails by a part', DENIED, { message: 'need' }, ['message']],
    [
      'of a part of what the API server says passes',
      DENIED,
      { message: { contains: "with binding 'b' denied" } },
      [],
    ],
    ['of a part fails', DENIED, { message: { contains: 'other' } }, ['message']],
    ['of reason and code passes', DENIED, { reason: 'Invalid', code: 422 }, []],
    ['of reason and code fails', DENIED, { reason: 'Forbidden', code: 403 }, ['reason', 'code']],
    ['of policy and binding passes', DENIED, { policy: 'p', binding: 'b' }, []],
    ['of policy and binding fails', DENIED, { policy: 'b', binding: 'p' }, ['policy', 'binding']],
    ['of no warning passes', DENIED, { warnings: [] }, []],
    ['of a warning fails', DENIED, { warnings: ['w'] }, ['warnings']],
    ['of no audit annotation passes', DENIED, { auditAnnotations: { 'p/k': null } }, []],
    ['of an audit annotation fails', DENIED, { auditAnnotations: { 'p/k': 'v' } }, ['auditAnnotations.p/k']],
  ])('%s', async (_what, one, expect_, found) => {
    expect(await differing({ ...one, expect: expect_ })).toEqual(found);
  });

  it.each<[string, object, readonly string[]]>([
    [
      'passes',
      {
        allowed: true,
        warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': soft"],
        auditAnnotations: {
          'p/k': 'v',
          'validation.policy.admission.k8s.io/validation_failure': { contains: 'soft' },
        },
      },
      [],
    ],
    [
      'fails',
      { warnings: [{ contains: 'hard' }], auditAnnotations: { 'p/k': null } },
      ['warnings[0]', 'auditAnnotations.p/k'],
    ],
  ])('of warnings and audit annotations %s', async (_what, expect_, found) => {
    const soft = policy({
      validations: [{ expression: 'false', message: 'soft' }],
      auditAnnotations: [{ key: 'k', valueExpression: "'v'" }],
    });
    const policies = [soft, binding({ validationActions: ['Warn', 'Audit'] })];
    expect(await differing({ ...DENIED, expect: expect_ }, { policies })).toEqual(found);
  });
});

const asserting = (expression: string): object => ({
  policies: [policy({ validations: [{ expression }] }), binding()],
});

describe('a request of a suite', () => {
  it.each<[string, object, string]>([
    [
      'is a CREATE of an object',
      { object: configMap() },
      "request.operation == 'CREATE' && oldObject == null",
    ],
    [
      'is an UPDATE where there is an old object',
      { object: configMap({ a: 'new' }), oldObject: configMap({ a: 'old' }) },
      "request.operation == 'UPDATE' && oldObject.data.a == 'old' && object.data.a == 'new'",
    ],
    ['is a DELETE', { operation: 'DELETE', oldObject: configMap() }, 'object == null && oldObject != null'],
    [
      'has an administrator as its user',
      { object: configMap() },
      "request.userInfo.username == 'kubernetes-admin'",
    ],
    [
      'has the user of a name',
      { object: configMap(), user: 'dana' },
      "request.userInfo.username == 'dana@example.com' && 'dev' in request.userInfo.groups && request.userInfo.extra['k'] == ['v']",
    ],
    [
      'has a user who is not in the list',
      { object: configMap(), user: 'system:serviceaccount:a:b' },
      "'system:serviceaccounts:a' in request.userInfo.groups",
    ],
    [
      'has a user of its own',
      { object: configMap(), user: { username: 'eve', groups: [] } },
      "request.userInfo.username == 'eve'",
    ],
    [
      'has name, namespace and dry run',
      { object: configMap(), name: 'n', dryRun: true },
      "request.name == 'n' && request.dryRun",
    ],
    [
      'has a namespace with its labels',
      { object: configMap() },
      "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'shop' && namespaceObject.metadata.labels.env == 'prod'",
    ],
    ['has a whole number as an integer', { object: { ...configMap(), size: 1 } }, 'type(object.size) == int'],
    [
      'is what a file holds',
      { object: 'object.yaml' },
      "object.data.from == 'file' && type(object.size) == double",
    ],
  ])('%s', async (_what, request, expression) => {
    const users = { dana: { username: 'dana@example.com', groups: ['dev'], extra: { k: ['v'] } } };
    const namespaces = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { env: 'prod' } } },
    ];
    const directory = await given({
      'object.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\nsize: 1.0\ndata: {from: file}',
      'suite.yaml': suite([{ name: 'c', given: request, expect: { allowed: true } }], {
        ...asserting(expression),
        users,
        namespaces,
      }),
    });
    const ran = await runCommand(['test', directory]);
    expect(ran.out).toContain('1 passed, 0 failed');
  });

  it('is a whole review', async () => {
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'u',
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'reviewed',
        namespace: 'shop',
        operation: 'CREATE',
        userInfo: { username: 'dana' },
        object: configMap(),
        oldObject: null,
      },
    };
    const more = asserting("request.name == 'reviewed'");
    expect(await differing({ review, expect: { allowed: true } }, more)).toEqual([]);
  });

  it('is made row by row of a table: maps are merged, null removes', async () => {
    const table = [
      { case: 'as it is', expect: { allowed: true } },
      { case: 'changed', object: { data: { a: 'y' } }, expect: { message: 'need x' } },
      { case: 'removed', object: { data: null }, expect: { message: { contains: 'no such key: data' } } },
    ];
    const { value } = await report(suite([{ name: 'c', ...ALLOWED, table }]));
    expect(value).toMatchObject({ passed: 3, failed: 0 });
    expect(value.suites[0]?.cases.map(({ name }) => name)).toEqual([
      'c: as it is',
      'c: changed',
      'c: removed',
    ]);
  });
});

describe('the authorizer of a suite', () => {
  const more = {
    policies: [
      policy({
        validations: [
          { expression: "authorizer.group('apps').resource('deployments').check('delete').allowed()" },
        ],
      }),
      binding(),
    ],
  };
  const asked = { given: { object: configMap(), user: { username: 'dana', groups: ['ops'] } } };

  it.each<[string, object, boolean]>([
    ['says yes by the user', { user: 'dana', decision: 'allow' }, true],
    [
      'says yes by a group',
      { userGroup: 'ops', verb: 'delete', resource: 'deployments', decision: 'allow' },
      true,
    ],
    ['says no', { user: 'dana', decision: 'deny' }, false],
    ['has no opinion on another verb', { verb: 'get', decision: 'allow' }, false],
    ['has no opinion on another user', { user: 'eve', decision: 'allow' }, false],
  ])('%s', async (_what, rule, allowed) => {
    expect(await differing({ ...asked, expect: { allowed } }, { ...more, authorizer: [rule] })).toEqual([]);
  });

  it('fails the case if there is none', async () => {
    expect(await differing({ ...asked, expect: { allowed: false } }, more)).toEqual(['decision']);
  });
});

describe('parameters of a suite', () => {
  const paramKind = { apiVersion: 'rules.example.com/v1', kind: 'Limit' };
  const limited = policy({ paramKind, validations: [{ expression: 'object.data.a == params.a' }] });
  const bound = binding({
    paramRef: { selector: { matchLabels: { on: 'yes' } }, parameterNotFoundAction: 'Deny' },
  });
  const limit = { ...paramKind, metadata: { name: 'l', namespace: 'shop', labels: { on: 'yes' } }, a: 'x' };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'limits.rules.example.com' },
    spec: {
      group: 'rules.example.com',
      scope: 'Namespaced',
      names: { kind: 'Limit', plural: 'limits' },
      versions: [{ name: 'v1', served: true }],
    },
  };

  it.each<[string, object, object]>([
    ['are found by their labels', { params: [limit] }, { allowed: true }],
    [
      'deny where there are none',
      { definitions: [definition] },
      { message: { contains: 'no params found' } },
    ],
    [
      'deny where nobody serves the kind',
      {},
      { message: { contains: 'failed to find resource referenced by paramKind' } },
    ],
  ])('%s', async (_what, more, expect_) => {
    expect(await differing({ ...ALLOWED, expect: expect_ }, { policies: [limited, bound], ...more })).toEqual(
      [],
    );
  });
});
