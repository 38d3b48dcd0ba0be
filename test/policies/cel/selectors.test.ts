import { describe, expect, it } from 'vitest';

import { parseFieldSelector, parseLabelSelector } from '../../../src/policies/cel/libraries/selectors.ts';

function texts({ terms, error }: ReturnType<typeof parseFieldSelector>): unknown {
  return error ?? terms.map((term) => term.text);
}

const REQUIREMENT = 'unable to parse requirement: ';

describe('field selectors', () => {
  it.each([
    ['b=1,a!=2,c==3', ['a != 2', 'b = 1', 'c = 3']],
    [String.raw`a=b\,c\=d\\`, [String.raw`a = b,c=d\ `.trim()]],
    ['=', []],
    [',,', []],
    ['é!=ü', ['é != ü']],
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    [String.raw`a=\x`, String.raw`invalid field selector: invalid escape sequence: \x`],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('reads %j', (text, expected) => {
    expect(texts(parseFieldSelector(text))).toEqual(expected);
  });

  it('tells operators as the API does', () => {
    expect(parseFieldSelector('a=b,c!=d').terms).toEqual([
      { key: 'a', operator: 'In', values: ['b'], text: 'a = b' },
      { key: 'c', operator: 'NotIn', values: ['d'], text: 'c != d' },
    ]);
  });
});

describe('label selectors', () => {
  it.each([
    ['', []],
    ['b,a', ['a', 'b']],
    ['!x', ['!x']],
    ['k in (b,a,,b)', ['k in (,a,b)']],
    ['k notin ()', ['k notin ()']],
    ['k=', ['k=']],
    ['k==v, k!=w', ['k==v', 'k!=w']],
    ['k>5,k<6', ['k>5', 'k<6']],
    ['in in (in)', ['in in (in)']],
    ['constructor', ['constructor']],
    ['a\u0000,b', ['a', 'b']],
    ['a,\u0000b', ['a', 'b']],
    ['a \u0000b', ['a']],
    [
      'k<x',
      `${REQUIREMENT}values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['k in a', `${REQUIREMENT}found 'a' expected: '('`],
    ['k in (a', `${REQUIREMENT}found '', expected: ',' or ')'`],
    ['k in (a b)', `${REQUIREMENT}found 'b', expected: ',' or ')'`],
    ['k in (=)', `${REQUIREMENT}found '=', expected: ',', ')' or identifier`],
    ['k in (,=)', `${REQUIREMENT}found '=', expected: ',', or identifier`],
    ['x y', `${REQUIREMENT}found 'y', expected: in, notin, =, ==, !=, gt, lt`],
    ['k>=5', `${REQUIREMENT}found '=', expected: identifier`],
    ['!!', `${REQUIREMENT}found '!', expected: identifier`],
    ['a,', "found '', expected: identifier after ','"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['k=v w', "found 'w', expected: ',' or 'end of string'"],
    ['(', "found '(', expected: !, identifier, or 'end of string'"],
  ])('reads %j', (text, expected) => {
    expect(texts(parseLabelSelector(text))).toEqual(expected);
  });

  it('says what is wrong with keys and values', () => {
    expect(parseLabelSelector('-bad').error).toMatch(
      /^unable to parse requirement: <nil>: Invalid value: "-bad": name part/,
    );
    expect(parseLabelSelector('k in (-a,-b)').error).toMatch(
      /^unable to parse requirement: \[values\[0\]\[k\]: Invalid value: "-a": .*, values\[1\]\[k\]: Invalid value: "-b": .*\]$/,
    );
  });

  it('tells operators as the API does', () => {
    const operators = parseLabelSelector('a,!b,c=1,d!=1,e in (1),f notin (1),g>1,h<1').terms;
    expect(operators.map((term) => term.operator)).toEqual([
      'Exists',
      'DoesNotExist',
      'In',
      'NotIn',
      'In',
      'NotIn',
      'Gt',
      'Lt',
    ]);
  });
});
