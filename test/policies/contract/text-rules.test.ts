import { describe, expect, it } from 'vitest';
import { isBlank, isCanonicalDate, utcDay } from '../../../src/policies/contract/text-rules.ts';

describe('a canonical date', () => {
  it.each(['2027-03-31', '2024-02-29', '2000-02-29', '0000-02-29', '0001-01-01', '0099-12-31', '9999-12-31'])(
    'allows %j',
    (text) => {
      expect(isCanonicalDate(text)).toBe(true);
    },
  );

  it.each([
    '',
    '2027-3-31',
    '2027-03-1',
    '2027-02-29',
    '1900-02-29',
    '2027-04-31',
    '2027-00-10',
    '2027-13-01',
    '2027-01-00',
    '2027-01-32',
    '27-01-01',
    '12027-01-01',
    '-2027-01-01',
    '2027/01/01',
    '2027-01-01T00:00:00Z',
    ' 2027-01-01',
    '2027-01-01\n',
    '２０２７-01-01',
  ])('denies %j', (text) => {
    expect(isCanonicalDate(text)).toBe(false);
    expect(utcDay(text)).toBeUndefined();
  });

  it('begins at midnight in UTC, in the first century as well', () => {
    expect(utcDay('2027-03-31')).toBe(Date.parse('2027-03-31T00:00:00Z'));
    expect(utcDay('0050-06-01')).toBe(Date.parse('0050-06-01T00:00:00Z'));
  });
});

describe('a blank text', () => {
  it.each([
    '',
    ' ',
    '\t\n\v\f\r',
    '\u0085',
    '\u00a0',
    '\u1680',
    '\u2000\u200a',
    '\u2028\u2029',
    '\u202f',
    '\u205f\u3000',
  ])('is %j', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(['a', ' a ', '\ufeff', '\u200b', '\u180e', '\0', '\u001c'])('is not %j', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});
