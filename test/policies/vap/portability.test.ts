import { describe, expect, it } from 'vitest';
import { unchangedFields, versionFindings, versionsOf } from '../../../src/policies/vap/portability.ts';
import { CEL, policyOf, subject } from './traps/support.ts';

describe('versions of expressions', () => {
  it.each([
    ['what was always there', "object.metadata.name.startsWith('a')", 26, 26, []],
    [
      'the authorizer',
      "authorizer.path('/a').check('get').allowed()",
      28,
      27,
      ['path()', 'check()', 'allowed()'],
    ],
    ['optional fields', 'object.?spec.?paused.orValue(true) == true', 29, 28, ['orValue()', '.?']],
    ['optional keys', "object.metadata.labels[?'a'].hasValue()", 29, 28, ['hasValue()', '[?]']],
    ['quantities', "quantity('1').isInteger()", 29, 28, ['isInteger()', 'quantity()']],
    [
      'numbers of different types',
      'object.spec.paused == true || 1 < 2.0',
      29,
      28,
      ['comparing numbers of different types by <'],
    ],
    ['sets', 'sets.contains([1], [1])', 30, 29, ['sets.contains()']],
    ['addresses', "isIP('::1') && !has(object.spec.paused)", 31, 30, ['isIP()']],
    [
      'named formats',
      "!format.dns1123Label().validate('a').hasValue()",
      32,
      31,
      ['validate()', 'format.dns1123Label()'],
    ],
    ['two variables', "{'a': 1}.all(k, v, v > 0)", 33, 32, ['all() of two variables']],
    ['semver', "isSemver('1.0.0')", 34, 33, ['isSemver()']],
    ['sorting', "['b', 'a'].sort() == ['a', 'b']", 35, 34, ['sort()']],
    ['sorting by a key', "['b', 'a'].sortBy(x, x).size() == 2", 35, 34, ['sortBy()']],
    ['the newest of several', "isIP('::1') && isSemver('1.0.0')", 34, 33, ['isSemver()']],
  ])('know %s', (_what, expression, first, stored, uses) => {
    const [found] = versionsOf(subject(policyOf([expression])), CEL);
    expect(found).toMatchObject({ field: 'spec.validations[0].expression', new: first, stored });
    expect(found?.uses.toSorted()).toEqual([...uses].sort());
  });

  it('blame the variable that uses it, and not who uses the variable', () => {
    const variables = [{ name: 'a', expression: "isIP('::1')" }];
    const found = versionsOf(subject(policyOf(['variables.a'], { variables })), CEL);
    expect(found.map((one) => one.new)).toEqual([31, 26]);
  });

  it('say nothing of what compiles nowhere', () => {
    expect(versionsOf(subject(policyOf(['object.', 'object.spec.paused'])), CEL)).toEqual([]);
  });

  const addresses = versionsOf(subject(policyOf(["isIP('::1')"])), CEL);

  it.each([
    ['an error where the API server refuses it', { minor: 30 }, ['LINT_VERSION_REFUSED']],
    ['a note where older ones refuse it', { minor: 36 }, ['LINT_VERSION_NEEDED']],
    [
      'a warning where some of those that shall take it refuse it',
      { minor: 36, from: 30 },
      ['LINT_VERSION_RANGE'],
    ],
    ['nothing where all of them take it', { minor: 36, from: 31 }, []],
    [
      'less where it is stored already',
      { minor: 30, unchanged: new Set(['spec.validations[0].expression']) },
      [],
    ],
  ])('make %s', (_what, options, codes) => {
    expect(versionFindings(addresses, options).map(({ code }) => code)).toEqual(codes);
  });

  it('name the versions, what needs them, and the way out', () => {
    const [found] = versionFindings(addresses, { minor: 30 });
    expect(found?.message).toBe(
      'needs Kubernetes 1.31 where it is new, 1.30 where it is stored (it uses isIP()): an API server of 1.30 refuses it; the webhook of pacto-gate evaluates it in front of any version',
    );
  });

  it('look for stored variables among the validations, as the API server does', () => {
    const variables = [{ name: 'a', expression: '1 == 1' }];
    const next = policyOf(['true', 'false'], { variables });
    expect([...unchangedFields(next, policyOf(['false', '1 == 1'], { variables: [] }))]).toEqual([
      'spec.variables[0].expression',
      'spec.validations[1].expression',
    ]);
  });
});
