import { expect, it } from 'vitest';
import { quote } from '../../src/errors.ts';
import { FakeClock } from '../support/fake-clock.ts';

it('quotes', () => {
  expect(quote('a\u202eb')).toBe('"a\\u202eb"');
  expect(new FakeClock().now()).toBe(Date.UTC(2026, 0, 1));
});
