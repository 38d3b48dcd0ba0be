import { expect, it } from 'vitest';
import { canonicalAddress } from '../../../src/reconcile/observe/ip-address.ts';

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:0a00:0001', '10.0.0.1'],
  ['64:ff9b::a00:1', '10.0.0.1'],
  ['64:ff9b::1', '0.0.0.1'],
  ['FD00:0:0::1', 'fd00::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['web.example.test', undefined],
  ['', undefined],
  ['10.0.0.256', undefined],
  ['::%', undefined],
])('%s is %s', (text, address) => {
  expect(canonicalAddress(text)).toBe(address);
});
