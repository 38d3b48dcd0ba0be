import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../../src/policies/contract/version.ts';
import { version } from './versions.ts';

describe('a lenient version', () => {
  it.each([
    ['1.2.3', [1, 2, 3, '', '']],
    ['1.2', [1, 2, 0, '', '']],
    ['1', [1, 0, 0, '', '']],
    ['v1', [1, 0, 0, '', '']],
    ['01.002.0003', [1, 2, 3, '', '']],
    ['20240115', [20_240_115, 0, 0, '', '']],
    ['1-rc.1', [1, 0, 0, 'rc.1', '']],
    ['1.2.3--', [1, 2, 3, '-', '']],
    ['1.2.3-0a.0.a-b+00.x-y', [1, 2, 3, '0a.0.a-b', '00.x-y']],
    ['1+b-1', [1, 0, 0, '', 'b-1']],
    ['9007199254740991', [9_007_199_254_740_991, 0, 0, '', '']],
    ['9007199254740992', [9_007_199_254_740_992n, 0, 0, '', '']],
    ['0.0.18446744073709551615', [0, 0, 18_446_744_073_709_551_615n, '', '']],
    [`${'0'.repeat(255)}1`, [1, 0, 0, '', '']],
  ])('allows %j', (text, [major, minor, patch, prerelease, metadata]) => {
    expect(parseVersion(text)).toEqual({ major, minor, patch, prerelease, metadata, original: text });
  });

  it.each([
    '',
    'v',
    'V1.2.3',
    'vv1',
    '1.',
    '.1',
    '1..2',
    '1.2.3.4',
    '1.x',
    '*',
    'latest',
    'sha-9f',
    '1.2.3-',
    '1.2.3+',
    '1.2.3-01',
    '1.2.3-a.00',
    '1.2.3-a..b',
    '1.2.3-a_b',
    '1.2.3-é',
    '1.2.3+a+b',
    ' 1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    '1,2,3',
    '-1.2.3',
    '１.2.3',
    '18446744073709551616',
    '0.18446744073709551616',
    '0.0.18446744073709551616',
    `${'0'.repeat(256)}1`,
  ])('denies %j', (text) => {
    expect(parseVersion(text)).toBeUndefined();
  });
});

describe('precedence', () => {
  it('ascends through numbers, words and releases', () => {
    const ascending = [
      '0.0.1-0',
      '0.0.1',
      '0.2.0',
      '1.0.0-0',
      '1.0.0-1',
      '1.0.0-1.0',
      '1.0.0-9',
      '1.0.0-10',
      '1.0.0-18446744073709551615',
      '1.0.0--',
      '1.0.0-100000000000000000000',
      '1.0.0-18446744073709551616',
      '1.0.0-RC',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-rc.2',
      '1.0.0-rc.10',
      '1.0.0',
      '1.0.1',
      '1.10.0',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '18446744073709551615',
    ].map(version);
    for (const [index, each] of ascending.entries()) {
      for (const [other, another] of ascending.entries()) {
        expect(Math.sign(compareVersions(each, another)), `${each.original} ? ${another.original}`).toBe(
          Math.sign(index - other),
        );
      }
    }
  });

  it.each([
    ['1.0.0', 'v1'],
    ['1.0.0+a', '1.0.0+b'],
    ['1.0.0-rc.1', 'v1.0.0-rc.1+b'],
    ['9007199254740993', '09007199254740993.0'],
  ])('is the same for %j and %j', (a, b) => {
    expect(compareVersions(version(a), version(b))).toBe(0);
    expect(compareVersions(version(b), version(a))).toBe(0);
  });

  it('is a total order', () => {
    const part = fc.constantFrom('0', '1', '2', '9007199254740993', '18446744073709551615');
    const identifier = fc.constantFrom('0', '1', '10', 'a', 'a-b', 'A', '-', '99999999999999999999');
    const prerelease = fc.array(identifier, { maxLength: 3 }).map((parts) => parts.join('.'));
    const any = fc
      .tuple(part, part, part, prerelease)
      .map(([major, minor, patch, pre]) => version(`${major}.${minor}.${patch}${pre && `-${pre}`}`));
    fc.assert(
      fc.property(any, any, any, (a, b, c) => {
        const [ab, ba, bc, ac] = [
          compareVersions(a, b),
          compareVersions(b, a),
          compareVersions(b, c),
          compareVersions(a, c),
        ];
        expect(Math.sign(ab)).toBe(-Math.sign(ba) || 0);
        expect(ab === 0).toBe(a.original === b.original);
        expect(ab > 0 || bc > 0 || ac <= 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
