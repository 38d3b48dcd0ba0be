import { describe, expect, it } from 'vitest';

import { SpecRunner, type Expectation, type SpecTest } from './cel-spec.ts';

function test(expr: string, rest: Omit<Partial<SpecTest>, 'expr'> = {}): SpecTest {
  return { name: 'a test', expr, ...rest };
}

const TRUE = { boolValue: true };
const AN_ERROR = { errors: [{ message: 'any' }] };

describe('the comparison with a test of the specification', () => {
  it.each<[string, SpecTest, Expectation]>([
    ['a value', test('1 + 1', { value: { int64Value: '2' } }), 'pass'],
    ['a value that is not said', test('1 == 1'), 'pass'],
    ['an error', test('1 / 0', { evalError: AN_ERROR }), 'pass'],
    ['an error that types refuse', test("int('x')", { evalError: AN_ERROR }), 'refused-as-error'],
    ['a value of another kind', test('1 + 1', { value: { uint64Value: '2' } }), 'differs'],
    ['a name that is not declared', test('nothing.at.all', { value: TRUE }), 'not-in-environment'],
    ['a name that is not looked for', test('nothing || true', { disableCheck: true, value: TRUE }), 'pass'],
    [
      'a name within a container',
      test('Int32Value{value: 1} == 1', { container: 'google.protobuf', value: TRUE }),
      'pass',
    ],
    [
      'a type',
      test('[1]', {
        checkOnly: true,
        typedResult: { deducedType: { listType: { elemType: { primitive: 'INT64' } } } },
      }),
      'pass',
    ],
  ])('takes %s as it is expected, and as nothing else', (_name, tried, expected) => {
    const runner = new SpecRunner();
    const all: readonly Expectation[] = ['pass', 'refused-as-error', 'not-in-environment', 'differs'];
    const fitting = all.filter((expectation) => runner.problem(tried, expectation) === undefined);
    expect(fitting).toEqual([expected, ...alsoFitting(expected)]);
  });
});

/** What does not compile for an error that was wanted is also simply not there. */
function alsoFitting(expected: Expectation): readonly Expectation[] {
  return expected === 'refused-as-error' ? ['not-in-environment'] : [];
}
