/** The library of IP addresses: `ip`, `isIP`, `ip.isCanonical` and what an address tells of itself. */
import { BOOL, INT, STRING, opaque } from '../cel-type.ts';
import type { CallFacts, Library } from '../library.ts';
import { STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import { CelError, Opaque, type Value } from '../values.ts';
import { define, global, member, readingCost, unitCost } from './declare.ts';
import { goQuote } from './go-text.ts';
import {
  type Address,
  AddressFault,
  bitLength,
  formatAddress,
  isIpv4,
  isMapped,
  parseAddress,
  sameAddress,
} from './ip-address.ts';

export const IP = opaque('net.IP');

export class IpValue extends Opaque {
  override readonly typeName = 'net.IP';
  override readonly size: number;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
    this.size = bitLength(address) / 8;
  }

  override equals(other: Value): boolean | undefined {
    return other instanceof IpValue ? sameAddress(this.address, other.address) : undefined;
  }

  override mapKey(): string {
    return formatAddress(this.address);
  }

  override toString(): string {
    return formatAddress(this.address);
  }
}

/** An address as Kubernetes admits it: no zone, and none of IPv4 in the clothes of IPv6. */
function parseIp(text: string): Address | CelError {
  const address = parseAddress(text);
  const quoted = goQuote(text);
  if (address instanceof AddressFault) {
    return new CelError(`IP Address ${quoted} parse error during conversion from string: ${address.message}`);
  }
  if (address.zone !== '') return new CelError(`IP address ${quoted} with zone value is not allowed`);
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
  return address;
}

/** `ip(text)`. */
export function ipOf(text: string): IpValue | CelError {
  const address = parseIp(text);
  return address instanceof CelError ? address : new IpValue(address);
}

function isCanonical(text: string): Value {
  const address = parseIp(text);
  return address instanceof CelError ? address : formatAddress(address) === text;
}

/** Group by group; absent groups (of IPv4) count as zero. */
function group({ groups }: Address, index: number): number {
  return groups[index] ?? 0;
}

function isUnspecified(address: Address): boolean {
  return address.groups.every((part) => part === 0);
}

function isLoopback(address: Address): boolean {
  if (isIpv4(address)) return group(address, 0) >> 8 === 127;
  return address.groups.every((part, i) => part === (i === 7 ? 1 : 0));
}

function isMulticast(address: Address): boolean {
  return group(address, 0) >> (isIpv4(address) ? 12 : 8) === (isIpv4(address) ? 0xe : 0xff);
}

function isLinkLocalMulticast(address: Address): boolean {
  if (isIpv4(address)) return group(address, 0) === 0xe000 && group(address, 1) >> 8 === 0;
  return (group(address, 0) & 0xff0f) === 0xff02;
}

function isLinkLocalUnicast(address: Address): boolean {
  return isIpv4(address) ? group(address, 0) === 0xa9fe : (group(address, 0) & 0xffc0) === 0xfe80;
}

function isGlobalUnicast(address: Address): boolean {
  const isBroadcast = isIpv4(address) && address.groups.every((part) => part === 0xffff);
  return (
    !isBroadcast &&
    !isUnspecified(address) &&
    !isLoopback(address) &&
    !isMulticast(address) &&
    !isLinkLocalUnicast(address)
  );
}

/**
 * Of `ip`, which is also a member of a network (cidr.ts): there it only reads a field. Without a resolved overload
 * the argument is what counts.
 */
export function ipCost(facts: CallFacts): number {
  return facts.overloadId === 'cidr_ip' ? 1 : readingCost(facts);
}

/** Read, print and compare: twice the text. */
function canonicalCost({ args }: CallFacts): number {
  return Math.ceil(actualSize(args[0] ?? null) * 2 * STRING_TRAVERSAL);
}

function test(name: string, id: string, holds: (address: Address) => boolean) {
  return define(name, unitCost, [member(id, [IP], BOOL, (ip: IpValue) => holds(ip.address))]);
}

export const ipLibrary: Library = {
  name: 'kubernetes.net.ip',
  since: 30,
  typeNames: { 'net.IP': IP },
  functions: [
    define('ip', ipCost, [global('string_to_ip', [STRING], IP, ipOf)]),
    define('isIP', readingCost, [
      global('is_ip', [STRING], BOOL, (text: string) => !(parseIp(text) instanceof CelError)),
    ]),
    define('ip.isCanonical', canonicalCost, [global('ip_is_canonical', [STRING], BOOL, isCanonical)]),
    define('family', unitCost, [
      member('ip_family', [IP], INT, (ip: IpValue) => (isIpv4(ip.address) ? 4 : 6)),
    ]),
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    define('string', undefined, [global('ip_to_string', [IP], STRING, String)]),
  ],
};
