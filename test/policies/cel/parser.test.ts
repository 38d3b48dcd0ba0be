import { readFileSync, readdirSync } from 'node:fs';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Expr, Literal, MacroName } from '../../../src/policies/cel/ast.ts';
import {
  LIST_MACROS,
  OPTIONAL_MACROS,
  STANDARD_MACROS,
  type Syntax,
  TWO_VARIABLE_MACROS,
} from '../../../src/policies/cel/macros.ts';
import { parse } from '../../../src/policies/cel/parser.ts';
import { print } from '../../../src/policies/cel/printer.ts';
import { describeErrors } from '../../../src/policies/cel/source-error.ts';

const ALL: Syntax = {
  optionals: true,
  macros: new Set([...STANDARD_MACROS, ...OPTIONAL_MACROS, ...TWO_VARIABLE_MACROS, ...LIST_MACROS]),
};
const OLD: Syntax = { optionals: false, macros: new Set(STANDARD_MACROS) };

function outcome(source: string, syntax = ALL): string {
  const parsed = parse(source, syntax);
  return 'ast' in parsed
    ? print(parsed.ast.expr)
    : `${parsed.phase}: ${describeErrors(parsed.source, parsed.errors)}`;
}

/** Without ids and places, which printing does not keep. */
function bare(expr: unknown): unknown {
  if (expr instanceof Uint8Array) return [...expr];
  if (Array.isArray(expr)) return expr.map(bare);
  if (typeof expr !== 'object' || expr === null) return expr;
  const kept = Object.entries(expr).filter(([key]) => key !== 'id' && key !== 'at');
  return Object.fromEntries(kept.map(([key, value]) => [key, bare(value)]));
}

function reparsed(expr: Expr): unknown {
  const parsed = parse(print(expr), ALL);
  return 'ast' in parsed ? bare(parsed.ast.expr) : outcome(print(expr));
}

/** A node of the tree, or an entry of one: ids and places do not matter. */
function node<Shape extends object>(shape: Shape): Shape & { readonly id: number; readonly at: number } {
  return { id: 0, at: 0, ...shape };
}

function call(name: string, ...args: readonly Expr[]): Expr {
  return node({ kind: 'call', function: name, args });
}

function macro(
  [name, variables, hasFilter]: (typeof macros)[number],
  range: Expr,
  filter: Expr,
  body: Expr,
): Expr {
  const base = {
    kind: 'macro',
    macro: name,
    range,
    body,
    variables: ['x', 'y'].slice(0, variables),
  } as const;
  return hasFilter ? node({ ...base, filter }) : node(base);
}

const name = fc.constantFrom('a', 'b', 'object', '_x1', '.root');
const field = fc.constantFrom('f', 'spec', 'for', 'namespace', '__proto__', 'constructor');

const literal: fc.Arbitrary<Literal> = fc.oneof(
  fc.constant<Literal>({ type: 'null' }),
  fc.boolean().map((value): Literal => ({ type: 'bool', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Literal => ({ type: 'int', value })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): Literal => ({ type: 'uint', value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Literal => ({ type: 'double', value })),
  fc.string({ unit: 'binary' }).map((value): Literal => ({ type: 'string', value: value.toWellFormed() })),
  fc.uint8Array({ maxLength: 8 }).map((value): Literal => ({ type: 'bytes', value })),
);

const operators = ['_||_', '_&&_', '_<_', '_==_', '@in', '_+_', '_-_', '_*_', '_%_', '_[_]', '_[?_]'];
const macros: readonly (readonly [MacroName, variables: number, filter: boolean])[] = [
  ['all', 1, false],
  ['exists', 2, false],
  ['exists_one', 1, false],
  ['existsOne', 2, false],
  ['map', 1, true],
  ['map', 1, false],
  ['filter', 1, false],
  ['transformList', 2, true],
  ['transformMap', 2, false],
  ['transformMapEntry', 2, true],
  ['optMap', 1, false],
  ['optFlatMap', 1, false],
];

const { tree } = fc.letrec<{ tree: Expr }>((tie) => {
  const one = tie('tree');
  const several = fc.array(one, { maxLength: 3 });
  const optional = fc.boolean();
  const element = fc.record({ value: one, optional });
  const entry = fc.record({ key: one, value: one, optional }).map(node);
  const fieldEntry = fc.record({ name: field, value: one, optional }).map(node);
  return {
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      literal.map((value): Expr => node({ kind: 'literal', literal: value })),
      name.map((text): Expr => node({ kind: 'ident', name: text })),
      fc
        .tuple(one, field, fc.constantFrom([false, false], [false, true], [true, false]))
        .map(([operand, text, [test = false, isOptional = false]]): Expr => {
          return node({ kind: 'select', operand, field: text, test, optional: isOptional });
        }),
      fc.tuple(fc.constantFrom(...operators), one, one).map(([operator, a, b]) => call(operator, a, b)),
      fc.tuple(fc.constantFrom('!_', '-_'), one).map(([operator, a]) => call(operator, a)),
      fc.tuple(one, one, one).map((args) => call('_?_:_', ...args)),
      several.map((args) => call('f', ...args)),
      fc.tuple(one, several).map(([target, args]): Expr => {
        return node({ kind: 'call', function: 'size', target, args });
      }),
      fc.array(element, { maxLength: 3 }).map((elements): Expr => node({ kind: 'list', elements })),
      fc.array(entry, { maxLength: 3 }).map((entries): Expr => node({ kind: 'map', entries })),
      fc.array(fieldEntry, { maxLength: 2 }).map((fields): Expr => {
        return node({ kind: 'struct', typeName: 'a.b.C', fields });
      }),
      fc.tuple(fc.constantFrom(...macros), one, one, one).map((parts) => macro(...parts)),
    ),
  };
});

describe('parsing what is printed', () => {
  it('gives the same tree, whatever the tree', () => {
    fc.assert(
      fc.property(tree, (expr) => {
        expect(reparsed(expr)).toEqual(bare(expr));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same tree for every recorded source', () => {
    const folder = new URL('../../golden/cel/', import.meta.url);
    let count = 0;
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
      for (const line of readFileSync(new URL(file, folder), 'utf8').split('\n')) {
        const { expr } = (line === '' ? {} : JSON.parse(line)) as { expr?: string };
        const parsed = parse(expr ?? '', ALL);
        if (expr === undefined || !('ast' in parsed)) continue;
        count++;
        expect({ expr, tree: reparsed(parsed.ast.expr) }).toEqual({ expr, tree: bare(parsed.ast.expr) });
      }
    }
    expect(count).toBeGreaterThan(8000);
  });
});

describe('reading', () => {
  it.each([
    ['a && b && c && d', '(a && b) && (c && d)'],
    ['a || b || c', '(a || b) || c'],
    ['1 + 2 * 3 - 4', '1 + 2 * 3 - 4'],
    ['(1 + 2) * 3', '(1 + 2) * 3'],
    ['a - (b - c)', 'a - (b - c)'],
    ['!!a', 'a'],
    ['!!!a', '!a'],
    ['- - 1', '1'],
    ['-1', '-1'],
    ['-(1)', '-(1)'],
    ['- 9223372036854775808', '-9223372036854775808'],
    ['a ? b : c ? d : e', 'a ? b : c ? d : e'],
    ['a in b == c', 'a in b == c'],
    ['0x1F + 0xfu', '31 + 15u'],
    ['.5 + 1e3', '0.5 + 1000.0'],
    [`'''a"b'''`, String.raw`"a\"b"`],
    [String.raw`r'\n' + "\x41\u0042\101\?"`, String.raw`"\\n" + "ABA?"`],
    [String.raw`b'\xff\377é'`, String.raw`b"\xff\xff\xc3\xa9"`],
    ["'''a\r\nb''' // comment", String.raw`"a\u000ab"`],
    ['has(has(a.b))', 'has(a.b)'],
    ['[1, 2,]', '[1, 2]'],
    ['[ , ]', '[]'],
    ['{?"a": b,}', '{?"a": b}'],
    ['a.?b[?c].d', 'a.?b[?c].d'],
    ['.a.b.C{d: 1}', '.a.b.C{d: 1}'],
    ['a.map(x, x > 1, x)', 'a.map(x, x > 1, x)'],
    ['a.all(x)', 'a.all(x)'],
    ['has(a, b)', 'has(a, b)'],
  ])('takes %s for %s', (source, printed) => {
    expect(outcome(source)).toBe(printed);
  });

  it('counts places in code points and lines', () => {
    expect(outcome("'😀é' +\n\t'é' @")).toBe(
      "syntax: ERROR: <input>:2:6: Syntax error: token recognition error at: '@'\n |  'é' @\n | ..．..^",
    );
  });
});

describe('refusing', () => {
  it.each([
    ['', "1:0: Syntax error: mismatched input '<EOF>' expecting"],
    ['1 +', "1:4: Syntax error: mismatched input '<EOF>' expecting"],
    ['1 1', "1:3: Syntax error: extraneous input '1' expecting <EOF>"],
    ['a..b', "1:3: Syntax error: no viable alternative at input '..'"],
    ['a.true', "1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"],
    ['a ? b ? c : d : e', "1:7: Syntax error: mismatched input '?' expecting ':'"],
    ["a['b'", "1:6: Syntax error: missing ']' at '<EOF>'"],
    ['for x', '1:1: reserved identifier: for'],
    ['a && for(1)', '1:6: reserved identifier: for'],
    ['9223372036854775808', '1:1: invalid int literal'],
    ['18446744073709551616u', '1:1: invalid uint literal'],
    ['-1e400', '1:1: invalid double literal'],
    [String.raw`'\ud800'`, '1:1: invalid unicode code point'],
    [String.raw`b'\u0041'`, '1:1: unable to unescape string'],
    ['a.`b`', "1:3: unsupported syntax: '`'"],
    ['has(a[0])', '1:6: invalid argument to has() macro'],
    ['a.all(1, true)', '1:7: argument must be a simple name'],
    ['a.map(1, true)', '1:7: argument is not an identifier'],
    ['a.exists(__result__, true)', '1:10: iteration variable overwrites accumulator variable'],
    ['a.all(i, i, true)', '1:10: duplicate variable name: i'],
    ['a.optMap(1, x)', '1:10: optMap() variable name must be a simple identifier'],
    ["'a'.sortBy(x, x)", '1:1: sortBy can only be applied to a list'],
  ])('says of %s: %s', (source, message) => {
    expect(outcome(source)).toContain(`ERROR: <input>:${message}`);
  });

  it.each([
    ['a.?b', "1:2: unsupported syntax '.?'"],
    ['a[?b]', "1:2: unsupported syntax '[?'"],
    ['[?a]', "1:2: unsupported syntax '?'"],
    ['{?a: b}', "1:2: unsupported syntax '?'"],
  ])('says of %s, where there are no optionals: %s', (source, message) => {
    expect(outcome(source, OLD)).toContain(`check: ERROR: <input>:${message}`);
  });

  it('reports several errors in the order of their places', () => {
    const lines = outcome('for + [1 2] + while').split('\n');
    expect(
      lines.filter((line) => line.includes('ERROR')).map((line) => line.slice(line.indexOf('<input>'))),
    ).toEqual([
      '<input>:1:1: reserved identifier: for',
      "<input>:1:10: Syntax error: extraneous input '2' expecting {']', ','}",
      '<input>:1:15: reserved identifier: while',
    ]);
  });
});

describe('limits', () => {
  const depth = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250';
  const height = 'ERROR: <input>:-1:0: max recursion depth exceeded';

  it.each([
    ['parentheses', `${'('.repeat(249)}1${')'.repeat(249)}`, `${'('.repeat(250)}1${')'.repeat(250)}`, depth],
    ['additions', `1${' + 1'.repeat(250)}`, `1${' + 1'.repeat(251)}`, height],
    ['selections', `a${'.b'.repeat(250)}`, `a${'.b'.repeat(251)}`, height],
    ['indexes', `a${'[0]'.repeat(250)}`, `a${'[0]'.repeat(251)}`, height],
    ['ternaries', `${'true ? 1 : '.repeat(249)}2`, `${'true ? 1 : '.repeat(250)}2`, depth],
  ])('allows 250 levels of %s and denies one more', (_what, most, more, text) => {
    expect(outcome(most)).not.toContain('ERROR');
    expect(outcome(more)).toContain(text);
  });

  it('allows thousands of terms and signs, which are no levels', () => {
    expect(outcome(`true${' && true'.repeat(5000)}`)).not.toContain('ERROR');
    expect(outcome(`${'!'.repeat(50_001)}true`)).toBe('!true');
  });

  it('allows 100,000 code points and denies one more', () => {
    expect(outcome(`'${'😀'.repeat(99_998)}'`)).not.toContain('ERROR');
    expect(outcome(`'${'😀'.repeat(99_999)}'`)).toBe(
      'syntax: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    );
  });

  it('gives up on hopeless sources as cel-go does', () => {
    expect(outcome('a b '.repeat(20_000))).toContain('error recovery token lookahead limit exceeded: 256');
    expect(outcome('@'.repeat(300))).toContain('1 more errors were truncated');
    expect(outcome('f('.repeat(20_000))).toContain('expression recursion limit exceeded: 250');
  });
});
