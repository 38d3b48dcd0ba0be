import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from './run-command.ts';
import { binding, configMap, DENIED, given, policy, report, suite } from './suite-files.ts';

describe('test', () => {
  it('fails a suite whose policy no API server would take, and says why', async () => {
    const policies = [policy({ validations: [{ expression: 'true' }], matchConstraints: {} }), binding()];
    const { value, code } = await report(
      suite([{ name: 'c', ...DENIED, expect: { allowed: true } }], { policies }),
    );
    expect(code).toBe(1);
    expect(value.suites[0]?.cases[0]).toMatchObject({
      name: 'ValidatingAdmissionPolicy p can be created',
      differences: [
        { found: expect.stringContaining('spec.matchConstraints.resourceRules: Required value') as string },
      ],
    });
  });

  it('shows where texts differ', async () => {
    const directory = await given({
      'suite.yaml': suite([{ name: 'c', ...DENIED, expect: { message: 'need y' } }]),
    });
    expect(await runCommand(['test', directory])).toEqual({
      code: 1,
      out: `${join(directory, 'suite.yaml')}: s
  FAIL  c
        message
          expected "need y"
          found    "need x"
                         ^

0 passed, 1 failed
`,
      err: '',
    });
  });

  it('writes JUnit that holds what was found, escaped', async () => {
    const name = `<&"'\u0007`;
    const directory = await given({ 'a.suite.yml': suite([{ name, ...DENIED, expect: { allowed: true } }]) });
    const { out, code } = await runCommand(['test', directory, '--output', 'junit']);
    expect(code).toBe(1);
    expect(out).toContain('<testsuites name="pacto-gate" tests="1" failures="1" errors="0">');
    expect(out).toContain(`name="&lt;&amp;&quot;'\ufffd"`);
    expect(out).toContain('<failure type="difference" message="allowed">');
    expect(out).toMatch(
      /denied request: need x<\/failure>\n {4}<\/testcase>\n {2}<\/testsuite>\n<\/testsuites>\n$/,
    );
  });

  it('runs what --only names, of every suite below a directory', async () => {
    const one = { ...DENIED, expect: { allowed: false } };
    const directory = await given({
      'a.suite.yaml': suite([
        { name: 'one', ...one },
        { name: 'two', ...one },
      ]),
      'b.suite.json': suite([{ name: 'one', ...one }]),
      'other.yaml': 'a: 1',
    });
    expect((await runCommand(['test', directory])).out).toContain('3 passed, 0 failed');
    expect((await runCommand(['test', directory, '--only', 'one'])).out).toContain('2 passed, 0 failed');
    expect(await runCommand(['test', directory, '--only', 'three'])).toMatchObject({ code: 2, out: '' });
  });

  it.each<[string, object | string, string]>([
    ['an unknown key', suite([{ name: 'c', ...DENIED, expects: {} }]), 'cases.0: unknown expects'],
    [
      'an unknown key of an expectation',
      suite([{ name: 'c', ...DENIED, expect: { alowed: true } }]),
      'unknown alowed',
    ],
    [
      'a value of a wrong type',
      suite([{ name: 'c', ...DENIED, expect: { allowed: 'no' } }]),
      'cases.0.expect.allowed',
    ],
    ['a case that expects nothing', suite([{ name: 'c', ...DENIED }]), 'expect says nothing'],
    ['a case without a request', suite([{ name: 'c', expect: { allowed: true } }]), 'need given or review'],
    [
      'a case without an object',
      suite([{ name: 'c', given: {}, expect: { allowed: true } }]),
      'need an object',
    ],
    ['no cases', suite([]), 'cases'],
    [
      'policies without a binding',
      suite([{ name: 'c', ...DENIED, expect: { allowed: true } }], { policies: [policy({})] }),
      'none of them has a binding',
    ],
    [
      'a policy that is not there',
      suite([{ name: 'c', ...DENIED, expect: { allowed: true } }], { policies: ['no.yaml'] }),
      'no.yaml: cannot be read',
    ],
    ['another kind', configMap(), 'is no suite'],
    ['broken YAML', 'a: [', 'is no YAML'],
  ])('refuses %s with code 2', async (_what, content, message) => {
    const ran = await runCommand(['test', await given({ 'suite.yaml': content })]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it.each([
    ['a directory without suites', ['docs'], 'there is no suite in it'],
    ['what is not there', ['/nowhere'], 'there is no such file'],
    ['an unknown release', ['examples/policies', '--kube-version', '1.25'], 'from 1.26 to 1.37'],
  ])('refuses %s with code 2', async (_what, argv, message) => {
    const ran = await runCommand(['test', ...argv]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it('imitates the release that is asked for, unless the suite says one', async () => {
    const policies = [policy({ validations: [{ expression: "semver('1.0.0').major() == 1" }] }), binding()];
    const cases = [{ name: 'c', ...DENIED, expect: { allowed: true } }];
    expect((await report(suite(cases, { policies }))).code).toBe(0);
    expect((await report(suite(cases, { policies }), '--kube-version', '1.30')).code).toBe(1);
    expect(
      (await report(suite(cases, { policies, kubeVersion: '1.36' }), '--kube-version', '1.30')).code,
    ).toBe(0);
  });

  it('passes the suite of the examples', async () => {
    const ran = await runCommand(['test', 'examples/policies']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(' passed, 0 failed');
  });
});
