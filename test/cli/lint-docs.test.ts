/** docs/lint.md: every code is explained there, with an example that has it and one that has not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { LINT_CODES, type LintCode } from '../../src/policies/vap/lint-finding.ts';
import type { Linted } from '../../src/cli/lint-policies.ts';
import { runCommand } from './run-command.ts';

interface Section {
  readonly code: LintCode;
  readonly text: string;
  readonly examples: readonly { readonly title: string; readonly yaml: string }[];
}

function sections(): readonly Section[] {
  const [, body = ''] = readFileSync('docs/lint.md', 'utf8').split('\n## Findings\n');
  return body
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      code: text.slice(0, text.indexOf('\n')) as LintCode,
      text: text.slice(text.indexOf('\n')).trim(),
      examples: [...text.matchAll(/^```yaml\n# ([^\n]*)\n(.*?)^```$/gms)].map(
        ([, title = '', yaml = '']) => ({
          title,
          yaml,
        }),
      ),
    }));
}

const SPEC = {
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: ['apps'],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['deployments'],
      },
    ],
  },
  validations: [{ expression: 'true', message: 'never', reason: 'Forbidden' }],
};

/** Whole objects, or parts of the spec of a policy and of its binding. */
function documents(yaml: string): string {
  if (yaml.includes('\nkind: ')) return yaml;
  const { binding = {}, ...spec } = parse(yaml) as { readonly binding?: object };
  const of = (kind: string, inner: object): string =>
    stringify({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'p' },
      spec: inner,
    });
  return [
    of('ValidatingAdmissionPolicy', { ...SPEC, ...spec }),
    of('ValidatingAdmissionPolicyBinding', { policyName: 'p', validationActions: ['Deny'], ...binding }),
  ].join('---\n');
}

async function lint(
  { title, yaml }: Section['examples'][number],
  ...more: readonly string[]
): Promise<{ readonly code: number; readonly codes: readonly string[] }> {
  const [, options = ''] = /with (--.*)$/.exec(title) ?? [];
  const argv = ['lint', '-', '-o', 'json', ...options.split(' ').filter((word) => word !== ''), ...more];
  const { out, code } = await runCommand(argv, { stdin: documents(yaml) });
  const codes = (JSON.parse(out) as readonly Linted[]).flatMap(({ typeWarnings, findings }) =>
    [...typeWarnings, ...findings].map((one) => one.code),
  );
  return { code, codes };
}

describe('docs/lint.md', () => {
  it('explains every code, in the order of the list, and no other', () => {
    expect(sections().map(({ code }) => code)).toEqual(Object.keys(LINT_CODES));
  });

  it.each(sections().map((section) => [section.code, section] as const))(
    'says how severe %s is, and gives an example that has it and one that has not',
    async (code, { text, examples }) => {
      expect(text.split('.')[0]?.toLowerCase()).toBe(LINT_CODES[code]);
      const [bad, good] = examples;
      expect(bad?.title).toMatch(/^bad/);
      expect(good?.title).toMatch(/^good/);
      if (bad === undefined || good === undefined) throw new Error('two examples are needed');
      expect((await lint(bad)).codes).toContain(code);
      const { code: exit, codes } = await lint(good, '--strict');
      expect(codes).not.toContain(code);
      expect({ exit, codes }).toMatchObject({ exit: 0 });
    },
  );
});
