/** Addresses in one form: kernels write the IPv4 address of a socket that takes both families as an IPv6 one. */
import { isIP, SocketAddress } from 'node:net';

/** IPv4 within IPv6 (RFC 4291 §2.5.5.2), and behind a translator (RFC 6052 §2.1). */
const EMBEDDED = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/;

/** @returns the address as RFC 5952 writes it, an embedded IPv4 one as IPv4; undefined for what is no address. */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : undefined;
  // A zone is of the node that wrote it.
  const bare = text.replace(/%.*$/s, '');
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return EMBEDDED.exec(translated(address))?.[1] ?? address;
}

/** What `64:ff9b::a00:1` stands for in dots. */
function translated(address: string): string {
  const [, high, low] = /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/.exec(address) ?? [];
  if (low === undefined) return address;
  const bytes = [Number.parseInt(high ?? '0', 16), Number.parseInt(low, 16)].flatMap((word) => [
    word >> 8,
    word & 0xff,
  ]);
  return `64:ff9b::${bytes.join('.')}`;
}
