/** Random objects, as texts: how a number is written matters. */
import type { Random } from './random.ts';

const INTS = [
  '0',
  '1',
  '-1',
  '3',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '-0',
];
const NUMBERS = [...INTS, '1.5', '1.0', '-0.0', '1e3', '9223372036854775808', '1e-7', '123456.789'];
const STRINGS = [
  '""',
  '"a"',
  '"ab"',
  '"b"',
  '"Ünï😀"',
  '"10.0.0.1"',
  '"100Mi"',
  '"1h"',
  '"1.2.3"',
  '"true"',
  '"2024-02-29T12:00:00Z"',
];
const SCALARS = [...NUMBERS, ...STRINGS, 'true', 'false', 'null'];
/** Few, since Go goes over them in any order and each order has to be seen. */
const KEYS = ['a', 'b', '__proto__', 'constructor', 'size'];

export interface Inputs {
  readonly object: string;
  readonly oldObject: string;
  readonly params: string;
}

export function randomInputs(random: Random): Inputs {
  return {
    object: objectText(random),
    oldObject: random.chance(0.3) ? 'null' : objectText(random),
    params: random.chance(0.3) ? 'null' : `{"data":${mapText(random, STRINGS)}}`,
  };
}

function objectText(random: Random): string {
  const spec = {
    i: random.pick(INTS),
    d: random.pick(NUMBERS),
    s: random.pick(STRINGS),
    b: random.pick(['true', 'false']),
    n: 'null',
    ints: listText(random, INTS),
    strings: listText(random, STRINGS),
    mixed: listText(random, SCALARS),
    map: mapText(random, SCALARS),
    nested: mapText(random, [...SCALARS, '{"a":{"b":[1]}}', '[[1],["a"]]']),
  };
  // Any of them may be missing.
  const members = Object.entries(spec).filter(() => random.chance(0.92));
  const text = members.map(([name, value]) => `"${name}":${value}`).join(',');
  return `{"metadata":{"name":"x","labels":${mapText(random, STRINGS)}},"spec":{${text}}}`;
}

function listText(random: Random, choices: readonly string[]): string {
  return `[${Array.from({ length: random.below(4) }, () => random.pick(choices)).join(',')}]`;
}

function mapText(random: Random, choices: readonly string[]): string {
  const keys = KEYS.filter(() => random.chance(0.35)).slice(0, 2);
  return `{${keys.map((key) => `"${key}":${random.pick(choices)}`).join(',')}}`;
}
