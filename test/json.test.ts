import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isBoxedDouble, JsonError, readJson, stringifyJson, type ReadJsonOptions } from '../src/json.ts';

const read = (text: string, options?: ReadJsonOptions): unknown => readJson(Buffer.from(text), options);

function faultOf(bytes: Uint8Array, options?: ReadJsonOptions): { kind: string; offset: number } {
  try {
    readJson(bytes, options);
  } catch (error) {
    if (error instanceof JsonError) return { kind: error.kind, offset: error.offset };
    throw error;
  }
  throw new Error('the text was read');
}

function isRead(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (error instanceof JsonError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** A value in words that tell a double from an integer. */
function shape(value: unknown): unknown {
  if (isBoxedDouble(value)) return `double ${Object.is(Number(value), -0) ? '-0' : String(value)}`;
  if (typeof value === 'bigint') return `bigint ${String(value)}`;
  if (typeof value === 'number') return Object.is(value, -0) ? 'number -0' : value;
  return value;
}

describe('number tokens', () => {
  const cases: [token: string, value: unknown][] = [
    ['0', 0],
    ['-1', -1],
    ['123456789012345', 123456789012345],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740992', 'bigint 9007199254740992'],
    ['9007199254740993', 'bigint 9007199254740993'],
    ['-9007199254740993', 'bigint -9007199254740993'],
    ['9223372036854775807', 'bigint 9223372036854775807'],
    ['-9223372036854775808', 'bigint -9223372036854775808'],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['123456789012345678901234567890', 123456789012345680000000000000],
    ['1.0', 'double 1'],
    ['-1.0', 'double -1'],
    ['1e3', 'double 1000'],
    ['1E+3', 'double 1000'],
    ['1.5e2', 'double 150'],
    ['0.0', 'double 0'],
    ['-0.0', 'double -0'],
    ['0e5', 'double 0'],
    ['1e-400', 'double 0'],
    ['-1e-400', 'double -0'],
    ['0.1', 0.1],
    ['-2.5', -2.5],
    ['1e-3', 0.001],
    ['1e20', 1e20],
    ['9007199254740993.0', 9007199254740992],
    ['1.50', 1.5],
    ['100.000', 'double 100'],
    ['1.5e1', 'double 15'],
    ['1.25E1', 12.5],
    ['12345678901234.5', 12345678901234.5],
    ['0.00000000000001', 0.00000000000001],
    // Rounded to a whole number that is safe.
    ['0.99999999999999999999', 'double 1'],
    ['4503599627370497.3', 'double 4503599627370497'],
    ['9007199254740990.7', 'double 9007199254740991'],
    // And to one that is not.
    ['9007199254740993.5', 9007199254740994],
  ];

  it.each(cases)('reads %s as an API server does, alone and inside', (token, value) => {
    expect(shape(read(token))).toEqual(value);
    expect(shape((read(`{"a":[ ${token} ]}`) as { a: unknown[] }).a[0])).toEqual(value);
    expect(shape((read(`[1,${token},"x"]`) as unknown[])[1])).toEqual(value);
  });

  it('reads -0 as a double in a review and as the integer 0 in a file', () => {
    expect(shape(read('-0'))).toBe('double -0');
    expect(shape((read('[-0]') as unknown[])[0])).toBe('double -0');
    expect(shape(read('-0', { negativeZero: 'int' }))).toBe(0);
    expect(shape(read('-0.0', { negativeZero: 'int' }))).toBe('double -0');
  });

  it.each(['1e400', '-1e400', '9'.repeat(400)])('refuses %s: no double can hold it', (token) => {
    expect(faultOf(Buffer.from(`{"a":${token}}`))).toEqual({ kind: 'number', offset: 5 });
  });

  it('refuses eight million digits at once', () => {
    expect(faultOf(Buffer.from('9'.repeat(8_000_000))).kind).toBe('number');
  });

  it.each(['01', '1.', '.5', '+1', '1e', '-', '0x1', 'NaN', 'Infinity', '1_000'])('refuses %s', (token) => {
    expect(faultOf(Buffer.from(token)).kind).toBe('syntax');
    expect(faultOf(Buffer.from(`[1.0,${token}]`)).kind).toBe('syntax');
  });
});

describe('keys and strings', () => {
  it.each([
    ['fast', ''],
    ['exact', ',"exact":1.0'],
  ])('takes the last of duplicate keys (%s)', (_path, more) => {
    expect(read(`{"a":1,"a":{"b":2,"b":3}${more}}`)).toMatchObject({ a: { b: 3 } });
    expect(Object.keys(read(`{"a":1,"b":2,"a":3${more}}`) as object).slice(0, 2)).toEqual(['a', 'b']);
  });

  it.each([
    ['fast', ''],
    ['exact', ',"exact":1.0'],
  ])('keeps __proto__ and constructor as plain data (%s)', (_path, more) => {
    const object = read(`{"__proto__":{"admin":true},"constructor":{"prototype":1}${more}}`) as object;
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.hasOwn(object, '__proto__')).toBe(true);
    expect(Object.keys(object).slice(0, 2)).toEqual(['__proto__', 'constructor']);
    expect((object as { admin?: unknown }).admin).toBeUndefined();
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it.each([
    ['half a pair', String.raw`"a\ud800b"`, 'a\ufffdb'],
    ['the second half alone', String.raw`"\udc00"`, '\ufffd'],
    ['two first halves', String.raw`"\uD83D\uD83D\uDE00"`, '\ufffd😀'],
    ['half a pair and an ordinary escape', String.raw`"\ud800A"`, '\ufffdA'],
    ['a whole pair', String.raw`"\ud83d\ude00"`, '😀'],
    ['an escaped backslash before u', String.raw`"\\ud800"`, String.raw`\ud800`],
    ['a Hangul escape', String.raw`"\ud7ff"`, '\ud7ff'],
    ['every short escape', String.raw`"\"\\\/\b\f\n\r\t<"`, '"\\/\b\f\n\r\t<'],
  ])('reads %s', (_name, text, value) => {
    expect(read(text)).toBe(value);
    expect(read(`{"n":1.0,"s":${text}}`)).toMatchObject({ s: value });
  });

  it('takes the last of keys that become equal through U+FFFD', () => {
    expect(read(String.raw`{"\ud800":1,"�":2}`)).toEqual({ '\ufffd': 2 });
  });

  it.each(['"a', '"\\x"', '"\\u12"', '"\n"', '"\u0000"', '"\\', "'a'"])('refuses the string %j', (text) => {
    expect(faultOf(Buffer.from(text)).kind).toBe('syntax');
    expect(faultOf(Buffer.from(`[1.0,${text}]`)).kind).toBe('syntax');
  });
});

describe('hostile texts', () => {
  it('reads 512 levels and refuses 513, where the 513th begins', () => {
    expect(() => read('['.repeat(512) + ']'.repeat(512))).not.toThrow();
    expect(() => read(`${'['.repeat(511)}{"a":1.0}${']'.repeat(511)}`)).not.toThrow();
    expect(faultOf(Buffer.from('['.repeat(513) + ']'.repeat(513)))).toEqual({ kind: 'depth', offset: 512 });
    expect(faultOf(Buffer.from(`[1.0,${'{"a":'.repeat(600)}`))).toEqual({
      kind: 'depth',
      offset: 5 + 511 * 5,
    });
    expect(faultOf(Buffer.from('[[]]'), { maxDepth: 1 })).toEqual({ kind: 'depth', offset: 1 });
  });

  it.each(['[', '{"a":', '[1.0,['])(
    'refuses %s a hundred thousand times over without running deep',
    (part) => {
      expect(faultOf(Buffer.from(part.repeat(100_000))).kind).toBe('depth');
    },
  );

  it.each<[string, string, number]>([
    ['commas in an array', `[${'1,'.repeat(99)}1]`, 100],
    ['empty arrays', `[${'[],'.repeat(49)}[]]`, 100],
    ['members', `{${Array.from({ length: 100 }, (_, index) => `"k${String(index)}":0`).join(',')}}`, 100],
    ['numbers after one that needs exact reading', `[1.0,${'1,'.repeat(98)}1]`, 100],
    ['levels', '['.repeat(100) + ']'.repeat(100), 100],
    ['values after a long string', `["${'a'.repeat(9_999)}",${'1,'.repeat(98)}1]`, 100],
    [String.raw`values after half a surrogate pair`, String.raw`["\ud800",${'1,'.repeat(98)}1]`, 100],
  ])('reads as many %s as are allowed and refuses one more before making any', (_what, text, values) => {
    expect(() => read(text, { maxValues: values })).not.toThrow();
    expect(faultOf(Buffer.from(text), { maxValues: values - 1 })).toMatchObject({ kind: 'values' });
  });

  const names = (count: number, prefix = ''): string =>
    Array.from({ length: count }, (_, index) => `"${prefix}${String(index)}":0`).join(',');
  it.each<[string, string]>([
    ['in one object', `{${names(1_000)}}`],
    [
      'in many objects',
      `[${Array.from({ length: 1_000 }, (_, index) => `{"${String(index)}":0}`).join(',')}]`,
    ],
    ['after a number that needs exact reading', `{"0":1.0,${names(1_000)}}`],
    ['that are long', `{${names(1_000, 'n'.repeat(300))}}`],
    ['with space behind them', `{${names(1_000).replaceAll(':', ' :')}}`],
  ])('reads a thousand names %s where so many are allowed, and refuses them where half is', (_what, text) => {
    expect(() => read(text, { maxNames: 1_000 })).not.toThrow();
    expect(faultOf(Buffer.from(text), { maxNames: 500 })).toMatchObject({ kind: 'values' });
  });

  it('counts a name once, and no value as one', () => {
    const text = `[${'{"name":"a","of":":"},'.repeat(1_000)}${names(1_000).replaceAll(':0', '')}]`;
    expect(read(text, { maxNames: 2 })).toHaveLength(2_000);
  });

  it('counts no comma inside a string', () => {
    expect(read(`"${','.repeat(600)}\\"${','.repeat(600)}"`, { maxValues: 1 })).toHaveLength(1201);
  });

  it('counts no bracket inside a string', () => {
    expect(read(`"${'['.repeat(600)}\\"${'{'.repeat(600)}"`)).toHaveLength(1201);
  });

  it.each<[string, Buffer, { kind: string; offset: number }]>([
    ['nothing', Buffer.alloc(0), { kind: 'empty', offset: 0 }],
    ['space alone', Buffer.from('  '), { kind: 'syntax', offset: 2 }],
    ['a byte order mark', Buffer.from('\ufeff{}'), { kind: 'syntax', offset: 0 }],
    ['a broken byte', Buffer.from([0x22, 0x61, 0xff, 0x22]), { kind: 'utf8', offset: 2 }],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0x80, 0x22]), { kind: 'utf8', offset: 1 }],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), { kind: 'utf8', offset: 1 }],
    ['a cut character', Buffer.from([0x22, 0x61, 0xe2, 0x82]), { kind: 'utf8', offset: 2 }],
    ['a cut object', Buffer.from('{"a":1'), { kind: 'syntax', offset: 6 }],
    ['a comma too many', Buffer.from('{"a":1,}'), { kind: 'syntax', offset: 7 }],
    ['a comma too few', Buffer.from('[1 2]'), { kind: 'syntax', offset: 3 }],
    ['a key without quotes', Buffer.from('{a:1}'), { kind: 'syntax', offset: 1 }],
    ['something behind the end', Buffer.from('{"ü":1} x'), { kind: 'syntax', offset: 9 }],
    ['a word cut short', Buffer.from('[tru]'), { kind: 'syntax', offset: 1 }],
  ])('refuses %s and says where', (_name, bytes, fault) => {
    expect(faultOf(bytes)).toEqual(fault);
  });

  it('never repeats what it read in its message', () => {
    const texts = ['{"token":"hunter2" hunter2}', 'hunter2', '{"a":hunter2}', '["hunter2\\x"]'];
    for (const text of texts) {
      expect(() => read(text)).toThrow(JsonError);
      expect(() => read(text)).not.toThrow(/hunter2/);
    }
  });

  it('reads a view into a larger buffer, and a plain Uint8Array', () => {
    const large = Buffer.from('xx{"a":1}xx');
    expect(readJson(large.subarray(2, 9))).toEqual({ a: 1 });
    expect(readJson(new Uint8Array(large.buffer, large.byteOffset + 2, 7))).toEqual({ a: 1 });
  });
});

describe('any text', () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
  const integers = fc.maxSafeInteger().map(String);
  const fractions = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !Number.isSafeInteger(n) && !Number.isInteger(n))
    .map(String);
  const strings = fc.string({ unit: 'binary' }).map((s) => JSON.stringify(s.toWellFormed()));
  /** JSON texts with spaces, duplicate keys and escapes, from the leaves given. */
  const jsonText = (...leaves: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
    fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        ...leaves,
        fc.tuple(space, fc.array(tie('value'))).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
        fc
          .tuple(
            space,
            fc.array(
              fc.tuple(fc.oneof(strings, fc.constant('"a"'), fc.constant('"__proto__"')), tie('value')),
            ),
          )
          .map(([gap, members]) => `{${members.map(([k, v]) => `${k}${gap}:${gap}${v}`).join(',')}${gap}}`),
      ),
    })).value;
  const words = fc.constantFrom('true', 'false', 'null');

  it('reads what JSON.parse reads where that falsifies nothing', () => {
    fc.assert(
      fc.property(jsonText(words, strings, integers, fractions), (text) => {
        expect(read(text)).toStrictEqual(JSON.parse(text));
      }),
    );
  });

  it('reads every decimal as it does where another number needs exact reading', () => {
    const digits = fc.stringMatching(/^\d{0,17}$/);
    const whole = fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits).map((d) => d.join('')),
    );
    const fraction = fc.oneof(fc.stringMatching(/^\d{1,18}$/), fc.stringMatching(/^(?:0{1,17}|9{1,18})\d?$/));
    const decimal = fc
      .tuple(fc.constantFrom('', '-'), whole, fraction)
      .map(([sign, a, b]) => `${sign}${a}.${b}`);
    fc.assert(
      fc.property(decimal, (token) => {
        const [, exactly] = read(`[1e0,${token}]`) as unknown[];
        expect((read(`[${token}]`) as unknown[]).map(shape)).toEqual([shape(exactly)]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads every exact number back as it was written', () => {
    const exact = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.maxSafeInteger().map((n) => Object(n) as unknown),
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
    );
    fc.assert(
      fc.property(fc.array(exact), fc.nat(4), (values, indent) => {
        const again = read(stringifyJson({ values }, indent)) as { values: unknown[] };
        expect(again.values.map(shape)).toEqual(
          values.map((v) => {
            // A safe bigint comes back as the number that it is.
            if (typeof v === 'bigint' && Number.isSafeInteger(Number(v))) return Number(v);
            return shape(v);
          }),
        );
      }),
    );
  });

  it('refuses every text that JSON.parse refuses, and no other', () => {
    const broken = fc
      .tuple(jsonText(words, strings, integers), fc.nat(), fc.constantFrom('', ',', '"', '}', '1', '\\', '-'))
      .map(([text, at, put]) => {
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + put + text.slice(cut + 1);
      })
      .filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(broken, (text) => {
        expect(isRead(() => read(text))).toBe(isRead(() => JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('writing', () => {
  it('writes whole doubles with .0, big integers as their digits, and leaves out what JSON has no word for', () => {
    const value = read(
      '{"a":1.0,"b":9007199254740993,"c":-0,"d":1e20,"e":1e21,"f":[1,2.5],"g":{},"h":[]}',
    ) as object;
    const text =
      '{"a":1.0,"b":9007199254740993,"c":-0.0,"d":100000000000000000000.0,"e":1e+21,"f":[1,2.5],"g":{},"h":[]}';
    expect(stringifyJson({ ...value, none: undefined, run: () => 1 })).toBe(text);
    expect(stringifyJson([undefined])).toBe('[null]');
    expect(stringifyJson({ a: [1], b: {} }, 2)).toBe('{\n  "a": [\n    1\n  ],\n  "b": {}\n}');
    expect(() => stringifyJson(Number.NaN)).toThrow(TypeError);
  });

  it('keeps a double that is no safe integer a double', () => {
    for (const token of ['1e17', '9007199254740993.0', '18446744073709551616']) {
      const value = read(token);
      expect(read(stringifyJson(value))).toStrictEqual(value);
    }
  });
});

describe('a long string', () => {
  // The scan leaves its loop inside a long string: what stands after it must be seen all the same.
  const lengths = [0, 1, 253, 254, 255, 256, 257, 258, 511, 512, 513, 1_023, 1_024, 1_025, 5_000];
  const escapes = [
    '',
    String.raw`\"`,
    '\\\\',
    String.raw`\n`,
    String.raw`\u0041`,
    String.raw`\\\"`,
    String.raw`\"\"\"\"`,
  ];
  it.each(lengths)('of %i characters, escapes in it, does not hide a double after it', (length) => {
    for (const escape of escapes) {
      const body = `${'x'.repeat(length)}${escape}${'y'.repeat(length)}${escape.repeat(300)}`;
      const read = readJson(Buffer.from(`{"s":"${body}","n":1.0}`)) as { s: string; n: unknown };
      expect(read.s).toBe(JSON.parse(`"${body}"`));
      expect(isBoxedDouble(read.n)).toBe(true);
    }
  });

  it.each(lengths)('of %i characters does not hide half a surrogate pair in it or after it', (length) => {
    const long = 'x'.repeat(length);
    expect(readJson(Buffer.from(String.raw`["${long}\ud800${long}"]`))).toEqual([`${long}\ufffd${long}`]);
    expect(readJson(Buffer.from(String.raw`["${long}","\ud800"]`))).toEqual([long, '\ufffd']);
    expect(readJson(Buffer.from(String.raw`["${long}\"${long}\ud800"]`))).toEqual([`${long}"${long}\ufffd`]);
  });

  it.each(lengths)('of %i characters that does not end is refused', (length) => {
    for (const end of ['', '\\', '\\u', '\\ud', '\\ud800']) {
      expect(() => readJson(Buffer.from(`["${'x'.repeat(length)}${end}`))).toThrow(JsonError);
    }
  });
});
