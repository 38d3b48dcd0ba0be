/** Which addresses are reachable from everywhere (operator.md §5.3). */
import { BlockList, isIPv4 } from 'node:net';
import { canonicalAddress } from './ip-address.ts';

/** Special-purpose address registries of IANA: none of these is routed on the Internet. Documentation ranges stand for what is. */
const INNER: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

/** @returns false also for what is no address. */
export function isPublicAddress(text: string): boolean {
  const address = canonicalAddress(text);
  if (address === undefined) return false;
  const inner = new BlockList();
  for (const [network, prefix] of INNER)
    inner.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');
  return !inner.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
