import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/reconcile/observe/public-address.ts';

describe('a public address', () => {
  it.each([
    '8.8.8.8',
    '34.1.2.3',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '2600:1901::1',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:808',
    // Documentation: no cluster has them, and every example means what they stand for.
    '203.0.113.7',
    '2001:db8::7',
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['RFC 1918', '10.0.0.1'],
    ['RFC 1918', '172.16.0.1'],
    ['RFC 1918', '172.31.255.255'],
    ['RFC 1918', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback', '::1'],
    ['link-local', '169.254.169.254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['unspecified', '0.0.0.0'],
    ['unspecified', '::'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['benchmarks', '198.18.0.1'],
    ['reserved', '255.255.255.255'],
    ['unique local', 'fd00::1'],
    ['unique local', 'fc00::1'],
    ['IPv4 within IPv6', '::ffff:10.0.0.1'],
    ['IPv4 within IPv6', '::ffff:0a00:0001'],
    ['IPv4 behind a translator', '64:ff9b::10.0.0.1'],
    ['IPv4 behind a translator', '64:ff9b::a00:1'],
    ['a local translator', '64:ff9b:1::1'],
    ['no address', 'lb.example.test'],
    ['no address', ''],
    ['no address', '8.8.8.8:80'],
    ['no address', '8.8.8.8/32'],
  ])('is not %s: %s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
