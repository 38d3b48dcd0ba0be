/** Which addresses a registry may have: kinds of addresses, and a list of exceptions in CIDR notation. */
import { BlockList, isIP } from 'node:net';

/**
 * - `public`: anywhere.
 * - `private`: an inner network (RFC 1918, RFC 6598, RFC 4193): a registry may well be there.
 * - `inner`: this machine, its link, the metadata service of a cloud, or no host at all: never a registry, unless an
 *   operator says so.
 */
export type AddressKind = 'public' | 'private' | 'inner';

/** IANA's special-purpose registries, and where clouds have their metadata service. */
const INNER: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  // Link-local; metadata of most clouds is 169.254.169.254.
  '169.254.0.0/16',
  // IETF protocol assignments; 192.0.0.192 is Oracle's metadata.
  '192.0.0.0/24',
  // Alibaba's metadata.
  '100.100.100.200/32',
  // Azure's host.
  '168.63.129.16/32',
  '192.0.2.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Unspecified, loopback and the old IPv4-compatible form of every IPv4 address.
  '::/96',
  // Discard-only, Teredo, documentation, 6to4: what is inside an address of these cannot be told apart.
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  // NAT64 with prefixes shorter than 96 bits; plainAddress takes the others.
  '64:ff9b:1::/48',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  // Metadata of AWS and of Google.
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
];

const PRIVATE: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
];

/** Names that only ever lead to such an address, for where somebody else resolves them (a proxy). */
const INNER_NAMES: ReadonlySet<string> = new Set([
  'localhost',
  // As the hosts files of distributions have it.
  'localhost.localdomain',
  'ip6-localhost',
  'ip6-loopback',
  // Of Google's and of Amazon's metadata service.
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'instance-data',
  // The machine that containers run on.
  'host.docker.internal',
  'gateway.docker.internal',
  'host.containers.internal',
]);

/** A set of addresses, each given as an address or in CIDR notation. */
export class AddressSet {
  readonly #list = new BlockList();

  /** @param entries each passes isAddressRange. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const { address, bits, family } = readRange(entry) ?? {};
      if (address !== undefined && bits !== undefined) this.#list.addSubnet(address, bits, family);
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
}

/** Whether the text is an address, or one and the number of its leading bits: `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return readRange(text) !== undefined;
}

export class AddressKinds {
  readonly #inner = new AddressSet(INNER);
  readonly #private = new AddressSet(PRIVATE);

  /** @param address as plainAddress makes it. */
  of(address: string): AddressKind {
    if (this.#inner.has(address)) return 'inner';
    return this.#private.has(address) ? 'private' : 'public';
  }
}

/**
 * Whether the name needs no look-up to be known as one of this machine or of a metadata service.
 * @param host in lower case, without final dot.
 */
export function isInnerName(host: string): boolean {
  return INNER_NAMES.has(host) || host.endsWith('.localhost');
}

/**
 * The address that is meant: without zone, and the IPv4 address where it is one in IPv6's clothes (mapped, RFC 4291;
 * translated, RFC 2765; or behind a NAT64, RFC 6052 and 8215).
 */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[|\]$|%.*$/g, '');
  if (isIP(bare) !== 6) return bare;
  const groups = groupsOf(bare);
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  const isMapped = isZero(0, 5) && groups[5] === 0xffff;
  const isTranslated = isZero(0, 4) && groups[4] === 0xffff && groups[5] === 0;
  const isNat64 = groups[0] === 0x64 && groups[1] === 0xff9b && (groups[2] === 0 || groups[2] === 1);
  // With a prefix of 96 bits. A shorter one has the IPv4 address further ahead, and which it is cannot be told.
  const isLast = isNat64 && isZero(4, 6);
  if (!isMapped && !isTranslated && !isLast) return bare;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight groups of an IPv6 address that is one. */
function groupsOf(address: string): readonly number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const spelled =
    dotted === null
      ? address
      : `${dotted[1] ?? ''}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}`;
  const [head = '', tail] = spelled.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}

function hexPair(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

function readRange(
  text: string,
): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const width = version === 6 ? 128 : 32;
  if (version === 0 || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const wanted = bits === undefined ? width : Number(bits);
  return wanted > width ? undefined : { address, bits: wanted, family: version === 6 ? 'ipv6' : 'ipv4' };
}
