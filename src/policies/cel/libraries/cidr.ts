/** The library of IP networks: `cidr`, `isCIDR` and what a network holds. */
import { BOOL, INT, STRING, opaque } from '../cel-type.ts';
import type { CallFacts, Library } from '../library.ts';
import { STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import { CelError, Opaque, type Value } from '../values.ts';
import { define, global, member, readingCost, unitCost } from './declare.ts';
import { goQuote } from './go-text.ts';
import { IP, IpValue, ipCost, ipOf } from './ip.ts';
import {
  type Address,
  AddressFault,
  type Prefix,
  formatPrefix,
  isMapped,
  maskAddress,
  parsePrefix,
  sameAddress,
} from './ip-address.ts';

const CIDR = opaque('net.CIDR');

export class CidrValue extends Opaque {
  override readonly typeName = 'net.CIDR';
  /** Bytes that the prefix touches. */
  override readonly size: number;
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
    this.size = Math.ceil(prefix.bits / 8);
  }

  override equals(other: Value): boolean | undefined {
    if (!(other instanceof CidrValue)) return undefined;
    return this.prefix.bits === other.prefix.bits && sameAddress(this.prefix.address, other.prefix.address);
  }

  override mapKey(): string {
    return formatPrefix(this.prefix);
  }

  override toString(): string {
    return formatPrefix(this.prefix);
  }
}

/** `cidr(text)`: host bits may be set. Kubernetes wraps the text of a fault twice, but for a mapped address. */
function cidrOf(text: string): CidrValue | CelError {
  const context = 'network address parse error during conversion from string: ';
  const prefix = parsePrefix(text);
  if (prefix instanceof AddressFault) return new CelError(`${context}${context}${prefix.message}`);
  if (isMapped(prefix.address)) {
    return new CelError(`${context}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  }
  return new CidrValue(prefix);
}

function holdsAddress({ address: base, bits }: Prefix, address: Address): boolean {
  return sameAddress(maskAddress(base, bits), maskAddress(address, bits));
}

function containsIp(cidr: CidrValue, ip: IpValue): Value {
  return holdsAddress(cidr.prefix, ip.address);
}

/** What is no address is `no such overload`: the reason is lost in Kubernetes too. */
function containsIpText(cidr: CidrValue, text: string): Value {
  const ip = ipOf(text);
  return ip instanceof CelError ? new CelError('no such overload') : containsIp(cidr, ip);
}

function containsCidr({ prefix }: CidrValue, other: CidrValue): Value {
  return prefix.bits <= other.prefix.bits && holdsAddress(prefix, other.prefix.address);
}

function containsCidrText(cidr: CidrValue, text: string): Value {
  const other = cidrOf(text);
  return other instanceof CelError ? other : containsCidr(cidr, other);
}

function masked({ prefix: { address, bits } }: CidrValue): Value {
  return new CidrValue({ address: maskAddress(address, bits), bits });
}

function part(facts: CallFacts, index: number, factor: number): number {
  return Math.ceil(actualSize(facts.args[index] ?? null) * factor * STRING_TRAVERSAL);
}

/** Twice the bytes of the network, and the text where one has to be read. */
function containsIpCost(facts: CallFacts): number {
  return part(facts, 0, 2) + (facts.overloadId === 'cidr_contains_ip_string' ? part(facts, 1, 1) : 0);
}

/** As for an address, and once more for masking. */
function containsCidrCost(facts: CallFacts): number {
  const text = facts.overloadId === 'cidr_contains_cidr_string' ? part(facts, 1, 1) : 0;
  return part(facts, 0, 2) + part(facts, 0, 1) + 1 + text;
}

export const cidrLibrary: Library = {
  name: 'kubernetes.net.cidr',
  since: 30,
  typeNames: { 'net.CIDR': CIDR },
  functions: [
    define('cidr', readingCost, [global('string_to_cidr', [STRING], CIDR, cidrOf)]),
    define('isCIDR', readingCost, [
      global('is_cidr', [STRING], BOOL, (text: string) => !(cidrOf(text) instanceof CelError)),
    ]),
    define('containsIP', containsIpCost, [
      member('cidr_contains_ip_string', [CIDR, STRING], BOOL, containsIpText),
      member('cidr_contains_ip_ip', [CIDR, IP], BOOL, containsIp),
    ]),
    define('containsCIDR', containsCidrCost, [
      member('cidr_contains_cidr_string', [CIDR, STRING], BOOL, containsCidrText),
      member('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCidr),
    ]),
    define('ip', ipCost, [
      member('cidr_ip', [CIDR], IP, (cidr: CidrValue) => new IpValue(cidr.prefix.address)),
    ]),
    define('prefixLength', unitCost, [
      member('cidr_prefix_length', [CIDR], INT, (cidr: CidrValue) => cidr.prefix.bits),
    ]),
    define('masked', unitCost, [member('cidr_masked', [CIDR], CIDR, masked)]),
    define('string', undefined, [global('cidr_to_string', [CIDR], STRING, String)]),
  ],
};
