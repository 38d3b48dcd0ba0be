import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConstraint } from '../../../src/policies/contract/constraint.ts';
import { compareVersions } from '../../../src/policies/contract/version.ts';
import { constraint, version } from './versions.ts';

/** What each row says is Masterminds/semver 3.5.0's answer. */
const ROWS: readonly (readonly [string, allowed: string, denied: string])[] = [
  ['1.2.3', '1.2.3 v1.2.3+b', '1.2.4 1.2.3-rc.1'],
  ['=v1.2.3', '1.2.3', '1.2.2'],
  ['= 1.2.3', '1.2.3', '1.2.2'],
  ['01.2.3', '1.2.3', '1.2.2'],
  ['1.2', '1.2.0 1.2.9', '1.1.9 1.3.0'],
  ['=1.2', '1.2.0 1.2.9', '1.1.9 1.3.0'],
  ['1.2.x', '1.2.0 1.2.9', '1.1.9 1.3.0'],
  ['1.X.3', '1.0.0 1.9.9', '0.9.9 2.0.0'],
  ['1', '1.0.0 1.9.9', '0.9.9 2.0.0 1.5.0-rc.1'],
  ['~1.2.3', '1.2.3 1.2.9', '1.2.2 1.3.0'],
  ['~>1.2.3', '1.2.3 1.2.9', '1.2.2 1.3.0'],
  ['~1', '1.0.0 1.9.9', '0.9.9 2.0.0'],
  ['~0.0', '0.0.0 0.0.9', '0.1.0'],
  ['~0.0.0', '0.0.0 0.1.0 99.0.0', '0.0.0-rc.1'],
  ['~*', '0.0.0 99.0.0', '1.0.0-rc.1'],
  ['^1.2.3', '1.2.3 1.9.0', '1.2.2 2.0.0 1.3.0-alpha'],
  ['^ 1.2.3', '1.2.3 1.9.0', '1.2.2 2.0.0'],
  ['^0.2.3', '0.2.3 0.2.9', '0.2.2 0.3.0 1.2.3'],
  ['^0.2', '0.2.0 0.2.9', '0.1.9 0.3.0'],
  ['^0.0.3', '0.0.3', '0.0.2 0.0.4 0.1.3 1.0.3'],
  ['^0.0', '0.0.0 0.0.9', '0.1.0 1.0.0'],
  ['^0', '0.0.0 0.9.9', '1.0.0'],
  ['^*', '0.0.0', '0.0.1 1.0.0'],
  ['>1', '2.0.0 20240115', '1.0.0 1.9.9'],
  ['>1.2', '1.3.0 2.0.0', '1.2.9 1.1.0 0.9.0'],
  ['>1.2.3', '1.2.4', '1.2.3'],
  ['>*', '0.0.1 1.0.0', '0.0.0'],
  ['>=1.2', '1.2.0', '1.1.9'],
  ['=>1.2.3', '1.2.3', '1.2.2'],
  ['<1.2', '1.1.9', '1.2.0'],
  ['<=1', '0.9.0 1.0.0 1.9.9', '2.0.0'],
  ['<=1.2', '1.2.9 0.9.0', '1.3.0 2.0.0'],
  ['=<1.2.3', '1.2.3', '1.2.4'],
  ['<=*', '0.0.0 0.0.7', '0.1.0 1.0.0'],
  ['!=1.2.3', '1.2.2 1.2.4', '1.2.3 1.2.3+b'],
  ['!=1.2', '1.1.0 1.3.0 2.2.0', '1.2.0 1.2.9'],
  ['!=1', '0.9.0 2.0.0', '1.0.0 1.9.9'],
  ['!=1.2-beta', '1.2.0 1.2.0-alpha 2.0.0', '1.2.0-beta 1.2.9-beta'],
  ['!=*', '0.0.1 0.1.0 1.0.0', '0.0.0'],
  ['*', '0.0.0 99.0.0', '1.0.0-rc.1'],
  ['*-0', '0.0.0-0 1.0.0-rc.1 2.0.0', ''],
  ['>=1 <2', '1.0.0 1.9.9', '0.9.9 2.0.0'],
  ['>=1,<2', '1.0.0 1.9.9', '0.9.9 2.0.0'],
  [' >=1 ,\t<2 ', '1.0.0 1.9.9', '0.9.9 2.0.0'],
  ['1, 2', '', '1.0.0 2.0.0'],
  ['<1 || >2', '0.9.0 3.0.0', '1.0.0 2.0.0'],
  ['1.2.3||3.0.0', '1.2.3 3.0.0', '2.0.0'],
  ['1.0 - 2.0', '1.0.0 2.0.0 2.0.9', '0.9.9 2.1.0'],
  ['1.0.0-alpha - 1.0.0', '1.0.0-alpha 1.0.0', '0.9.0 1.0.1'],
  ['^1, 1.2 - 2', '1.2.0 1.9.9', '1.1.0 2.0.0'],
  ['1 - 2 !=1.5', '1.4.0 2.9.0', '1.5.1 3.0.0'],
  // The pipes count as part of a hyphen range's end, which then applies to neither side as written.
  ['1||2 - 3', '1.0.0 2.0.0 9.0.0', '0.9.0'],
  ['>=1.2.3-0', '1.3.0-alpha 1.2.3', '1.2.2'],
  ['^1.2.3-beta.1', '1.3.0-alpha 1.2.3-beta.2 1.9.0', '1.2.3-alpha 2.0.0'],
  ['>=1.0.0-0 <2.0.0', '2.0.0-rc.1 1.0.0-0', '2.0.0'],
  ['>=1.0.0 <2.0.0-0', '1.5.0-rc.1', '2.0.0-0 2.0.0-rc.1'],
  ['>=1 || 0.0.1-rc.1', '1.0.0 0.0.1-rc.1', '2.0.0-rc.1'],
  ['=1.2.3-rc.1', '1.2.3-rc.1', '1.2.3 1.2.3-rc.2'],
  ['^9007199254740993', '9007199254740993.1.0', '9007199254740992.0.0 9007199254740994.0.0'],
  ['1.2.3-a.b+c.d', '1.2.3-a.b', '1.2.3'],
];

const INVALID: readonly string[] = [
  '',
  '  ',
  '||',
  '|| ^1',
  '^1 ||',
  '^1 || || ^2',
  '^1 | ^2',
  '1|2',
  '^1,',
  ',^1',
  '^1,,^2',
  '>=1<2',
  '==1',
  '!1',
  '=!1',
  '>>1',
  '!^1',
  'V1',
  'vv1',
  'latest',
  'workspace:*',
  '1.2.3.4',
  '1..2',
  '1.',
  '1x',
  'xx',
  '1.xx',
  '1.2.3-',
  '1.2.3-01',
  '1.2.3+',
  '1.2-a_b',
  '^1&&^2',
  '>=1;<2',
  '1 - ',
  ' - 2',
  '1 - 2 - 3',
  '1.0.0 -2.0.0',
  '^1 1 - 2',
  '>=1 - 2',
  '1.0.0||2.0.0 - 3.0.0',
  '1\u00a0',
  '1\v',
  '１',
  '18446744073709551616',
  `1.0.0-${'a'.repeat(252)}`,
  `1.0.0${' '.repeat(508)}`,
];

describe('a constraint', () => {
  it.each(ROWS)('%j allows [%s] and denies [%s]', (text, allowed, denied) => {
    const parsed = constraint(text);
    const matched = (versions: string): readonly boolean[] =>
      versions.split(' ').flatMap((each) => (each === '' ? [] : parsed.matches(version(each))));
    expect(matched(allowed)).not.toContain(false);
    expect(matched(denied)).not.toContain(true);
  });

  it.each(INVALID)('is not %j', (text) => {
    expect(parseConstraint(text)).toEqual({ ok: false, reason: expect.any(String) as string });
  });

  it('has up to 32 alternatives', () => {
    expect(parseConstraint(Array(32).fill('1').join('||')).ok).toBe(true);
    expect(parseConstraint(Array(33).fill('1').join('||'))).toEqual({
      ok: false,
      reason: 'it has more than 32 alternatives',
    });
  });

  it('has up to 512 characters', () => {
    expect(parseConstraint('1'.padEnd(512)).ok).toBe(true);
    expect(parseConstraint('1'.padEnd(513))).toEqual({
      ok: false,
      reason: 'it is longer than 512 characters',
    });
  });

  it('says what is wrong with it, without what could forge a line', () => {
    expect(parseConstraint('^1 || no\npe')).toEqual({
      ok: false,
      reason: String.raw`" no\npe" is no list of comparators`,
    });
    expect(parseConstraint('>=1x')).toEqual({ ok: false, reason: '"1x" is no version, whole or in part' });
  });
});

describe('hostile constraints', () => {
  /** An expression with a choice of how to cut blanks would need longer than the universe is old. */
  it.each([
    `${'1   '.repeat(127)}!`,
    `${'1 ,  '.repeat(102)}!`,
    `1${' '.repeat(510)}!`,
    `${'x'.repeat(511)}!`,
    `${'1.'.repeat(255)}!`,
    `1-${'a.'.repeat(254)}!`,
    `${'1-'.repeat(255)}!`,
    `${'1 - '.repeat(127)}!`,
    `${'>= '.repeat(170)}!`,
    '|'.repeat(512),
  ])('are refused in no time: %j', (text) => {
    const before = performance.now();
    for (let run = 0; run < 5; run += 1) expect(parseConstraint(text).ok).toBe(false);
    expect(performance.now() - before).toBeLessThan(500);
  });
});

describe('any text', () => {
  const piece = fc.constantFrom(
    '1',
    '2.0',
    'x',
    '*',
    '1.2.3-rc.1',
    '+b',
    ' ',
    ',',
    '||',
    ' - ',
    '>=',
    '<',
    '^',
    '~',
    '!=',
    '=',
    '|',
    '\0',
    'é',
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    fc.string(),
  );
  const any = fc
    .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.constantFrom('', '-rc.1', '-0'))
    .map(([major, minor, patch, pre]) => version(`${major}.${minor}.${patch}${pre}`));

  it('never throws, and says yes or no', () => {
    fc.assert(
      fc.property(text, any, (each, candidate) => {
        const parsed = parseConstraint(each);
        expect(parsed.ok ? typeof parsed.constraint.matches(candidate) : typeof parsed.reason).toBe(
          parsed.ok ? 'boolean' : 'string',
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it('allows what either alternative allows', () => {
    const range = fc.constantFrom('^1', '~1.2', '<2.0.0-0', '>=1.0.0 <1.5.0', '!=1', '2.x', '0.1.2-rc.1');
    fc.assert(
      fc.property(range, range, any, (one, other, candidate) => {
        expect(constraint(`${one} || ${other}`).matches(candidate)).toBe(
          constraint(one).matches(candidate) || constraint(other).matches(candidate),
        );
      }),
    );
  });

  it('allows what lies between the ends of a hyphen range', () => {
    fc.assert(
      fc.property(any, any, any, (low, high, candidate) => {
        const range = constraint(`${low.original} - ${high.original}`);
        const admits = [low, high].some(({ prerelease }) => prerelease !== '') || candidate.prerelease === '';
        expect(range.matches(candidate)).toBe(
          admits && compareVersions(low, candidate) <= 0 && compareVersions(candidate, high) <= 0,
        );
      }),
    );
  });
});
