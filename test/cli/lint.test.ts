import { describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, type Ran } from './run-command.ts';

const lint = (stdin: string, ...argv: string[]): Promise<Ran> =>
  runCommand(['lint', '-', ...argv], { stdin });

const policy = (expression: string, more = '', rule = 'apps'): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: p }
spec:
  matchConstraints:
    resourceRules:
      - apiGroups: [${rule}]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [${rule === 'apps' ? 'deployments' : 'widgets'}]
  validations:
    - expression: ${JSON.stringify(expression)}
      message: m
      reason: Forbidden
${more}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: p }
spec: { policyName: p, validationActions: [Deny] }
`;

describe('lint', () => {
  it('takes what the API server takes', async () => {
    expect(await lint(policy('object.spec.replicas < 5'))).toEqual({
      code: 0,
      out: `standard input: ValidatingAdmissionPolicy p: ok
standard input: ValidatingAdmissionPolicyBinding p: ok

2 would be taken, 0 refused, 0 warnings
`,
      err: '',
    });
  });

  it('refuses in the words of the API server, as kubectl shows them', async () => {
    const ran = await lint(policy('object.'));
    expect(ran).toMatchObject({ code: 1, err: '' });
    expect(ran.out).toContain(`standard input: ValidatingAdmissionPolicy p
  The ValidatingAdmissionPolicy "p" is invalid: spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error`);
    expect(ran.out).toContain('1 would be taken, 1 refused');
  });

  it('gives the whole status in JSON', async () => {
    const { out } = await lint(policy('1'), '-o', 'json');
    expect(JSON.parse(out)).toMatchObject([
      {
        file: '-',
        document: 1,
        kind: 'ValidatingAdmissionPolicy',
        name: 'p',
        status: {
          reason: 'Invalid',
          code: 422,
          message: expect.stringMatching(
            /^ValidatingAdmissionPolicy\.admissionregistration\.k8s\.io "p" is invalid: /,
          ) as string,
          details: { causes: [{ field: 'spec.validations[0].expression' }] },
        },
      },
      { kind: 'ValidatingAdmissionPolicyBinding', warnings: [] },
    ]);
  });

  it('refuses a type that cannot be read', async () => {
    const { out, code } = await lint(policy('true').replace('[Deny]', '7'));
    expect(code).toBe(1);
    expect(out).toContain(
      '  Error from server (BadRequest): ValidatingAdmissionPolicyBinding in version "v1" cannot be handled',
    );
  });

  it.each([
    ['is a no', ['--strict'], 1],
    ['is no no', [], 0],
  ])('warns of types, which %s with %j', async (_what, argv, code) => {
    const ran = await lint(policy("object.spec.replicas == 'five'"), ...argv);
    expect(ran.code).toBe(code);
    expect(ran.out)
      .toContain(`  Type check: spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)' [LINT_TYPE_CHECK]
     | object.spec.replicas == 'five'`);
    expect(ran.out).toContain('1 warning\n');
  });

  it('says nothing of types where nobody wants to hear of them', async () => {
    const text = policy("object.spec.replicas == 'five'");
    const ran = await lint(text, '--strict', '--ignore', 'LINT_TYPE_CHECK');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('ValidatingAdmissionPolicy p: ok');
    const { out } = await lint(text, '-o', 'json');
    expect(JSON.parse(out)).toMatchObject([
      { typeWarnings: [{ code: 'LINT_TYPE_CHECK', fieldRef: 'spec.validations[0].expression' }] },
      {},
    ]);
  });

  it.each([
    ['where Kubernetes has no type for the values of a map', 'c', 1],
    ['but not of what has no type at all', 'dyn(c)', 0],
  ])('gives the false alarms of Kubernetes: %s', async (_what, container, code) => {
    const text = policy(
      `object.spec.template.spec.containers.all(c, quantity(${container}.?resources.?limits.?memory.orValue('0')).isLessThan(quantity('1Gi')))`,
    );
    expect((await lint(text, '--strict')).code).toBe(code);
  });

  it('warns of unknown fields as the API server does', async () => {
    const ran = await lint(policy('true', '  nonsense: 1'), '--strict');
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('  Warning: unknown field "spec.nonsense"');
  });

  it('knows the types of CustomResourceDefinitions that it is given', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pacto-gate-lint-'));
    const file = join(directory, 'crd.json');
    const schema = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
    await writeFile(
      file,
      JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          names: { kind: 'Widget', plural: 'widgets' },
          versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema } }],
        },
      }),
    );
    const text = policy("object.size == 'big'", '', 'example.com');
    expect((await lint(text, '--strict')).code).toBe(0);
    const ran = await lint(text, '--strict', '--crd', file);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('example.com/v1, Kind=Widget: ERROR');
    await rm(directory, { recursive: true });
  });

  it('imitates the release that is asked for: a new function needs the release after it', async () => {
    const text = policy("semver('1.0.0').major() == 1");
    expect((await lint(text, '--kube-version', '1.34')).code).toBe(0);
    expect((await lint(text, '--kube-version', 'v1.33.2')).code).toBe(1);
  });

  it.each([
    ['that no binding names', policy('true').split('---')[0] ?? '', 'no binding in these files names it'],
    [
      'that its policy is not there',
      `---${policy('true').split('---')[1] ?? ''}`,
      'its policy "p" is not in these files',
    ],
    [
      'of a name that is there twice',
      policy('true') + '---' + policy('true'),
      'there is another of this name',
    ],
    [
      'of a reason that GitOps tools misread',
      policy('true').replace('reason: Forbidden', ''),
      'a GitOps tool may take that',
    ],
  ])('notes what is hardly meant, and takes it: %s', async (_what, text, note) => {
    const ran = await lint(text, '--strict');
    expect(ran.code).toBe(0);
    expect(ran.out).toContain(`  Note: `);
    expect(ran.out).toContain(note);
  });

  it('gives what it finds a code, which can be left out, and says what it looked at in JSON', async () => {
    const text = policy("object.metadata.labels['a'] == 'b'");
    const ran = await lint(text, '--strict');
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(
      '  Warning: spec.validations[0].expression: reads object.metadata.labels, which a Deployment may be without',
    );
    expect(ran.out).toContain('[LINT_FIELD_UNGUARDED]\n');
    expect(ran.out).toContain('1 warning\n');
    const without = await lint(text, '--strict', '--ignore', 'lint_field_unguarded');
    expect(without).toMatchObject({ code: 0, err: '' });
    expect(without.out).not.toContain('[');
    const { out } = await lint(text, '-o', 'json');
    expect(JSON.parse(out)).toMatchObject([
      {
        findings: [
          { code: 'LINT_FIELD_UNGUARDED', severity: 'warning', field: 'spec.validations[0].expression' },
        ],
        versions: [{ field: 'spec.validations[0].expression', new: 26, stored: 26, uses: [] }],
        cost: {
          expressions: [{ field: 'spec.validations[0].expression' }],
          budgets: [{ budget: 'validations', limit: 10_000_000 }],
        },
      },
      { findings: [] },
    ]);
  });

  it.each([
    ['a new function needs the release after it', [], 1, 'needs Kubernetes 1.31 where it is new, 1.30 where'],
    ['what is stored and not changed does not', ['--old', 'same'], 0, '2 would be taken, 0 refused, 0 warn'],
    ['what is stored and changed does', ['--old', 'other'], 1, 'needs Kubernetes 1.31 where it is new'],
  ])('knows what an update is: %s', async (_what, argv, code, shown) => {
    const directory = await mkdtemp(join(tmpdir(), 'pacto-gate-lint-'));
    await writeFile(join(directory, 'same'), policy("isIP('::1')"));
    await writeFile(join(directory, 'other'), policy("isIP('::2')"));
    const ran = await lint(
      policy("isIP('::1')"),
      '--kube-version',
      '1.30',
      ...argv.map((word) => (word.startsWith('--') ? word : join(directory, word))),
    );
    expect(ran.code).toBe(code);
    expect(ran.out).toContain(shown);
    await rm(directory, { recursive: true });
  });

  it('warns of what the oldest of several API servers would refuse', async () => {
    const text = policy("isIP('::1')");
    expect((await lint(text, '--strict', '--from', '1.31')).code).toBe(0);
    const ran = await lint(text, '--strict', '--from', '1.30');
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('API servers from 1.30 on shall take it [LINT_VERSION_RANGE]');
  });

  it('has nothing to note of a reason where nothing is denied', async () => {
    const text = policy('true').replace('reason: Forbidden', '').replace('[Deny]', '[Warn]');
    expect((await lint(text)).out).not.toContain('Note');
  });

  it.each([
    [
      'no policy',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}',
      [],
      'there is no policy and no binding in it',
    ],
    ['an unknown release', policy('true'), ['--kube-version', '2.0'], 'from 1.26 to 1.37'],
    [
      'API servers without policies',
      policy('true'),
      ['--from', '1.29'],
      'need a version from 1.30 on: API servers before it have no policies',
    ],
    ['a code with a letter too few', policy('true'), ['--ignore', 'LINT_TYPE_CHEK'], 'LINT_TYPE_CHECK'],
    ['an unknown code', policy('true'), ['--ignore', 'LINT_NOTHING'], 'there is no such code'],
    ['a definition that is not there', policy('true'), ['--crd', '/nowhere'], 'there is no such file'],
  ])('refuses %s with code 2', async (_what, text, argv, message) => {
    const ran = await lint(text, ...argv);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it('takes the policies of the examples and those that are delivered', async () => {
    expect(await runCommand(['lint', 'examples/policies', 'manifests/policies', '--strict'])).toMatchObject({
      code: 0,
    });
  });
});
