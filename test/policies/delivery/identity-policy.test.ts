import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  matchesGlob,
  mayCross,
  mayDo,
  rolesOf,
  type StageAction,
} from '../../../src/policies/delivery/identity-policy.ts';
import { readIdentityPolicy } from '../../../src/policies/delivery/identity-policy-text.ts';
import type { Person } from '../../../src/policies/delivery/operation.ts';
import { ALICE, aPerson, CAROL, DEPLOYER, POLICY_TEXT, policyOf } from './objects.ts';

const PROD = { namespace: 'payments', name: 'payments-prod' };
const STAGING = { namespace: 'payments', name: 'payments-staging' };
const ONCALL = aPerson('olga', 'oidc:oncall');
const ADMIN = aPerson('ada', 'oidc:platform');
const NOBODY = aPerson('mallory', 'system:authenticated');

describe('the policy of the example', () => {
  const policy = policyOf(POLICY_TEXT);

  it.each<[expected: boolean, person: Person, action: StageAction, stage: typeof PROD]>([
    [true, ALICE, 'promote', PROD],
    [true, DEPLOYER, 'promote', PROD],
    [false, ONCALL, 'promote', PROD],
    [false, NOBODY, 'promote', PROD],
    [true, ALICE, 'approve', PROD],
    [false, DEPLOYER, 'approve', PROD],
    [true, ONCALL, 'rollback', PROD],
    [false, DEPLOYER, 'rollback', PROD],
    [true, DEPLOYER, 'rollback', STAGING],
    [true, CAROL, 'breakGlass', PROD],
    [false, CAROL, 'breakGlass', STAGING],
    [true, ADMIN, 'admin', PROD],
    [false, ALICE, 'admin', PROD],
  ])('is %s that %o may %s on %o', (expected, person, action, stage) => {
    expect(mayDo(policy, stage, action, person)).toBe(expected);
  });

  it('lets nobody do anything while there is none', () => {
    expect(mayDo(undefined, PROD, 'promote', ALICE)).toBe(false);
    expect(rolesOf(undefined, ALICE)).toEqual([]);
  });

  it('names the roles of a person', () => {
    expect(rolesOf(policy, aPerson('x', 'oidc:oncall', 'oidc:platform'))).toEqual(['oncall', 'stage-admin']);
    expect(rolesOf(policy, DEPLOYER)).toEqual(['ci']);
    expect(rolesOf(policy, NOBODY)).toEqual([]);
  });
});

/** One role `r` for everything, and what is about it. */
function withSubject(subject: string, more = ''): string {
  const everything = ['promote', 'approve', 'rollback', 'breakGlass', 'admin']
    .map((one) => `${one}: [r]`)
    .join(', ');
  return `{ version: 1, roles: { r: { subjects: [${subject}] ${more} } }, rules: [{ match: { namespaces: ["*"], stages: ["*"] }, ${everything} }] }`;
}

describe('a subject', () => {
  it.each<[expected: boolean, what: string, subject: string, person: Person, action: StageAction]>([
    [true, 'a user by name', '{ user: alice }', aPerson('alice'), 'promote'],
    [false, 'a user by a name that begins alike', '{ user: alice }', aPerson('alice2'), 'promote'],
    [false, 'nobody', '{ group: g }', aPerson('', 'g'), 'promote'],
    [true, 'a group', '{ group: g }', aPerson('x', 'f', 'g'), 'promote'],
    [false, 'a glob, which a subject is not', '{ group: "*" }', aPerson('x', 'g'), 'promote'],
    [true, 'an account by name', '{ serviceAccount: ci/deployer }', DEPLOYER, 'promote'],
    [false, 'an account of another namespace', '{ serviceAccount: cd/deployer }', DEPLOYER, 'promote'],
    [true, 'an account by a group, to promote', '{ group: "system:serviceaccounts" }', DEPLOYER, 'promote'],
    [false, 'an account by a group, to approve', '{ group: "system:serviceaccounts" }', DEPLOYER, 'approve'],
    [true, 'an account by name, to approve', '{ serviceAccount: ci/deployer }', DEPLOYER, 'approve'],
    [
      true,
      'an account by its user name, to approve',
      `{ user: "${DEPLOYER.username}" }`,
      DEPLOYER,
      'approve',
    ],
    [
      false,
      'an account by name, to break the glass',
      '{ serviceAccount: ci/deployer }',
      DEPLOYER,
      'breakGlass',
    ],
    [true, 'a user, to break the glass', '{ user: alice }', aPerson('alice'), 'breakGlass'],
  ])('is %s: %s', (expected, _what, subject, person, action) => {
    expect(mayDo(policyOf(withSubject(subject)), PROD, action, person)).toBe(expected);
  });

  it('may not approve by a role that does not', () => {
    const policy = policyOf(withSubject('{ user: alice }', ', mayApprove: false'));
    expect(mayDo(policy, PROD, 'approve', aPerson('alice'))).toBe(false);
    expect(mayDo(policy, PROD, 'promote', aPerson('alice'))).toBe(true);
  });
});

it('counts the first rule that matches, although a later one gives more', () => {
  const policy = policyOf(`
version: 1
roles: { r: { subjects: [{ user: alice }] } }
rules:
- { match: { namespaces: [payments, pay-*], stages: [a*z, exact] }, promote: [] }
- { match: { namespaces: ["*"], stages: ["*"] }, promote: [r] }
`);
  const may = (namespace: string, name: string) =>
    mayDo(policy, { namespace, name }, 'promote', aPerson('alice'));
  expect([
    may('payments', 'a-to-z'),
    may('pay-1', 'exact'),
    may('payments', 'a'),
    may('paymentsx', 'exact'),
  ]).toEqual([false, false, true, true]);
});

it.each<[expected: boolean, glob: string, text: string]>([
  [true, '*', ''],
  [true, '*-prod', 'payments-prod'],
  [true, '*-prod', '-prod'],
  [false, '*-prod', 'payments-prod-2'],
  [true, 'a*b*c', 'abc'],
  [true, 'a*b*c', 'a--b--bc'],
  [false, 'a*b*c', 'ac'],
  [false, 'ab*ba', 'aba'],
  [true, '**', 'x'],
  [false, 'p.y', 'pay'],
  [false, '', 'x'],
  [true, '', ''],
  [false, 'a?', 'ab'],
])('is %s that %s matches %s', (expected, glob, text) => {
  expect(matchesGlob(glob, text)).toBe(expected);
});

it('matches a hostile glob in no time', () => {
  const glob = `${'a*'.repeat(20_000)}b`;
  const started = performance.now();
  expect(matchesGlob(glob, 'a'.repeat(40_000))).toBe(false);
  expect(performance.now() - started).toBeLessThan(1_000);
});

describe('crossNamespace', () => {
  const policy = policyOf(
    POLICY_TEXT.replace(
      'crossNamespace: []',
      'crossNamespace: [{ fromStage: payments/*, toNamespace: shared-* }]',
    ),
  );

  it.each<[expected: boolean, stage: string, to: string]>([
    [true, 'payments/payments-prod', 'payments'],
    [true, 'payments/payments-prod', 'shared-config'],
    [false, 'payments/payments-prod', 'other'],
    [false, 'orders/orders-prod', 'shared-config'],
    [true, 'orders/orders-prod', 'orders'],
  ])('is %s from %s to %s', (expected, stage, to) => {
    const [namespace = '', name = ''] = stage.split('/');
    expect(mayCross(policy, { namespace, name }, to)).toBe(expected);
  });

  it('lets no Stage leave its namespace without a policy', () => {
    expect(mayCross(undefined, PROD, 'shared-config')).toBe(false);
  });
});

describe('the text of a policy', () => {
  const changed = (from: string, to: string): string => {
    expect(POLICY_TEXT).toContain(from);
    return POLICY_TEXT.replace(from, to);
  };

  it('is read with what it leaves out', () => {
    const policy = policyOf(POLICY_TEXT);
    expect(policy.roles.get('breakglass')).toEqual({
      subjects: [{ group: 'oidc:incident-commanders' }],
      mayApprove: true,
      ticketPattern: '^INC-[0-9]+$',
      maxDurationMs: 3_600_000,
    });
    expect(policy.roles.get('ci')).toMatchObject({ mayApprove: false, ticketPattern: undefined });
    expect(policy.rules.map(({ stages }) => stages)).toEqual([['*-prod'], ['*']]);
  });

  it.each<[error: RegExp, what: string, text: string]>([
    [/^it is empty$/, 'nothing', ''],
    [/^it is empty$/, 'a comment', '# nothing yet'],
    [/no mapping/, 'a list', '- version: 1'],
    [/longer than 256 KiB/, 'too much', `${POLICY_TEXT}#${'x'.repeat(256 * 1024)}`],
    [/line \d+/, 'no YAML', 'version: [1'],
    [
      /alias/,
      'an alias',
      changed('crossNamespace: []', 'crossNamespace: &a []\n').replace('breakGlass: []', 'breakGlass: *a'),
    ],
    [/version is not 1/, 'no version', changed('version: 1', '')],
    [/version is not 1/, 'another version', changed('version: 1', 'version: 2')],
    [/unknown field "role"/, 'a field that is misspelt', changed('roles:', 'role:')],
    [
      /roles\.oncall has the unknown field "mayapprove"/,
      'a field of a role that is misspelt',
      changed('[{ group: "oidc:oncall" }]', '[], mayapprove: true'),
    ],
    [
      /rules\[0\] has the unknown field "breakglass"/,
      'an action that is misspelt',
      changed('breakGlass: [breakglass]', 'breakglass: [breakglass]'),
    ],
    [
      /rules\[0\]\.promote names "manager"/,
      'a role that is not there',
      changed('promote: [release-manager, ci]', 'promote: [manager]'),
    ],
    [
      /exactly one of/,
      'two kinds of one subject',
      changed('{ serviceAccount: ci/deployer }', '{ serviceAccount: ci/deployer, user: x }'),
    ],
    [/exactly one of/, 'a subject of no kind', changed('{ serviceAccount: ci/deployer }', '{}')],
    [/not namespace\/name/, 'an account without a namespace', changed('ci/deployer', 'deployer')],
    [/not namespace\/name/, 'any account', changed('ci/deployer', '"ci/*"')],
    [/is no text/, 'a group that is a number', changed('"oidc:oncall"', '7')],
    [/is no text/, 'an empty group', changed('"oidc:oncall"', '""')],
    [/mayApprove is neither/, 'yes and no as texts', changed('mayApprove: false', 'mayApprove: "no"')],
    [/no regular expression/, 'a pattern that is none', changed('^INC-[0-9]+$', '^INC-(')],
    [/no regular expression/, 'a pattern that looks back', changed('^INC-[0-9]+$', String.raw`(.)\\1`)],
    [/no duration/, 'a duration that is none', changed('1h }', 'long }')],
    [/between nothing and 1h/, 'a duration of more than an hour', changed('1h }', '61m }')],
    [/between nothing and 1h/, 'a duration of nothing', changed('1h }', '0s }')],
    [/last of rules/, 'no default at the end', changed('stages: ["*"]', 'stages: ["*-staging"]')],
    [/last of rules/, 'no rules', '{ version: 1, roles: {}, rules: [] }'],
    [/rules is no list/, 'rules that are left out', '{ version: 1, roles: {} }'],
    [/roles is no mapping/, 'roles that are left out', '{ version: 1, rules: [] }'],
    [
      /match is no mapping/,
      'a rule that matches nothing',
      '{ version: 1, roles: {}, rules: [{ promote: [] }] }',
    ],
    [
      /fromStage is not namespace\/stage/,
      'a Stage without its namespace',
      changed('crossNamespace: []', 'crossNamespace: [{ fromStage: a, toNamespace: b }]'),
    ],
  ])('is refused with %s for %s', (error, _what, text) => {
    expect(readIdentityPolicy(text)).toEqual({ error: expect.stringMatching(error) });
  });

  it('refuses aliases that grow without reading what they stand for', () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `a${String(index + 1)}: &a${String(index + 1)} [*a${String(index)}, *a${String(index)}]`,
    );
    const started = performance.now();
    expect(readIdentityPolicy(`a0: &a0 [x]\n${levels.join('\n')}\n`)).toHaveProperty('error');
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('never throws, whatever it is', () => {
    const pieces = fc.constantFrom(
      'version: 1\n',
      'roles:\n',
      'rules:\n',
      '- ',
      '  a: ',
      '{',
      '}',
      '[',
      ']',
      '*a',
      '&a ',
      '!!int ',
      '"',
      '\n',
      '<<: ',
      '\t',
      '\u0000',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
        ),
        (text) => {
          expect(Object.keys(readIdentityPolicy(text))).toHaveLength(1);
        },
      ),
      { seed: 3, numRuns: 2_000 },
    );
  });

  it('never throws, whatever stands in it', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (roles, rules) => {
        expect(readIdentityPolicy(`{"version": 1, "roles": ${roles}, "rules": ${rules}}`)).toHaveProperty(
          'error',
        );
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});
