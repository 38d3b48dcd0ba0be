/** Policies as lint sees them. */
import { loadOpenApiTypes } from '../../../../src/cli/openapi.ts';
import { Cel } from '../../../../src/policies/cel/cel.ts';
import type { LintFinding } from '../../../../src/policies/vap/lint-finding.ts';
import { unguardedTraps } from '../../../../src/policies/vap/traps/unguarded.ts';
import { subjectOf, type Subject } from '../../../../src/policies/vap/traps/subject.ts';
import type { Binding, NamedRule, Policy } from '../../../../src/policies/vap/types.ts';
import { matchResources, policy, rule } from '../support.ts';

export const CEL = new Cel();
export const TYPES = await loadOpenApiTypes();

export const DEPLOYMENTS = rule({
  apiGroups: ['apps'],
  resources: ['deployments'],
  operations: ['CREATE', 'UPDATE'],
});
export const PODS = rule({ resources: ['pods'], operations: ['CREATE', 'UPDATE'] });

/** A policy with these expressions as validations. */
export function policyOf(
  expressions: readonly string[],
  change: Partial<Policy> = {},
  rules: readonly NamedRule[] = [DEPLOYMENTS],
): Policy {
  return policy({
    matchConstraints: matchResources({ resourceRules: rules }),
    validations: expressions.map((expression) => ({ expression, message: 'm', reason: 'Forbidden' })),
    ...change,
  });
}

export function subject(of: Policy, bindings: readonly Binding[] = []): Subject {
  return subjectOf(of, bindings, CEL, 36);
}

const CONTAINERS = "object.kind == 'Pod' ? object.spec.containers : object.spec.template.spec.containers";

/** Of a Deployment or a Pod: what they are, and what each of their elements has, and may be without. */
export const LISTS: readonly (readonly [what: string, list: string, good: string, bad: string])[] = [
  ['a list that depends on the kind', CONTAINERS, 'has(c.env) && c.env.size() > 0', 'c.env.size() > 0'],
  ['lists put together', `(${CONTAINERS}) + (${CONTAINERS})`, 'c.name != ""', 'c.env.size() > 0'],
  [
    'lists of two kinds of element',
    `(${CONTAINERS}) + (object.kind == 'Pod' ? object.spec.?ephemeralContainers.orValue([]) : [])`,
    'has(c.env) || c.name != ""',
    'c.args.size() > 0',
  ],
  ['a selection', `(${CONTAINERS}).filter(d, has(d.args))`, 'c.args.size() > 0', 'c.env.size() > 0'],
  [
    'two selections',
    `(${CONTAINERS}).filter(d, has(d.args) && has(d.env)) + (${CONTAINERS}).filter(e, has(e.args))`,
    'c.args.size() > 0',
    'c.env.size() > 0',
  ],
  [
    'a list of what is kept',
    `(${CONTAINERS}).map(d, has(d.args), d)`,
    'c.args.size() > 0',
    'c.env.size() > 0',
  ],
  ['the same elements by map', `(${CONTAINERS}).map(d, d)`, 'c.image != ""', 'c.env.size() > 0'],
  [
    'a list by one of two',
    `[true].exists(b, b == object.spec.?paused.orValue(false)) ? (${CONTAINERS}) : (${CONTAINERS})`,
    'c.image != ""',
    'c.env.size() > 0',
  ],
  ['an optional', `object.?spec.optMap(s, ${CONTAINERS}).orValue([])`, 'c.image != ""', 'c.env.size() > 0'],
  [
    'one of two optionals',
    `object.spec.?containers.or(object.spec.?template.spec.containers).orValue([])`,
    'c.image != ""',
    'c.env.size() > 0',
  ],
  ['places that are written down', `[(${CONTAINERS})[0]]`, 'c.image != ""', 'c.env.size() > 0'],
  ['what nobody knows the type of', `dyn(${CONTAINERS})`, 'c.image != ""', 'c.env.size() > 0'],
];

/** What is said to be read unguarded. */
export function traps(
  expression: string,
  change: Partial<Policy> = {},
  rules: readonly NamedRule[] = [DEPLOYMENTS],
): readonly LintFinding[] {
  return unguardedTraps(subject(policyOf([expression], change, rules)), TYPES);
}

/** `FIELD object.spec.x`. */
export function short(findings: readonly LintFinding[]): readonly string[] {
  return findings.map(({ code, message }) => {
    const [, text = ''] = /^reads (.*?), /.exec(message) ?? [];
    return `${code.replace(/^LINT_|_UNGUARDED$/g, '')} ${text}`;
  });
}
