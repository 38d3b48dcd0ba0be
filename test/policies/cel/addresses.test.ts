import { describe, expect, it } from 'vitest';

import { type CidrValue, cidrLibrary } from '../../../src/policies/cel/libraries/cidr.ts';
import { type IpValue, ipLibrary } from '../../../src/policies/cel/libraries/ip.ts';
import { CelError, type Value } from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, printed } from './support/overload.ts';

/** What Go 1.26 says of an address that it refuses, behind `ParseAddr("…"): `. */
const REFUSED: readonly (readonly [text: string, reason: string])[] = [
  ['01.2.3.4', 'IPv4 field has octet with leading zero'],
  ['1.2.3', 'IPv4 address too short'],
  ['1.2.3.4.5', 'IPv4 address too long'],
  ['256.1.1.1', 'IPv4 field has value >255'],
  ['1..2.3', 'IPv4 field must have at least one digit (at ".2.3")'],
  ['.1.2.3', 'IPv4 field must have at least one digit (at ".1.2.3")'],
  ['1.2.3.4/8', 'unexpected character (at "/8")'],
  ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
  ['1:2:3:4:5:6:7', 'address string too short'],
  ['::1::', 'multiple :: in address (at ":")'],
  ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  ['1:', 'colon must be followed by more characters (at ":")'],
  ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
  ['fe80::1%', 'zone must be a non-empty string'],
  ['%eth0', 'missing IPv6 address'],
  ['a', 'unable to parse IP'],
  [
    '1:2:3:4:5:1.2.3.4',
    'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
  ],
  [
    '::1:2:3:4:5:6:7:1.2.3.4',
    'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
  ],
  ['::é', 'each colon-separated field must have at least one digit (at "é")'],
];

function ip(text: string): Value {
  return callOverload(ipLibrary, 'string_to_ip', text);
}

function cidr(text: string): Value {
  return callOverload(cidrLibrary, 'string_to_cidr', text);
}

function message(value: Value): string {
  return value instanceof CelError ? value.message : `no error: ${JSON.stringify(value)}`;
}

describe('ip', () => {
  it.each(REFUSED)('refuses %j', (text, reason) => {
    expect(message(ip(text))).toBe(
      `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): ${reason}`,
    );
    expect(callOverload(ipLibrary, 'is_ip', text)).toBe(false);
  });

  it('refuses a zone and an IPv4 address in IPv6 clothes', () => {
    expect(message(ip('fe80::1%eth0'))).toBe('IP address "fe80::1%eth0" with zone value is not allowed');
    expect(message(ip('::ffff:1.2.3.4'))).toBe('IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed');
  });

  it.each([
    ['1.2.3.4', '1.2.3.4', true],
    ['2001:DB8::0001', '2001:db8::1', false],
    ['0:0:1:0:0:1:0:0', '::1:0:0:1:0:0', false],
    ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0', true],
    ['::1.2.3.4', '::102:304', false],
    ['1:2:3:4:5:6::', '1:2:3:4:5:6::', true],
  ])('prints %s as %s', (text, canonical, isCanonical) => {
    expect(printed(ip(text))).toBe(canonical);
    expect(callOverload(ipLibrary, 'ip_is_canonical', text)).toBe(isCanonical);
  });

  it.each([
    ['0.0.0.0', ['is_unspecified']],
    ['::', ['is_unspecified']],
    ['127.8.9.1', ['is_loopback']],
    ['::1', ['is_loopback']],
    ['224.0.0.9', ['is_link_local_multicast']],
    ['224.0.1.9', []],
    ['ff12::1', ['is_link_local_multicast']],
    ['169.254.0.1', ['is_link_local_unicast']],
    ['febf::1', ['is_link_local_unicast']],
    ['fec0::1', ['is_global_unicast']],
    ['10.0.0.1', ['is_global_unicast']],
    ['255.255.255.255', []],
  ])('knows what kind of address %s is', (text, kinds) => {
    const tests = ['unspecified', 'loopback', 'link_local_multicast', 'link_local_unicast', 'global_unicast'];
    const holding = tests
      .map((test) => `is_${test}`)
      .filter((test) => callOverload(ipLibrary, `ip_${test}`, ip(text)));
    expect(holding).toEqual(kinds);
  });

  it('is comparable with addresses alone', () => {
    const address = ip('1.2.3.4') as IpValue;
    expect(address.equals(ip('1.2.3.4'))).toBe(true);
    expect(address.equals(ip('::102:304'))).toBe(false);
    expect(address.equals('1.2.3.4')).toBeUndefined();
  });
});

describe('cidr', () => {
  it.each([
    ['10.0.0.0', "no '/'"],
    ['10.0.0.0/', 'bad bits after slash: ""'],
    ['10.0.0.0/08', 'bad bits after slash: "08"'],
    ['10.0.0.0/99999999999999999999', 'bad bits after slash: "99999999999999999999"'],
    ['10.0.0.0/33', 'prefix length out of range'],
    ['::1%e/64', 'IPv6 zones cannot be present in a prefix'],
    ['1.2.3/8', 'ParseAddr("1.2.3"): IPv4 address too short'],
  ])('refuses %j', (text, reason) => {
    const context = 'network address parse error during conversion from string: ';
    expect(message(cidr(text))).toBe(`${context}${context}netip.ParsePrefix("${text}"): ${reason}`);
  });

  it.each([
    ['10.1.2.3/16', '10.1.0.0/16'],
    ['2001:db8::1/33', '2001:db8::/33'],
    ['10.9.9.9/0', '0.0.0.0/0'],
    ['255.255.255.255/31', '255.255.255.254/31'],
  ])('masks %s to %s', (text, masked) => {
    expect(printed(callOverload(cidrLibrary, 'cidr_masked', cidr(text)))).toBe(masked);
  });

  it.each([
    ['10.1.2.3/16', '10.1.255.255', true],
    ['10.1.2.3/16', '10.2.0.0', false],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '::1', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
  ])('tells whether %s holds %s: %s', (network, address, holds) => {
    expect(callOverload(cidrLibrary, 'cidr_contains_ip_string', cidr(network), address)).toBe(holds);
    expect(callOverload(cidrLibrary, 'cidr_contains_ip_ip', cidr(network), ip(address))).toBe(holds);
  });

  it('holds smaller networks and itself, and no larger ones', () => {
    const contains = (a: string, b: string) =>
      callOverload(cidrLibrary, 'cidr_contains_cidr_string', cidr(a), b);
    expect(contains('10.0.0.0/8', '10.1.0.0/16')).toBe(true);
    expect(contains('10.1.0.0/16', '10.0.0.0/8')).toBe(false);
    expect(contains('10.9.0.0/8', '10.0.0.0/8')).toBe(true);
  });

  it('hides why an address cannot be read, and not why a network cannot', () => {
    expect(message(callOverload(cidrLibrary, 'cidr_contains_ip_string', cidr('::/0'), 'bad'))).toBe(
      'no such overload',
    );
    expect(message(callOverload(cidrLibrary, 'cidr_contains_cidr_string', cidr('::/0'), 'bad'))).toContain(
      'netip.ParsePrefix("bad")',
    );
  });

  it('costs by the bytes of the prefix, and of a text to read', () => {
    const network = cidr('2001:db8::/64') as CidrValue;
    const cost = (overloadId: string, other: Value) =>
      costOfOverload(cidrLibrary, { overloadId, args: [network, other], result: true });
    expect(cost('cidr_contains_ip_ip', ip('::1'))).toBe(2);
    expect(cost('cidr_contains_ip_string', '2001:db8::1')).toBe(4);
    expect(cost('cidr_contains_cidr', network)).toBe(4);
    expect(costOfOverload(cidrLibrary, { overloadId: 'cidr_ip', args: [network], result: null })).toBe(1);
  });
});
