/**
 * IP addresses and networks as Go's `net/netip` (1.26) reads and prints them, with its error texts.
 * An address is its 16-bit groups: two of IPv4, eight of IPv6.
 */
import { bytesOfText, goQuote, textOfBytes } from './go-text.ts';

export interface Address {
  readonly groups: readonly number[];
  /** Empty: none. */
  readonly zone: string;
}

export interface Prefix {
  readonly address: Address;
  readonly bits: number;
}

/** What parsing gives where it fails: Go's text. */
export class AddressFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const IPV4_GROUPS = 2;
const IPV6_GROUPS = 8;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

export function isIpv4(address: Address): boolean {
  return address.groups.length === IPV4_GROUPS;
}

export function bitLength(address: Address): number {
  return isIpv4(address) ? IPV4_BITS : IPV6_BITS;
}

/** `::ffff:a.b.c.d`, an IPv6 address that stands for one of IPv4. */
export function isMapped({ groups }: Address): boolean {
  return groups.length === IPV6_GROUPS && groups[5] === 0xffff && groups.slice(0, 5).every((g) => g === 0);
}

/** `netip.ParseAddr`. */
export function parseAddress(text: string): Address | AddressFault {
  const input = bytesOfText(text);
  const mark = /[.:%]/.exec(input)?.[0];
  if (mark === '.') {
    const groups = parseIpv4Groups(input, input);
    return groups instanceof AddressFault ? groups : { groups, zone: '' };
  }
  if (mark === ':') return parseIpv6(input);
  return fault(input, mark === undefined ? 'unable to parse IP' : 'missing IPv6 address');
}

/** @param at what was not read yet, where Go tells it. */
function fault(input: string, reason: string, at = ''): AddressFault {
  const where = at === '' ? '' : ` (at ${goQuote(textOfBytes(at))})`;
  return new AddressFault(`ParseAddr(${goQuote(textOfBytes(input))}): ${reason}${where}`);
}

function parseIpv4Groups(input: string, dotted: string): number[] | AddressFault {
  const octets: number[] = [];
  let octet = 0;
  let digits = 0;
  for (let i = 0; i < dotted.length; i++) {
    const character = dotted.charCodeAt(i);
    if (character >= 0x30 && character <= 0x39) {
      if (digits === 1 && octet === 0) return fault(input, 'IPv4 field has octet with leading zero');
      octet = octet * 10 + character - 0x30;
      digits++;
      if (octet > 255) return fault(input, 'IPv4 field has value >255');
    } else if (character === 0x2e) {
      if (digits === 0 || i === dotted.length - 1) {
        return fault(input, 'IPv4 field must have at least one digit', dotted.slice(i));
      }
      if (octets.length === 3) return fault(input, 'IPv4 address too long');
      octets.push(octet);
      octet = 0;
      digits = 0;
    } else return fault(input, 'unexpected character', dotted.slice(i));
  }
  const [a, b, c] = octets;
  if (a === undefined || b === undefined || c === undefined) return fault(input, 'IPv4 address too short');
  return [(a << 8) | b, (c << 8) | octet];
}

function parseIpv6(input: string): Address | AddressFault {
  const percent = input.indexOf('%');
  const zone = percent < 0 ? '' : input.slice(percent + 1);
  if (percent >= 0 && zone === '') return fault(input, 'zone must be a non-empty string');
  const reader = new Ipv6Reader(input, percent < 0 ? input : input.slice(0, percent));
  const groups = reader.read();
  return groups instanceof AddressFault ? groups : { groups, zone: textOfBytes(zone) };
}

class Ipv6Reader {
  readonly #input: string;
  #rest: string;
  readonly #groups: number[] = [];
  /** How many groups stand before `::`; -1: there is none. */
  #gap = -1;

  constructor(input: string, text: string) {
    this.#input = input;
    this.#rest = text;
  }

  read(): number[] | AddressFault {
    if (this.#rest.startsWith('::')) {
      this.#gap = 0;
      this.#rest = this.#rest.slice(2);
      if (this.#rest === '') return Array.from({ length: IPV6_GROUPS }, () => 0);
    }
    while (this.#groups.length < IPV6_GROUPS) {
      const more = this.#readGroup();
      if (more instanceof AddressFault) return more;
      if (!more) break;
    }
    if (this.#rest !== '') return this.#fault('trailing garbage after address');
    return this.#filled();
  }

  #fault(reason: string): AddressFault {
    return fault(this.#input, reason, this.#rest);
  }

  /** Reads a group and the colons behind it. @returns whether another one must follow. */
  #readGroup(): boolean | AddressFault {
    const digits = /^[0-9a-fA-F]*/.exec(this.#rest)?.[0].length ?? 0;
    if (digits > 4) return this.#fault('each group must have 4 or less digits');
    if (digits === 0) return this.#fault('each colon-separated field must have at least one digit');
    if (this.#rest[digits] === '.') return this.#readIpv4();
    this.#groups.push(Number.parseInt(this.#rest.slice(0, digits), 16));
    this.#rest = this.#rest.slice(digits);
    if (this.#rest === '') return false;
    if (!this.#rest.startsWith(':')) return this.#fault('unexpected character, want colon');
    if (this.#rest.length === 1) return this.#fault('colon must be followed by more characters');
    this.#rest = this.#rest.slice(1);
    if (!this.#rest.startsWith(':')) return true;
    if (this.#gap >= 0) return this.#fault('multiple :: in address');
    this.#gap = this.#groups.length;
    this.#rest = this.#rest.slice(1);
    return this.#rest !== '';
  }

  /** The last two groups in dotted form. */
  #readIpv4(): boolean | AddressFault {
    if (this.#gap < 0 && this.#groups.length !== IPV6_GROUPS - IPV4_GROUPS) {
      return this.#fault('embedded IPv4 address must replace the final 2 fields of the address');
    }
    if (this.#groups.length > IPV6_GROUPS - IPV4_GROUPS) {
      return this.#fault('too many hex fields to fit an embedded IPv4 at the end of the address');
    }
    const groups = parseIpv4Groups(this.#input, this.#rest);
    if (groups instanceof AddressFault) return groups;
    this.#groups.push(...groups);
    this.#rest = '';
    return false;
  }

  #filled(): number[] | AddressFault {
    const missing = IPV6_GROUPS - this.#groups.length;
    if (missing === 0) {
      if (this.#gap < 0) return this.#groups;
      return fault(this.#input, 'the :: must expand to at least one field of zeros');
    }
    if (this.#gap < 0) return fault(this.#input, 'address string too short');
    const zeros = Array.from({ length: missing }, () => 0);
    return [...this.#groups.slice(0, this.#gap), ...zeros, ...this.#groups.slice(this.#gap)];
  }
}

/** The one canonical text: RFC 5952, the first of the longest runs of at least two zero groups is `::`. */
export function formatAddress(address: Address): string {
  const { groups } = address;
  if (isIpv4(address))
    return groups.map((group) => `${String(group >> 8)}.${String(group & 0xff)}`).join('.');
  let start = -1;
  let length = 1;
  for (let i = 0; i < IPV6_GROUPS; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) {
      start = i;
      length = end - i;
    }
  }
  const hexadecimal = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (start < 0) return hexadecimal(groups);
  return `${hexadecimal(groups.slice(0, start))}::${hexadecimal(groups.slice(start + length))}`;
}

/** `netip.ParsePrefix`. */
export function parsePrefix(text: string): Prefix | AddressFault {
  const prefixFault = (reason: string) => new AddressFault(`netip.ParsePrefix(${goQuote(text)}): ${reason}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) return prefixFault("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (address instanceof AddressFault) return prefixFault(address.message);
  if (address.zone !== '') return prefixFault('IPv6 zones cannot be present in a prefix');
  const bitsText = text.slice(slash + 1);
  // What does not fit an int64 is no number at all in Go, and has this text too.
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(bitsText) || BigInt(bitsText) >= 2n ** 63n) {
    return prefixFault(`bad bits after slash: ${goQuote(bitsText)}`);
  }
  const bits = Number(bitsText);
  if (bits > bitLength(address)) return prefixFault('prefix length out of range');
  return { address, bits };
}

export function formatPrefix({ address, bits }: Prefix): string {
  return `${formatAddress(address)}/${String(bits)}`;
}

/** The address with all but its first bits set to zero. */
export function maskAddress(address: Address, bits: number): Address {
  const groups = address.groups.map((group, i) => {
    const kept = Math.min(Math.max(bits - 16 * i, 0), 16);
    return group & (0xffff << (16 - kept)) & 0xffff;
  });
  return { groups, zone: '' };
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.groups.length === b.groups.length && a.groups.every((group, i) => group === b.groups[i]);
}
