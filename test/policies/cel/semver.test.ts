import { describe, expect, it } from 'vitest';

import { SemverValue, semverLibrary } from '../../../src/policies/cel/libraries/semver.ts';
import type { CelError } from '../../../src/policies/cel/values.ts';
import { callOverload, printed } from './support/overload.ts';

function semver(text: string): SemverValue {
  const value = callOverload(semverLibrary, 'string_to_semver', text);
  if (!(value instanceof SemverValue)) throw new Error(text);
  return value;
}

/** From the least to the greatest. */
const ASCENDING = [
  '0.9.18446744073709551615',
  '1.0.0-1',
  '1.0.0-2',
  '1.0.0-10',
  '1.0.0-10a',
  '1.0.0-A',
  '1.0.0-a',
  '1.0.0-a.1',
  '1.0.0-a.1.0',
  '1.0.0-a.b',
  '1.0.0',
  '1.0.1-0',
  '1.2.0',
  '1.10.0',
  '18446744073709551615.0.0',
];

describe('semver', () => {
  it.each([
    ['', 'Version string empty'],
    ['1.2', 'No Major.Minor.Patch elements found'],
    ['01.2.3', 'Major number must not contain leading zeroes "01"'],
    ['1.é.3', 'Invalid character(s) found in minor number "é"'],
    ['1.2.3.4', 'Invalid character(s) found in patch number "3.4"'],
    ['1..3', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['1.2.99999999999999999999', 'strconv.ParseUint: parsing "99999999999999999999": value out of range'],
    ['1.2.3-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.2.3-a..b', 'Prerelease is empty'],
    ['1.2.3-é', 'Invalid character(s) found in prerelease "é"'],
    ['1.2.3+', 'Build meta data is empty'],
    ['1.2.3+a_b', 'Invalid character(s) found in build meta data "a_b"'],
  ])('refuses %j', (text, reason) => {
    expect((callOverload(semverLibrary, 'string_to_semver', text) as CelError).message).toBe(reason);
    expect(callOverload(semverLibrary, 'is_semver_string', text)).toBe(false);
  });

  it.each([
    ['v1', '1.0.0'],
    ['v01.002', '1.2.0'],
    ['1.2.03-rc.1+b.01', '1.2.3-rc.1+b.01'],
    ['00.00.00', '0.0.0'],
  ])('normalizes %s to %s', (text, normal) => {
    expect(printed(callOverload(semverLibrary, 'string_bool_to_semver', text, true))).toBe(normal);
    expect(callOverload(semverLibrary, 'is_semver_string_bool', text, false)).toBe(false);
  });

  it.each([
    ['1.2-rc', 'short version cannot contain PreRelease/Build meta data'],
    // What is more than one byte and no digit gets a zero.
    ['é.1.1', 'Invalid character(s) found in major number "0é"'],
    ['V1.2.3', 'Invalid character(s) found in major number "0V1"'],
  ])('refuses to normalize %j', (text, reason) => {
    const refused = callOverload(semverLibrary, 'string_bool_to_semver', text, true) as CelError;
    expect(refused.message).toBe(reason);
  });

  it('orders versions', () => {
    for (const [i, a] of ASCENDING.entries()) {
      for (const [j, b] of ASCENDING.entries()) {
        expect(callOverload(semverLibrary, 'semver_compare_to', semver(a), semver(b)), `${a} and ${b}`).toBe(
          Math.sign(i - j),
        );
      }
    }
  });

  it('leaves builds out of comparisons', () => {
    expect(semver('1.2.3+a').equals(semver('1.2.3+b'))).toBe(true);
    expect(semver('1.2.3').equals('1.2.3')).toBeUndefined();
  });

  it('wraps numbers that no int holds', () => {
    expect(callOverload(semverLibrary, 'semver_major', semver('18446744073709551615.0.0'))).toBe(-1);
  });
});
